/**
 * The disk refuses writes to files derived from the store, the files of the index and of the vectors, for an
 * unlimited time, or hangs. Writes are still accepted, searches stay correct in the process and after a kill,
 * and the refused files are stored automatically when space is available.
 */
import assert from 'node:assert/strict'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { embeddingEnv, whenEmbedded } from '../../harness/embedding/embedding_client.js'
import { EmbeddingServer, embedText } from '../../harness/embedding/embedding_server.js'
import { untilAsked } from '../../harness/process/until.js'
import { type Server, startServer } from '../../harness/server/server.js'
import { type Fault, FaultControl } from '../shim/fault_control.js'
import { vectorLines, whenLoaded } from './vectors_run.js'

const COLLECTION = 'refused'
const ENDLESS = { error: 'ENOSPC', at: 1, lasts: true } as const
const INDEX = join('gen-000001', 'index', 'segments.mdb')
const VECTORS = join('gen-000001', 'vectors')
/**
 * Calls that write the index env in the first start of a directory. The last of them are of a commit that may
 * still be under way when the server listens.
 */
const WRITES_OF_FIRST_START = 3
const COUNTED_ONLY = { error: 'ENOSPC', at: 1_000_000, lasts: false, kind: 'write', manner: 'clean', only: 'segments.mdb' } as const

/** With FILLER more than the 4 MB of text after which the index is stored. */
const DOCUMENTS = 1200
const BATCH = 300
const FILLER = Array.from({ length: 800 }, (_, at) => `filler${at % 97}`).join(' ')
/** Every this many documents one is searched for. */
const SAMPLE = 100

/** Enough for a graph. */
const EMBEDDED = 2500
const DIMENSIONS = 64

interface Scratch {
  readonly directory: string
  readonly control: FaultControl
}

async function withFaults(run: (scratch: Scratch) => Promise<void>): Promise<void> {
  const scratch = mkdtempSync(join(tmpdir(), 'mds-refused-'))
  const control = new FaultControl(join(scratch, 'control'))
  // The shim watches this directory from its start, so it must exist.
  const directory = join(scratch, 'db')
  mkdirSync(directory)
  try {
    await run({ directory, control })
  } finally {
    control.close()
    rmSync(scratch, { recursive: true, force: true })
  }
}

/** Ends the server that it started, even on failure. */
async function serving(start: () => Promise<Server>, run: (server: Server) => Promise<void>): Promise<void> {
  const server = await start()
  try {
    await run(server)
  } finally {
    await server.kill()
  }
}

/**
 * Starts a server on an empty directory. Resolves once the first commit of its index is done: if a fault
 * began within it, its meta page would be refused, and then the process ends (decision 0192).
 */
async function startWithIndex({ directory, control }: Scratch): Promise<Server> {
  control.arm(COUNTED_ONLY)
  const server = await startServer({ directory, env: control.environment(directory) })
  await untilAsked(() => Promise.resolve(control.state().calls), (calls) => calls >= WRITES_OF_FIRST_START) // prettier-ignore
  return server
}

/** In several batches: on a busy machine one would exceed the deadline of a write. */
async function addBatch(server: Server, contentOf: (at: number) => string, begin: number, end: number): Promise<void> {
  for (let first = begin; first < end; first += BATCH) {
    const documents = Array.from({ length: Math.min(BATCH, end - first) }, (_, at) => ({
      key: `k${first + at}`,
      lang: 'en',
      contentMd: contentOf(first + at),
    }))
    const answer = await server.post('/v1/add-batch', { collection: COLLECTION, documents })
    assert.equal(answer.status, 200, answer.text)
  }
}

async function warnings(server: Server): Promise<readonly string[]> {
  const health = await server.get('/v1/health')
  assert.equal(health.status, 200, health.text)
  return health.json<{ persistence: { warnings: { code: string }[] } }>().persistence.warnings.map(({ code }) => code)
}

const isUnstored = (codes: readonly string[]): boolean => codes.includes('index_not_stored')
const areUnstored = (codes: readonly string[]): boolean => codes.includes('vectors_not_stored')

/** The file name extensions of the vector files. */
async function endingsIn(directory: string): Promise<string> {
  const names = existsSync(join(directory, VECTORS)) ? readdirSync(join(directory, VECTORS)) : []
  return names.map((name) => name.replace(/^.*\./, '')).sort().join(' ') // prettier-ignore
}

describe('the disk refuses the index', () => {
  const wordOf = (at: number, version: number): string => `word${at}version${version}`
  const write = (server: Server, version: number, begin = 0, end = DOCUMENTS): Promise<void> =>
    addBatch(server, (at) => `${wordOf(at, version)} ${FILLER}`, begin, end)

  async function keysOf(server: Server, query: string): Promise<readonly string[]> {
    const answer = await server.post('/v1/fts', { collection: COLLECTION, query, mode: 'simple', limit: 10 })
    assert.equal(answer.status, 200, answer.text)
    return answer.json<{ results: { document: { key: string } }[] }>().results.map(({ document }) => document.key)
  }

  /**
   * Checks that each document is found by the word of its version and by no other; `undefined` means deleted.
   */
  async function assertRight(server: Server, versionOf: (at: number) => number | undefined): Promise<void> {
    for (let at = 0; at < DOCUMENTS; at += SAMPLE) {
      for (const version of [1, 2]) {
        assert.deepEqual(await keysOf(server, wordOf(at, version)), versionOf(at) === version ? [`k${at}`] : [], wordOf(at, version))
      }
    }
  }

  const cases: readonly Fault[] = [
    { ...ENDLESS, kind: 'write', manner: 'torn', only: 'segments.mdb' },
    { ...ENDLESS, kind: 'flush', manner: 'clean', only: 'segments.mdb' },
  ]
  for (const fault of cases) {
    it(`index on a full disk: where each ${fault.kind} is refused health warns of index_not_stored, searches are right, and the warning goes by itself`, async () => {
      await withFaults(async (scratch) => {
        const { directory, control } = scratch
        const bytes = (): number => statSync(join(directory, INDEX)).size
        const present = (at: number): number | undefined => (at === SAMPLE ? undefined : at < DOCUMENTS / 2 ? 2 : 1)
        await serving(
          () => startWithIndex(scratch),
          async (server) => {
            assert.ok(!isUnstored(await warnings(server)))
            const before = bytes()
            control.arm(fault)
            await write(server, 1)
            await untilAsked(() => warnings(server), isUnstored)
            assert.ok(control.state().hits > 0)
            await write(server, 2, 0, DOCUMENTS / 2)
            const deleted = await server.post('/v1/delete', { collection: COLLECTION, key: `k${SAMPLE}`, lang: 'en' })
            assert.equal(deleted.status, 200, deleted.text)
            await assertRight(server, present)
            assert.ok(isUnstored(await warnings(server)), 'it lasts as long as the refusal')
            // Between two attempts: each gives back the space that it used.
            await untilAsked(async () => bytes(), (now) => now === before) // prettier-ignore
            control.disarm()
            await untilAsked(() => warnings(server), (codes) => !isUnstored(codes)) // prettier-ignore
            assert.ok(bytes() > before)
            await assertRight(server, present)
          },
        )
        await serving(
          () => startServer({ directory }),
          (server) => assertRight(server, present),
        )
      })
    })
  }

  it('index on a full disk: a kill while it is refused loses nothing, nor does a start that is refused it as well', async () => {
    await withFaults(async (scratch) => {
      const { directory, control } = scratch
      const env = control.environment(directory)
      await serving(
        () => startWithIndex(scratch),
        async (server) => {
          control.arm({ ...ENDLESS, kind: 'write', manner: 'torn', only: 'segments.mdb' })
          await write(server, 1)
          await untilAsked(() => warnings(server), isUnstored)
        },
      )
      await serving(
        () => startServer({ directory, env }),
        async (server) => {
          await assertRight(server, () => 1)
          await write(server, 2)
          await untilAsked(() => warnings(server), isUnstored)
          await assertRight(server, () => 2)
          control.disarm()
          await untilAsked(() => warnings(server), (codes) => !isUnstored(codes)) // prettier-ignore
          assert.equal(await server.stop(), 0, server.output())
        },
      )
      await serving(
        () => startServer({ directory }),
        (server) => assertRight(server, () => 2),
      )
    })
  })

  it('index on a disk that does not answer: everything else is answered, health warns of it, and the process ends, whose next start finds all', async () => {
    await withFaults(async (scratch) => {
      const { directory, control } = scratch
      await serving(
        () => startWithIndex(scratch),
        async (server) => {
          control.arm({ kind: 'flush', at: 1, error: 'EIO', manner: 'hang', lasts: false, only: 'segments.mdb' })
          await write(server, 1)
          await untilAsked(() => Promise.resolve(control.state().hits), (hits) => hits > 0) // prettier-ignore
          for (const path of ['/v1/stats', '/metrics', '/v1/health']) assert.equal((await server.get(path)).status, 200, path)
          await assertRight(server, () => 1)
          await untilAsked(() => warnings(server), isUnstored)
          await write(server, 2, 0, 1)
          assert.deepEqual(await keysOf(server, wordOf(0, 2)), ['k0'])
          await server.ended
          assert.match(server.output(), /fatal: .*this process can write its index no more/)
        },
      )
      await serving(
        () => startServer({ directory }),
        (server) => assertRight(server, (at) => (at === 0 ? 2 : 1)),
      )
    })
  })
})

describe('the disk refuses the files of the vectors', () => {
  const environmentOf = (provider: EmbeddingServer): Record<string, string> =>
    embeddingEnv(provider, { SVC_EMBEDDING_DIMENSIONS: String(DIMENSIONS), SVC_EMBEDDING_QUEUE_SIZE: '100000' })
  const contentOf = (at: number): string => `document${at} word${at % 50} other${(at * 31) % 997}`

  async function addAll(server: Server): Promise<void> {
    for (let begin = 0; begin < EMBEDDED; begin += 500) await addBatch(server, contentOf, begin, begin + 500)
  }

  async function assertRight(server: Server): Promise<void> {
    await whenLoaded(server)
    await whenEmbedded(server, { [COLLECTION]: EMBEDDED })
    for (let at = 0; at < EMBEDDED; at += SAMPLE) {
      const queryVector = [...embedText(contentOf(at), DIMENSIONS)]
      const answer = await server.post('/v1/vector-search', {
        collection: COLLECTION,
        queryVector,
        topK: 1,
        threshold: -1,
        algorithm: 'flat',
      })
      assert.equal(answer.status, 200, answer.text)
      const [nearest] = answer.json<{ results: { document: { key: string } }[] }>().results
      assert.equal(nearest?.document.key, `k${at}`)
    }
  }

  it('vectors on a full disk: where each write of their files is refused searches are right, also after a kill, and the files come by themselves', async (test) => {
    const provider = await EmbeddingServer.start()
    test.after(() => provider.stop())
    await withFaults(async ({ directory, control }) => {
      const embedding = environmentOf(provider)
      const env = { ...embedding, ...control.environment(directory) }
      const endings = (): Promise<string> => endingsIn(directory)
      const refuse = (): void => control.arm({ ...ENDLESS, kind: 'write', manner: 'torn', only: `${VECTORS}/` })
      await serving(
        () => startServer({ directory, env }),
        async (server) => {
          refuse()
          await addAll(server)
          await assertRight(server)
          await untilAsked(async () => control.state(), ({ hits }) => hits > 0) // prettier-ignore
          await untilAsked(endings, (names) => names === 'EPOCH')
          await assertRight(server)
        },
      )
      // The kill begins another epoch, whose mark is refused, too.
      await serving(
        () => startServer({ directory, env }),
        async (server) => {
          assert.match(vectorLines(server).join('\n'), /EPOCH: nothing is stored until the disk takes it/)
          await assertRight(server)
          refuse()
          await untilAsked(async () => control.state(), ({ hits }) => hits > 0) // prettier-ignore
          await untilAsked(endings, (names) => names === 'EPOCH')
          control.disarm()
          await untilAsked(endings, (names) => names === 'EPOCH graph rows', 60_000)
          await assertRight(server)
          assert.equal(await server.stop(), 0, server.output())
        },
      )
      await serving(
        () => startServer({ directory, env: embedding }),
        async (server) => {
          assert.deepEqual(vectorLines(server), [], 'of sound files nothing is said')
          await assertRight(server)
        },
      )
    })
  })

  it('vectors on a full disk: a folder that is refused to a start is made once the disk takes it, and health warns of vectors_not_stored until then', async (test) => {
    const provider = await EmbeddingServer.start()
    test.after(() => provider.stop())
    await withFaults(async ({ directory, control }) => {
      const embedding = environmentOf(provider)
      control.arm({ ...ENDLESS, kind: 'name', manner: 'clean', only: VECTORS })
      await serving(
        () => startServer({ directory, env: { ...embedding, ...control.environment(directory) } }),
        async (server) => {
          await untilAsked(() => warnings(server), areUnstored)
          await addAll(server)
          await assertRight(server)
          assert.ok(areUnstored(await warnings(server)), 'it lasts as long as the refusal')
          assert.ok(!existsSync(join(directory, VECTORS)))
          control.disarm()
          await untilAsked(() => warnings(server), (codes) => !areUnstored(codes)) // prettier-ignore
          await untilAsked(
            () => endingsIn(directory),
            (names) => names === 'EPOCH graph rows',
            60_000,
          )
          await assertRight(server)
        },
      )
      await serving(
        () => startServer({ directory, env: embedding }),
        async (server) => {
          assert.deepEqual(vectorLines(server), [], 'of sound files nothing is said')
          await assertRight(server)
        },
      )
    })
  })
})
