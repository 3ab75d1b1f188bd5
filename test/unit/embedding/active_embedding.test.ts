/** Selection of the active provider, against a real embedding server and lanes that the test simulates. */
import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, it } from 'node:test'
import { ANONYMOUS } from '../../../src/access/principal.js'
import { ActiveEmbedding } from '../../../src/background/embedding/provider.js'
import { type Config, loadConfig } from '../../../src/config/config.js'
import type { Dispatcher } from '../../../src/dispatch/dispatcher.js'
import type { Io } from '../../../src/dispatch/io.js'
import { Notices } from '../../../src/dispatch/notices.js'
import { OWN } from '../../../src/dispatch/surface.js'
import type { DispatchRequest } from '../../../src/dispatch/ticket.js'
import type { ErrorCode } from '../../../src/errors.js'
import type { AnyOperation } from '../../../src/operations/row/operation.js'
import { EmbeddingError } from '../../../src/outbound/embedding/provider.js'
import { Telemetry } from '../../../src/telemetry/registry.js'
import type { OutgoingAnswer } from '../../../src/wire/answer.js'
import { choreTools } from '../../harness/chore_tools.js'
import { EmbeddingServer } from '../../harness/embedding/embedding_server.js'

const never = new AbortController().signal

function answer(code: ErrorCode | null, value: unknown): OutgoingAnswer {
  return { code, contentType: null, facts: [], isCompressed: false, body: JSON.stringify(value) }
}

/** A lane with preset answers, which records what the front end has registered for. */
class PlayedLanes {
  stored: OutgoingAnswer = answer(null, {})
  readonly io = new Map<string, Io>()
  readonly admission = { admitOwn: (operation: AnyOperation) => ({ operation }) }
  readonly notices = new Notices()

  onIo(operation: AnyOperation, io: Io): void {
    this.io.set(operation.name, io)
  }

  submit({ admitted, sink }: DispatchRequest): null {
    assert.equal(admitted.operation.name, 'activeEmbeddingConfig')
    setImmediate(() => sink.answer(this.stored))
    return null
  }
}

describe('the active embedding provider', () => {
  let server: EmbeddingServer
  let lanes: PlayedLanes
  let telemetry: Telemetry
  const made: ActiveEmbedding[] = []

  before(async () => {
    server = await EmbeddingServer.start()
  })
  beforeEach(() => {
    lanes = new PlayedLanes()
    telemetry = Telemetry.create([])
    telemetry.claimRow()
  })
  after(async () => {
    await Promise.all(made.map((each) => each.stop()))
    await server.stop()
  })

  function configured(env: NodeJS.ProcessEnv = {}): Config {
    return loadConfig([], {
      SVC_EMBEDDING_PROVIDER: 'ollama',
      SVC_EMBEDDING_API_URL: server.url('ollama'),
      SVC_EMBEDDING_DIMENSIONS: '8',
      SVC_EMBEDDING_MODEL: 'm',
      ...env,
    })
  }

  function active(config: Config): ActiveEmbedding {
    const embedding = new ActiveEmbedding(config, lanes as unknown as Dispatcher, telemetry, choreTools())
    made.push(embedding)
    return embedding
  }

  const stored = { id: 'one', provider: 'openai', model: 'n', dimensions: 8, apiKey: 'k', apiUrl: '' }

  it('active embedding: that of the options, without further permission for its host; its requests are counted', async () => {
    const embedding = active(configured())
    assert.equal(embedding.current(), undefined)
    await embedding.load()
    assert.equal(embedding.current()?.variant, 'ollama/m/8/r1')
    assert.equal((await embedding.current()?.embed(['a text'], 'query', never))?.length, 8)
    server.fail({ status: 401 })
    await assert.rejects(embedding.current()?.embed(['a text'], 'query', never) ?? Promise.resolve(), EmbeddingError)
    const { counters, gauges, embeddingSeconds } = telemetry.read()
    assert.deepEqual([counters.embedding_requests, counters.embedding_requests_failed, counters.embedding_requests_refused], [2, 1, 0])
    assert.deepEqual([gauges.embedding_provider_configured, gauges.embedding_circuit_open, embeddingSeconds.count], [1, 1, 2])
  })

  it('active embedding: a change of the stored configurations is in force before it is answered; listeners are notified, and the previous provider is closed', async () => {
    const embedding = active(configured())
    await embedding.load()
    const before = embedding.current()
    const heard: (string | undefined)[] = []
    embedding.onChange(() => heard.push(embedding.current()?.variant))
    const change = lanes.io.get('setDefaultEmbeddingConfig')
    assert.ok(change !== undefined)
    const commit = (): Promise<OutgoingAnswer> => {
      lanes.stored = answer(null, { settings: { ...stored, apiUrl: server.url('openai') } })
      return Promise.resolve(answer(null, { message: 'done' }))
    }
    const tools = { commit, principal: ANONYMOUS, clientAddress: () => '', noteAttemptedName: () => undefined, surface: OWN }
    assert.equal((await change(new Uint8Array(), tools)).code, null)
    assert.deepEqual(heard, ['openai/n/8/r1'])
    assert.equal((await embedding.current()?.embed(['a'], 'document', never))?.length, 8)
    await assert.rejects(before?.embed(['a'], 'document', never) ?? Promise.resolve(), /it is closed/)
    // An unchanged configuration changes nothing.
    await embedding.load()
    assert.equal(heard.length, 1)
    lanes.stored = answer(null, {})
    lanes.notices.emit(['store'])
    await embedding.load()
    assert.deepEqual(heard, ['openai/n/8/r1', 'ollama/m/8/r1'])
  })

  it('active embedding: a change that no request of this server has made is in force once it is noticed', async () => {
    const embedding = active(configured())
    await embedding.load()
    for (const [topic, model] of [
      ['setting/embedding', 'of a replay'],
      ['setting/embedding-key', 'with another key'],
    ] as const) {
      const changed = new Promise<void>((resolve) => embedding.onChange(resolve))
      lanes.stored = answer(null, { settings: { ...stored, model, apiUrl: server.url('openai') } })
      lanes.notices.emit([topic])
      await changed
      assert.equal(embedding.current()?.variant, `openai/${model}/8/r1`)
    }
  })

  it('active embedding: an address of a stored configuration is guarded, but for the one that the operator named', async () => {
    const other = await EmbeddingServer.start()
    lanes.stored = answer(null, { settings: { ...stored, apiUrl: other.url('openai') } })
    const embedding = active(configured())
    await embedding.load()
    await assert.rejects(embedding.current()?.embed(['a'], 'document', never) ?? Promise.resolve(), /not a public one/)
    assert.equal(other.requests.length, 0)
    await other.stop()
  })

  it('active embedding: what can not be read for good is no provider, instead of another one; what no lane had time for is asked again', async () => {
    const embedding = active(configured())
    lanes.stored = answer('internal', { error: 'damaged' })
    await embedding.load()
    assert.equal(embedding.current(), undefined)
    const ready = new Promise<void>((resolve) => embedding.onChange(resolve))
    lanes.stored = answer('overloaded', { error: 'busy' })
    await embedding.load()
    assert.equal(embedding.current(), undefined)
    lanes.stored = answer(null, {})
    await ready
    assert.equal(embedding.current()?.name, 'ollama')
  })

  it('active embedding: none where none is configured, or where its key is missing', async () => {
    const none = active(loadConfig([], { SVC_EMBEDDING_PROVIDER: 'none' }))
    await none.autoDetect()
    await none.load()
    assert.deepEqual([none.current(), none.describe().provider], [undefined, 'none'])
    lanes.stored = answer(null, { settings: { ...stored, apiKey: '', apiUrl: 'https://api.openai.com/v1' } })
    await none.load()
    assert.deepEqual([none.current(), none.describe().provider, none.describe().enabled], [undefined, 'openai', false])
    assert.equal(telemetry.read().gauges.embedding_provider_configured, 0)
  })
})
