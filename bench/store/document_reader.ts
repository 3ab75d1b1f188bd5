/**
 * Question: what does reading documents from the store cost, by the native reader and by the rows in
 * TypeScript? Both read the same store on one thread, in turns: single documents by key, uniform over all, 32
 * of which share a view; the same keys by names, as an event loop asks, with little space and without a view,
 * also with the question whether each page is in memory; pages of ten by number, not cached. Processor time
 * of the process, garbage collection included; medians of ROUNDS rounds. Corpus: md50k. Run: npm run
 * bench -- document-reader [DOCUMENTS]. Aim: get 9.5 us, page 66 us, and less than the rows. Last result:
 * bench/README.md.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import type { DocumentSource } from '../../src/base/document_source.js'
import { openDocuments } from '../../src/engine/document_reader.js'
import { TRUTH_MAP_BYTES, TRUTH_READERS_MAX } from '../../src/limits/store.js'
import { openDataDirectory, TRUTH_FILE } from '../../src/store/files/layout.js'
import { ByteWriter } from '../../src/store/rows/byte_writer.js'
import { emptyKeyring } from '../../src/store/sealing/keyring.js'
import { TruthStore } from '../../src/store/truth_store.js'
import { ServerProcess } from '../../test/harness/server/server_process.js'
import { readLines, sharedPath } from '../data/corpora.js'
import { fill } from '../data/fulltext_client.js'
import { Connection } from '../measure/connection.js'
import { randomSource } from '../measure/random_source.js'
import { Report } from '../measure/report.js'
import { median } from '../measure/statistics.js'

const COLLECTION = 'md50k'
const ROUNDS = 5
const GETS = 40_000
const PAGES = 4_000
const SHARED = 32
const PAGE = 10
const SEED = 20_261
/** Space of a get by names: larger documents are not read. */
const SPACE_BYTES = 64 << 10
/** The cache takes no document, so that every read goes to the store. */
const CACHE_BYTES = 1

const lines = await readLines(sharedPath('corpora/md/md50k.ndjson.gz'), Number(process.argv[2] ?? Number.POSITIVE_INFINITY))
const keys = lines.map((line) => (JSON.parse(line) as { readonly key: string }).key)
const random = randomSource(SEED)
const below = (bound: number): number => Math.floor(random() * bound)
const scratch = mkdtempSync(path.join(tmpdir(), 'mds-bench-reader-'))
const report = new Report()

function microseconds(run: () => void, count: number): number {
  const before = process.cpuUsage()
  run()
  const { user, system } = process.cpuUsage(before)
  return (user + system) / count
}

try {
  const directory = path.join(scratch, 'db')
  const server = await ServerProcess.start(directory)
  const connection = await Connection.open(server.port)
  await fill(connection, COLLECTION, lines)
  connection.close()
  await server.stop()
  const { generationPath } = openDataDirectory(directory)
  const openSource = (file: string): DocumentSource => openDocuments(file, { mapBytes: TRUTH_MAP_BYTES, readersMin: TRUTH_READERS_MAX })
  const truthFile = path.join(generationPath, TRUTH_FILE)
  const stores = [
    { what: 'native', store: new TruthStore(generationPath, CACHE_BYTES, emptyKeyring(), undefined, false, openSource) },
    { what: 'rows', store: new TruthStore(generationPath, CACHE_BYTES) },
  ] as const
  const collection = stores[0].store.read((view) => view.collection(COLLECTION))?.id ?? 0
  const out = new ByteWriter()
  let bytes = 0
  const get = (store: TruthStore, wanted: readonly string[]): void => {
    for (let at = 0; at < wanted.length; at += SHARED)
      store.read((view) => {
        for (const key of wanted.slice(at, at + SHARED)) {
          const facts = view.appendSpelled(collection, key, 'en', out.begin())
          const head = facts === undefined ? view.find(collection, key, 'en') : undefined
          if (head !== undefined) view.writeDocument(head, out.begin(), true)
          bytes += out.length
        }
      })
  }
  const space = Buffer.alloc(SPACE_BYTES)
  let [named, elsewhere, faults] = [0, 0, 0]
  const getByNames = (source: DocumentSource, wanted: readonly string[], asksResidency: boolean): void => {
    const now = Date.now() / 1000
    for (const key of wanted) {
      if (source.get(`${COLLECTION}\0${key}\0en`, now, space, asksResidency) > 0) named++
      else elsewhere++
    }
  }
  const page = (store: TruthStore, pages: readonly (readonly { readonly docid: number }[])[]): void => {
    for (const wanted of pages)
      store.read((view) => {
        view.expect(collection, wanted)
        for (const { docid } of wanted) bytes += view.document(collection, docid)?.json.length ?? 0
      })
  }
  const source = openSource(truthFile)
  const results = new Map<string, number[]>()
  const note = (round: number, kind: string, us: number): void => {
    // The first round warms up.
    if (round > 0) results.set(kind, [...(results.get(kind) ?? []), us])
  }
  for (let round = 0; round <= ROUNDS; round++) {
    const gets = Array.from({ length: GETS }, () => keys[below(keys.length)] as string)
    const pages = Array.from({ length: PAGES }, () => Array.from({ length: PAGE }, () => ({ docid: 1 + below(keys.length) })))
    for (const { what, store } of stores) {
      note(
        round,
        `get, ${what}`,
        microseconds(() => get(store, gets), GETS),
      )
      note(
        round,
        `page of ten, ${what}`,
        microseconds(() => page(store, pages), PAGES),
      )
    }
    for (const asksResidency of [false, true])
      note(
        round,
        asksResidency ? 'get by names, asking residency, native' : 'get by names, native',
        microseconds(() => getByNames(source, gets, asksResidency), GETS),
      )
    note(
      round,
      'count of major faults, native',
      microseconds(() => {
        for (let count = 0; count < GETS; count++) faults = source.majorFaults()
      }, GETS),
    )
  }
  const medianOf = (kind: string): number => median(results.get(kind) ?? [])
  for (const kind of ['get', 'get by names', 'get by names, asking residency', 'page of ten']) {
    const [nativeUs, rowsUs] = [medianOf(`${kind}, native`), medianOf(kind.startsWith('get') ? 'get, rows' : `${kind}, rows`)]
    report.add({ what: kind, nativeUs, rowsUs, ratio: nativeUs / rowsUs })
  }
  report.add({ what: 'count of major faults', nativeUs: medianOf('count of major faults, native') })
  source.close()
  console.log(JSON.stringify({ named, elsewhere, faults }))
  report.table(['what', 'nativeUs', 'rowsUs', 'ratio'])
  console.log(JSON.stringify({ meanBytes: Math.round(bytes / ((ROUNDS + 1) * 2 * (GETS + PAGES * PAGE))) }))
  for (const { store } of stores) await store.close()
} finally {
  rmSync(scratch, { recursive: true, force: true })
}
