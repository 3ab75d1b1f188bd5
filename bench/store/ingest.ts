/**
 * Question: what does `/v1/ingest` cost beside `/v1/add-batch` of the same documents, in documents a second:
 * plain, with frontmatter taken out, and with everything a duplicate? 500 documents a request, one
 * connection, rounds interleaved, each into a collection of its own; medians of five.
 * Peer: add-batch. Run: npm run bench -- ingest [DOCUMENTS]. Aim: 0.95. Last result: bench/README.md.
 */
import { startServer } from '../../test/harness/server/server.js'
import { readDocuments, sharedPath } from '../data/corpora.js'
import { Report } from '../measure/report.js'
import { median } from '../measure/statistics.js'

const DOCUMENTS = Number(process.argv[2] ?? 10_000)
const BATCH = 500
const ROUNDS = 5

interface Variant {
  readonly what: string
  readonly path: string
  readonly options?: object
  /** Made of a document of the corpus. */
  readonly item: (document: { readonly key: string; readonly lang: string; readonly contentMd: string; readonly meta?: unknown }) => object
  /** Into the collection that add-batch has filled in this round. */
  readonly isAgain?: true
}

const FRONTMATTER = '---\ntitle: A title\ntags: [a, b]\n---\n'
const VARIANTS: readonly Variant[] = [
  { what: 'add-batch', path: '/v1/add-batch', item: (document) => document },
  { what: 'ingest', path: '/v1/ingest', item: (document) => document },
  {
    what: 'ingest, frontmatter',
    path: '/v1/ingest',
    item: (document) => ({ ...document, contentMd: FRONTMATTER + document.contentMd, extractFrontmatter: true }),
  },
  { what: 'ingest, all duplicates', path: '/v1/ingest', options: { skipDuplicates: true }, item: (document) => document, isAgain: true },
]

const documents = await readDocuments(sharedPath('corpora/md/md50k.ndjson.gz'), DOCUMENTS)
const rates = new Map(VARIANTS.map(({ what }): [string, number[]] => [what, []]))
const server = await startServer({ supervisor: true })
try {
  for (let round = 0; round <= ROUNDS; round++) {
    // The order turns, because each meets the merges of the one before. The last one needs add-batch.
    const [again, ...others] = [...VARIANTS].reverse() as [Variant, ...Variant[]]
    for (const { what, path, options, item, isAgain } of [...others.slice(round % 3), ...others.slice(0, round % 3), again]) {
      const collection = isAgain === true ? `add-batch ${round}` : `${what} ${round}`
      const bodies: string[] = []
      for (let at = 0; at < documents.length; at += BATCH)
        bodies.push(JSON.stringify({ collection, documents: documents.slice(at, at + BATCH).map(item), options }))
      const begin = performance.now()
      for (const body of bodies) {
        const answer = await server.post(path, body)
        if (answer.status !== 200) throw new Error(`${what}: ${answer.status} ${answer.text.slice(0, 300)}`)
      }
      // The first round warms up.
      if (round > 0) rates.get(what)!.push((documents.length / (performance.now() - begin)) * 1000)
    }
    for (const { what } of VARIANTS) await server.post('/v1/delete-collection', { collection: `${what} ${round}` })
  }
} finally {
  await server.stop()
}
const report = new Report()
const base = median(rates.get('add-batch')!)
for (const [what, found] of rates) report.add({ what, perSecond: median(found), ratio: median(found) / base })
report.table(['what', 'perSecond', 'ratio'])
