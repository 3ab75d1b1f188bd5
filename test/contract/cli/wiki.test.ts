/**
 * `mds import` of dumps of wikis against the real server, in separate processes: documents, metadata, options
 * and counters; and imports that are killed and continued.
 */
import assert from 'node:assert/strict'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { gzipSync } from 'node:zlib'
import { projectFolder } from '../../../src/base/installation.js'
import { spawn } from '../../harness/process/owned_processes.js'
import { untilHolds } from '../../harness/process/until.js'
import type { Server } from '../../harness/server/server.js'
import { startServer } from '../../harness/server/server.js'
import { sharedPath } from '../../harness/shared_folder.js'
import { DUMP_BEGIN, dumpXml, pageOf, pageXml } from '../../harness/wiki_dumps.js'

interface Run {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

interface Stored {
  readonly status: number
  readonly contentMd: string
  readonly meta: Record<string, string[]>
}

let server: Server
let folder: string

function start(args: readonly string[]): { readonly child: ReturnType<typeof spawn>; readonly ended: Promise<Run> } {
  const env = { ...process.env, MDS_URL: server.url, XDG_STATE_HOME: join(folder, 'state') }
  const child = spawn(process.execPath, [join(projectFolder(), 'bin', 'mds.mjs'), ...args], { env, stdio: ['ignore', 'pipe', 'pipe'] })
  const output = { stdout: '', stderr: '' }
  for (const stream of ['stdout', 'stderr'] as const)
    child[stream]?.setEncoding('utf8').on('data', (text: string) => (output[stream] += text))
  return { child, ended: new Promise((resolve) => child.on('close', (code) => resolve({ code, ...output }))) }
}

const mds = (...args: readonly string[]): Promise<Run> => start(args).ended

async function read(collection: string, key: string, lang = 'en'): Promise<Stored> {
  const response = await server.post('/v1/get', { collection, key, lang })
  return { status: response.status, ...response.json<Omit<Stored, 'status'>>() }
}

async function total(collection: string): Promise<number> {
  const response = await server.post('/v1/search', { collection, limit: 1 })
  return Number(response.headers['x-total-count'])
}

function makeFile(name: string, content: string | Buffer): string {
  const path = join(folder, name)
  writeFileSync(path, content)
  return path
}

before(async () => {
  folder = mkdtempSync(join(tmpdir(), 'mds-wiki-'))
  server = await startServer()
})
after(async () => {
  await server.stop()
  rmSync(folder, { recursive: true })
})

const PAGES = [
  pageOf('AC/DC (Band)', "'''AC/DC''' is a [[band|rock band]].{{t}}", {
    id: 11,
    revisions: [{ id: 12, ip: '192.0.2.7', text: "'''AC/DC''' is a [[band|rock band]].{{t}}" }],
  }),
  pageOf('Talk:AC/DC', 'talk', { ns: 1 }),
  pageOf('ACDC', '#REDIRECT [[AC/DC (Band)]]', { redirect: 'AC/DC (Band)' }),
  pageOf('Nothing', '{{only|a|template}}'),
  pageOf('Second', 'One more.'),
]

describe('mds import of a dump of a wiki', () => {
  it('mds import of a wiki: imports pages as markdown with all the metadata of the page, and says what was skipped', async () => {
    const run = await mds('import', makeFile('wiki.xml', dumpXml(PAGES)), '-c', 'wiki', '--lang', 'de')
    assert.equal(run.code, 0, run.stderr)
    assert.match(run.stdout, /^3 added, 0 updated, 0 failed in .*\n2 of 5 pages skipped: 1 of other namespaces, 0 redirects, 1 empty\n$/)
    const { contentMd, meta } = await read('wiki', 'ac-dc-band', 'de')
    assert.equal(contentMd, '**AC/DC** is a rock band.')
    assert.deepEqual(meta, {
      source: ['wikipedia'],
      wiki_id: ['11'],
      wiki_title: ['AC/DC (Band)'],
      wiki_ns: ['0'],
      wiki_rev_id: ['12'],
      wiki_timestamp: ['2020-01-01T00:00:00Z'],
      wiki_contributor: ['192.0.2.7'],
    })
    const redirect = await read('wiki', 'acdc', 'de')
    assert.deepEqual([redirect.contentMd, redirect.meta['wiki_redirect']], ['REDIRECT AC/DC (Band)', ['AC/DC (Band)']])
    assert.equal((await read('wiki', 'second', 'de')).status, 200)
  })

  it('mds import of a wiki: takes other namespaces, leaves redirects out and ends early when asked to', async () => {
    const dump = makeFile('options.xml', dumpXml(PAGES))
    const both = await mds('import', dump, '-c', 'both', '--namespaces', '0,1', '--skip-redirects')
    assert.match(both.stdout, /^3 added, .*\n2 of 5 pages skipped: 0 of other namespaces, 1 redirects, 1 empty\n$/)
    assert.equal((await read('both', 'talk:ac-dc')).contentMd, 'talk')
    const first = await mds('import', dump, '-c', 'first', '--max-pages', '1')
    assert.match(first.stdout, /^1 added, .*\n0 of 1 pages skipped/)
    for (const wrong of [
      ['--namespaces', '0,x'],
      ['--namespaces', ''],
      ['--max-pages', '-1'],
    ]) {
      const refused = await mds('import', dump, '-c', 'refused', ...wrong)
      assert.equal(refused.code, 1)
      assert.match(refused.stderr, /^error: /)
    }
  })

  it('mds import of a wiki: knows a dump by its content, compressed or not, and says where one is broken, behind what was imported', async () => {
    const compressed = await mds('import', makeFile('dump', gzipSync(Buffer.from(dumpXml(PAGES), 'utf16le'))), '-c', 'gz')
    assert.match(compressed.stdout, /^3 added/)
    const broken = makeFile('broken.xml', `${DUMP_BEGIN}${pageXml(PAGES[4] ?? assert.fail())}<page></title>`)
    const run = await mds('import', broken, '-c', 'broken')
    assert.equal(run.code, 1)
    assert.match(run.stderr, /^mds import: .*broken\.xml, behind page 1: unexpected close tag\. \(line 26, column 15\)$/m)
    assert.equal((await read('broken', 'second')).status, 200)
    const other = await mds('import', makeFile('other.xml', '<html/>'), '-c', 'broken')
    assert.match(other.stderr, /the root is <html>, not <mediawiki>/)
  })

  it('mds import of a wiki: of two titles with one key keeps the later page, and names titles without a key', async () => {
    const run = await mds(
      'import',
      makeFile('keys.xml', dumpXml([pageOf('A b', 'one'), pageOf('A/b', 'two'), pageOf('...', 'three')])),
      '-c',
      'keys',
    )
    assert.equal(run.code, 1)
    assert.match(run.stdout, /^1 added, 1 updated, 1 failed/)
    assert.match(run.stderr, /not imported:\n {2}\.\.\.: its title gives an empty key/)
    assert.equal((await read('keys', 'a-b')).contentMd, 'two')
  })

  const samples = sharedPath('corpora/wiki')
  it(
    'mds import of a wiki: imports the sample dumps, one of which is UTF-16',
    { skip: existsSync(samples) ? false : `SKIPPED, no corpus at ${samples}` },
    async () => {
      for (const name of ['bgwiki-latest-pages-articles-shortened', 'enwiki-table-markup', 'testcorpus']) {
        const run = await mds('import', join(samples, `${name}.xml.bz2`), '-c', name, '--namespaces', '0,1,2,3,4,10,14')
        assert.equal(run.code, 0, run.stderr)
      }
      const [page] = (await server.post('/v1/search', { collection: 'bgwiki-latest-pages-articles-shortened', limit: 1 })).json<Stored[]>()
      assert.match(page?.contentMd ?? '', /[а-я]{5}/)
    },
  )
})

describe('an import of a dump that is killed', () => {
  it('mds import of a wiki: continues behind what was acknowledged: all pages are there, none twice', async () => {
    const pages = Array.from({ length: 4000 }, (_, index) =>
      pageOf(`Page ${index}`, index % 5 === 0 ? '{{empty}}' : `Text of page ${index}. `.repeat(50), { id: index + 1 }),
    )
    const dump = makeFile('long.xml.gz', gzipSync(dumpXml(pages)))
    const args = ['import', dump, '-c', 'killed', '--batch', '50', '--concurrency', '1']
    const states = join(folder, 'state', 'mds')
    let kills = 0
    for (let run = 0; run < 3; run++) {
      const before = noted(states)
      const { child, ended } = start(args)
      await untilHolds(
        () => noted(states) >= before + 400,
        () => 'eight batches that are noted',
      )
      child.kill('SIGKILL')
      if ((await ended).code === null) kills++
    }
    assert.ok(kills > 0)
    const last = await mds(...args)
    assert.equal(last.code, 0, last.stderr)
    assert.match(last.stderr, /^continuing behind page \d+: \d+ imported, /)
    assert.match(
      last.stdout,
      /^\d+ added, \d+ updated, (?:\d+ unchanged, )?0 failed in .*\n800 of 4000 pages skipped: 0 of other namespaces, 0 redirects, 800 empty\n$/,
    )
    // A batch that was sent and not noted is read again, one for each kill: its documents are unchanged.
    const [added = 0, updated = 0] = [...last.stdout.matchAll(/\d+/g)].map(Number)
    assert.ok(added + updated <= 3200 + kills * 50, last.stdout)
    assert.equal(await total('killed'), 3200)
  })

  /** Imported pages, as the state of the import says. */
  function noted(states: string): number {
    const files = existsSync(states) ? readdirSync(states).filter((name) => name.endsWith('.json')) : []
    const texts = files.map((name) => readFileSync(join(states, name), 'utf8'))
    const state = texts.find((text) => text.includes('long.xml.gz'))
    return Number(/(\d+) imported/.exec(state ?? '')?.[1] ?? 0)
  }
})
