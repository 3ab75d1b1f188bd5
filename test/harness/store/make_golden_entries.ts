/**
 * Makes the golden data directory (test/golden/entries). A server is filled with every kind of entry,
 * requests are sent and their answers recorded, and the server is killed, so that the next start replays. Run
 * once a format, by the version that introduces it: `node dist/test/harness/store/make_golden_entries.js`.
 * Later versions must read its files and must not replace them.
 */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openEnvironment } from '../../../src/store/environment.js'
import { currentGeneration } from '../../../src/store/files/layout.js'
import { View } from '../../../src/store/view.js'
import { EmbeddingServer } from '../embedding/embedding_server.js'
import { type Server, startServer } from '../server/server.js'
import { answersOf, GOLDEN_ENTRIES, goldenEntriesEnv, goldenEntriesKeyring, plainEntry, untilEmbedded } from './golden_entries.js'

type Request = readonly [method: string, path: string, body: Readonly<Record<string, unknown>>]

const text = (number: number, round: number): string =>
  `# Otter ${number}\n\nThe otter number ${number} swims for the ${round}th time.\n${'It eats fish and sleeps in the bank of the river. '.repeat(8)}`

function documents(collection: string, round: number, more: Readonly<Record<string, unknown>> = {}): Request[] {
  return Array.from({ length: 6 }, (_, number): Request => {
    const meta = { number: [String(number)], kind: [number % 2 === 0 ? 'even' : 'odd'] }
    return ['POST', '/v1/add', { collection, key: `doc-${number}`, lang: 'en', meta, contentMd: text(number, round), ...more }]
  })
}

const configure = (collection: string, fields: Readonly<Record<string, unknown>>): Request => [
  'PUT',
  '/v1/collection-config',
  { collection, ...fields },
]

const REQUESTS: readonly Request[] = [
  configure('sealed', { encrypted: true, description: 'a sealed collection' }),
  configure('limited', { maxRevisions: 3 }),
  ...[1, 2, 3, 4].flatMap((round) => ['Plain', 'sealed', 'limited'].flatMap((collection) => documents(collection, round))),
  ['POST', '/v1/add', { collection: 'Plain', key: 'DOC-1', lang: 'en', contentMd: 'spelled otherwise' }],
  ['POST', '/v1/add', { collection: 'gone', key: 'doc', lang: 'en', contentMd: 'of a collection that is deleted' }],
  configure('gone', { encrypted: true }),
  ['POST', '/v1/add', { collection: 'gone', key: 'doc', lang: 'en', contentMd: 'sealed, and its key is gone' }],
  ['POST', '/v1/delete-collection', { collection: 'gone' }],
  ['POST', '/v1/set-ttl', { collection: 'Plain', key: 'doc-2', lang: 'en', ttl: 3_000_000_000 }],
  ['POST', '/v1/set-ttl', { collection: 'sealed', key: 'doc-2', lang: 'en', ttl: 3_000_000_000 }],
  ['POST', '/v1/delete', { collection: 'Plain', key: 'doc-5', lang: 'en' }],
  ['POST', '/v1/delete', { collection: 'sealed', key: 'doc-5', lang: 'en' }],
  ['POST', '/v1/truncate', { collection: 'Plain', keepRevs: 2 }],
  ['POST', '/v1/synonyms', { collection: 'Plain', term: 'lutra', synonyms: ['otter'] }],
  ['POST', '/v1/synonyms', { collection: 'sealed', term: 'lutra', synonyms: ['otter'] }],
  ['POST', '/v1/stopwords', { collection: 'Plain', words: ['eats'] }],
  ['POST', '/v1/schema/set', { collection: 'limited', schema: { properties: { kind: { type: 'string' } } } }],
  ['POST', '/v1/bulk-ingest-job', { collection: 'ingested', documents: [{ key: 'one', lang: 'en', contentMd: 'an ingested otter' }] }],
  configure('moved', { storageBackend: 'memory' }),
  ...documents('moved', 1, { saveRevision: false }),
  configure('moved', { storageBackend: 'boltdb' }),
]

async function fill(server: Server): Promise<void> {
  for (const [method, path, body] of REQUESTS) {
    const answer = await server.request(method, path, body)
    assert.ok(answer.status < 300, `${path} ${JSON.stringify(body).slice(0, 80)}: ${answer.status} ${answer.text}`)
  }
  const rotated = await server.post('/v1/encryption/rotate', { collection: 'sealed' })
  assert.equal(rotated.status, 200, rotated.text)
  await untilEmbedded(server)
}

const folder = mkdtempSync(join(tmpdir(), 'mds-golden-'))
const directory = join(folder, 'data')
const provider = await EmbeddingServer.start()
const server = await startServer({ directory, env: goldenEntriesEnv(provider) })
try {
  await fill(server)
  // Waits until the background work (packing, rotation, moves) is done.
  for (let quiet = 0, last = ''; quiet < 40;) {
    const { text: present } = await server.get('/v1/encryption/jobs')
    const metrics = (await server.get('/metrics')).text.match(/^mddb_(revisions_packed|bodies_moved|commits)\S* .*$/gm)?.join() ?? ''
    quiet = last === present + metrics ? quiet + 1 : 0
    last = present + metrics
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
  const answers = await answersOf(server)
  await server.kill()
  const environment = openEnvironment(currentGeneration(directory), goldenEntriesKeyring())
  const view = new View(environment, 0)
  const entries = view.binlog.entriesAfter(0n, 10_000).map(plainEntry)
  await environment.root.close()
  const kinds = new Set(entries.map(({ kind }) => String(kind)))
  console.log(`${entries.length} entries of ${kinds.size} kinds: ${[...kinds].join(', ')}`)
  writeFileSync(join(GOLDEN_ENTRIES, 'answers.json'), `${JSON.stringify(answers, null, 1)}\n`)
  writeFileSync(join(GOLDEN_ENTRIES, 'entries.json'), `${JSON.stringify(entries)}\n`)
  const packed = spawnSync('tar', [
    '-C',
    folder,
    '--sparse',
    '--exclude=RESERVE',
    '--exclude=*-lock',
    '-czf',
    join(GOLDEN_ENTRIES, 'directory.tar.gz'),
    'data',
  ])
  assert.equal(packed.status, 0, String(packed.stderr))
} finally {
  await server.kill()
  await provider.stop()
  rmSync(folder, { recursive: true, force: true })
}
