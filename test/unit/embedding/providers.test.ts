/**
 * Providers against a real HTTP server that speaks their protocols and fails in every way that a provider
 * can.
 */
import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, it } from 'node:test'
import { EMBEDDING_REQUESTS_AT_ONCE } from '../../../src/limits/embedding.js'
import type { AllowedDestination } from '../../../src/outbound/allowlist.js'
import { parseAllowed } from '../../../src/outbound/allowlist.js'
import { Breaker, EMBEDDING_FAILURES_IN_ROW_MAX, EMBEDDING_PAUSE_MS_FIRST } from '../../../src/outbound/embedding/breaker.js'
import type { ProviderName } from '../../../src/outbound/embedding/models.js'
import { detectOllama } from '../../../src/outbound/embedding/ollama.js'
import { EmbeddingError, type EmbeddingProvider } from '../../../src/outbound/embedding/provider.js'
import { embeddingPolicy, makeProvider } from '../../../src/outbound/embedding/providers.js'
import { Outbound } from '../../../src/outbound/safe_fetch.js'
import { type EmbeddingFault, EmbeddingServer, embedText } from '../../harness/embedding/embedding_server.js'

type Remote = Exclude<ProviderName, 'local'>

const REMOTE: readonly Remote[] = ['openai', 'voyage', 'cohere', 'ollama']
const KEY = 'key-that-must-not-be-seen'
const TEXTS = ['one fish', 'two fish', 'red fish']
/** Short enough for tests, long enough for a loaded machine. */
const TIMES = { attemptMsMax: 400, waitMsFirst: 10 }
const never = new AbortController().signal

describe('embedding providers', () => {
  let server: EmbeddingServer
  const open: EmbeddingProvider[] = []
  const outcomes: string[] = []
  const states: string[] = []

  before(async () => {
    server = await EmbeddingServer.start()
  })
  beforeEach(async () => {
    await Promise.all(open.splice(0).map((each) => each.close()))
    await server.stop()
    server = await EmbeddingServer.start()
    outcomes.length = 0
    states.length = 0
  })
  after(async () => {
    await Promise.all(open.map((each) => each.close()))
    await server.stop()
  })

  function outbound(): Outbound {
    return new Outbound({ allowed: [parseAllowed(`127.0.0.1:${server.port}`) as AllowedDestination], allowPrivate: false })
  }

  function provider(
    name: Remote,
    over: { readonly model?: string; readonly dimensions?: number; readonly apiUrl?: string } = {},
  ): EmbeddingProvider {
    const settings = { provider: name, model: 'a-model', dimensions: 8, apiKey: KEY, apiUrl: server.url(name), ...over }
    const observer = {
      onRequest: (outcome: string) => void outcomes.push(outcome),
      onBreaker: (state: string) => void states.push(state),
    }
    const made = makeProvider(settings, { outbound: outbound(), observer, times: TIMES })
    open.push(made)
    return made
  }

  function expected(texts: readonly string[], dimensions = 8): number[] {
    return texts.flatMap((text) => [...embedText(text, dimensions)])
  }

  async function failureOf(call: Promise<unknown>): Promise<EmbeddingError> {
    const begin = performance.now()
    const error = await call.then(
      () => assert.fail('it did not fail'),
      (reason: unknown) => reason,
    )
    assert.ok(error instanceof EmbeddingError, String(error))
    assert.ok(performance.now() - begin < 10_000)
    for (const text of [error.message, error.stack ?? '', JSON.stringify(error)]) {
      assert.ok(!text.includes(KEY), text)
      assert.ok(!text.includes('fish') && !text.includes('secret of the provider'), text)
    }
    return error
  }

  it('each protocol: vectors come back in the order of the texts, whatever the order of the answer', async () => {
    for (const name of REMOTE) {
      assert.deepEqual([...(await provider(name).embed(TEXTS, 'document', never))], expected(TEXTS), name)
    }
    server.fail('shuffled', 'shuffled')
    assert.deepEqual([...(await provider('openai').embed(TEXTS, 'document', never))], expected(TEXTS))
    assert.deepEqual([...(await provider('voyage').embed(TEXTS, 'document', never))], expected(TEXTS))
  })

  it('the key is sent as a bearer token, and only where there is one', async () => {
    await provider('voyage').embed(['a'], 'document', never)
    assert.equal(server.requests[0]?.headers.authorization, `Bearer ${KEY}`)
    const keyless = makeProvider(
      { provider: 'ollama', model: 'm', dimensions: 8, apiKey: '', apiUrl: server.url('ollama') },
      { outbound: outbound(), observer: { onRequest: () => undefined, onBreaker: () => undefined } },
    )
    open.push(keyless)
    await keyless.embed(['a'], 'document', never)
    assert.equal(server.requests[1]?.headers.authorization, undefined)
  })

  it('a query and a document are embedded for their roles: by the parameter of the protocol, or by what the model wants in front', async () => {
    for (const role of ['document', 'query'] as const) {
      await provider('voyage').embed(['a'], role, never)
      await provider('cohere').embed(['a'], role, never)
      await provider('ollama', { model: 'nomic-embed-text' }).embed(['a'], role, never)
      await provider('ollama', { model: 'owner/MXBAI-embed-large:latest' }).embed(['a'], role, never)
      await provider('openai').embed(['a'], role, never)
    }
    const { requests } = server
    assert.deepEqual([requests[0]?.body.input_type, requests[5]?.body.input_type], ['document', 'query'])
    assert.deepEqual([requests[1]?.body.input_type, requests[6]?.body.input_type], ['search_document', 'search_query'])
    assert.deepEqual([requests[2]?.texts, requests[7]?.texts], [['search_document: a'], ['search_query: a']])
    assert.deepEqual([requests[3]?.texts, requests[8]?.texts], [['a'], ['Represent this sentence for searching relevant passages: a']])
    assert.deepEqual([requests[4]?.texts, requests[9]?.texts], [['a'], ['a']])
  })

  it('other dimensions than the model has are asked for only where it can give them', async () => {
    await provider('openai', { model: 'text-embedding-3-small', dimensions: 16 }).embed(['a'], 'document', never)
    await provider('voyage', { model: 'voyage-3.5', dimensions: 16 }).embed(['a'], 'document', never)
    await provider('cohere', { model: 'embed-v4.0', dimensions: 16 }).embed(['a'], 'document', never)
    await provider('openai', { model: 'text-embedding-ada-002' }).embed(['a'], 'document', never)
    server.dimensions = 1536
    await provider('openai', { model: 'text-embedding-3-small', dimensions: 1536 }).embed(['a'], 'document', never)
    assert.deepEqual(
      server.requests.map(({ body }) => body.dimensions ?? body.output_dimension),
      [16, 16, 16, undefined, undefined],
    )
  })

  it('many texts go in requests within the bounds of the provider, and come back as one', async () => {
    const texts = Array.from({ length: 300 }, (_, n) => `text ${n}`)
    assert.deepEqual([...(await provider('cohere').embed(texts, 'document', never))], expected(texts))
    assert.deepEqual(
      server.requests.map((request) => request.texts.length),
      [96, 96, 96, 12],
    )
    const long = Array.from({ length: 5 }, (_, n) => `${n} ${'x'.repeat(49_990)}`)
    await provider('voyage').embed(long, 'document', never)
    assert.deepEqual(
      server.requests.slice(4).map((request) => request.texts.length),
      [2, 2, 1],
    )
  })

  it('a text that is too long is cut between characters: at once, and again where the provider refuses it', async () => {
    server.refuses = ({ texts }) => texts.some((text) => Buffer.byteLength(text) > 8_191)
    const text = `fish ${'ä'.repeat(20_000)}`
    const vectors = await provider('openai').embed([text, 'one'], 'document', never)
    const sent = server.requests.at(-1)?.texts ?? []
    assert.equal(Buffer.byteLength(server.requests[0]?.texts[0] ?? ''), 23_999)
    assert.equal(Buffer.byteLength(sent[0] ?? ''), 7_999)
    assert.ok(text.startsWith(sent[0] ?? '-') && sent[1] === 'one')
    assert.deepEqual([...vectors], expected(sent))
  })

  it('a server that refuses base64 is asked for numbers from then on', async () => {
    server.refuses = ({ body }) => body.encoding_format === 'base64'
    const asked = provider('openai')
    await asked.embed(TEXTS, 'document', never)
    assert.deepEqual([...(await asked.embed(TEXTS, 'document', never))], expected(TEXTS))
    assert.deepEqual(
      server.requests.map(({ body }) => body.encoding_format),
      ['base64', 'float', 'float'],
    )
  })

  const passing: readonly EmbeddingFault[] = [
    { status: 500 },
    { status: 503, headers: { 'retry-after': '0' } },
    { status: 429 },
    { status: 429, headers: { 'retry-after-ms': '20' } },
    'hang',
    'close',
    'closeInBody',
    'truncated',
    'notJson',
    'wrongDimensions',
    'nan',
    'infinite',
    'tooLarge',
    'null',
    'text',
    'fewer',
    'more',
    'huge',
  ]
  for (const fault of passing) {
    it(`passing: ${JSON.stringify(fault)} is tried again, and is the end of the call the third time`, async () => {
      for (const name of REMOTE) {
        const asked = provider(name)
        server.fail(fault, fault)
        assert.deepEqual([...(await asked.embed(TEXTS, 'document', never))], expected(TEXTS), name)
        assert.equal(server.requests.splice(0).length, 3, name)
      }
      const asked = provider('ollama')
      server.fail(fault, fault, fault)
      const isAnswer = outcomes[0] === 'refused'
      const error = await failureOf(asked.embed(TEXTS, 'document', never))
      assert.equal(error.kind, isAnswer ? 'refused' : 'unavailable')
      assert.match(error.message, /^embedding provider ollama: /)
      // Where an answer came, a harmless text has shown that the failure is due to these texts.
      assert.deepEqual(server.requests.map(({ texts }) => texts.length), isAnswer ? [3, 3, 3, 1] : [3, 3, 3]) // prettier-ignore
      assert.deepEqual([...(await asked.embed(TEXTS, 'document', never))], expected(TEXTS))
    })
  }

  it('an index that is there twice is no answer', async () => {
    server.fail('twice', 'twice', 'twice')
    const error = await failureOf(provider('openai').embed(TEXTS, 'document', never))
    assert.equal(error.kind, 'refused')
    assert.match(error.message, /index/)
  })

  it('Retry-After: a short one is waited for, a long one ends the call and keeps further ones from being sent', async () => {
    const asked = provider('openai')
    server.fail({ status: 429, headers: { 'retry-after': '1' } })
    const begin = performance.now()
    await asked.embed(TEXTS, 'document', never)
    assert.ok(performance.now() - begin >= 990)
    server.fail({ status: 429, headers: { 'retry-after': new Date(Date.now() + 120_000).toUTCString() } })
    const first = await failureOf(asked.embed(TEXTS, 'document', never))
    assert.equal(first.kind, 'unavailable')
    assert.ok((first.retryAfterMs ?? 0) > 100_000 && (first.retryAfterMs ?? 0) <= 121_000)
    const sent = server.requests.length
    const second = await failureOf(asked.embed(TEXTS, 'query', never))
    assert.ok(second.kind === 'unavailable' && (second.retryAfterMs ?? 0) > 100_000)
    assert.equal(server.requests.length, sent)
    assert.deepEqual(states, ['open'])
  })

  it('refused: texts that a provider refuses are distinguished from a configuration that it refuses', async () => {
    const asked = provider('cohere')
    server.refuses = ({ texts }) => texts.includes('one fish')
    const ofTexts = await failureOf(asked.embed(TEXTS, 'document', never))
    assert.deepEqual([ofTexts.kind, ofTexts.message], ['refused', 'embedding provider cohere: HTTP 400'])
    assert.deepEqual([...(await asked.embed(['two fish'], 'document', never))], expected(['two fish']))
    server.refuses = () => true
    const ofAll = await failureOf(asked.embed(TEXTS, 'document', never))
    assert.equal(ofAll.kind, 'unavailable')
    assert.match(ofAll.message, /is the configuration right\? HTTP 400/)
    assert.equal((await failureOf(asked.embed(TEXTS, 'document', never))).kind, 'unavailable')
    assert.deepEqual(states, ['open'])
  })

  it('wrong dimensions of every vector are a matter of the configuration, which the text says', async () => {
    server.standing = 'wrongDimensions'
    const error = await failureOf(provider('ollama').embed(TEXTS, 'document', never))
    assert.equal(error.kind, 'unavailable')
    assert.match(error.message, /a vector of 9 dimensions, 8 are configured/)
  })

  for (const fault of [{ status: 401 }, { status: 402 }, { status: 403 }, { status: 404 }, 'redirect'] as const) {
    it(`address, key or account: ${JSON.stringify(fault)} is not tried again, and nothing is sent for a while`, async () => {
      const asked = provider('voyage')
      server.standing = fault
      const error = await failureOf(asked.embed(TEXTS, 'document', never))
      assert.ok(error.kind === 'unavailable' && error.retryAfterMs !== undefined)
      await failureOf(asked.embed(TEXTS, 'document', never))
      assert.deepEqual(
        server.requests.map(({ path }) => path),
        ['/voyage/embeddings'],
      )
    })
  }

  it('the circuit opens after failures in a row: nothing is sent then', async () => {
    const asked = provider('openai')
    server.standing = { status: 500 }
    await failureOf(asked.embed(TEXTS, 'document', never))
    await failureOf(asked.embed(TEXTS, 'document', never))
    assert.equal(server.requests.length, EMBEDDING_FAILURES_IN_ROW_MAX)
    const begin = performance.now()
    const { retryAfterMs } = await failureOf(asked.embed(TEXTS, 'document', never))
    assert.ok(performance.now() - begin < 100 && retryAfterMs !== undefined)
    assert.equal(server.requests.length, EMBEDDING_FAILURES_IN_ROW_MAX)
    assert.deepEqual(states, ['open'])
  })

  it('circuit: one trial after the pause, which doubles with each that fails, and ends with one that does not', () => {
    const seen: string[] = []
    const breaker = new Breaker((state) => void seen.push(state))
    breaker.failed(0, EMBEDDING_PAUSE_MS_FIRST)
    assert.equal(breaker.enter(1), EMBEDDING_PAUSE_MS_FIRST - 1)
    let now = EMBEDDING_PAUSE_MS_FIRST
    for (let pauseMs = 2 * EMBEDDING_PAUSE_MS_FIRST; pauseMs <= 4 * EMBEDDING_PAUSE_MS_FIRST; pauseMs *= 2) {
      assert.equal(breaker.enter(now), 0)
      assert.ok(breaker.enter(now) > 0, 'one trial at a time')
      breaker.failed(now)
      assert.equal(breaker.enter(now), pauseMs)
      now += pauseMs
    }
    assert.equal(breaker.enter(now), 0)
    breaker.left()
    assert.equal(breaker.enter(now), 0, 'a trial that was given up is followed by another')
    breaker.succeeded()
    assert.deepEqual([breaker.enter(now), breaker.enter(now)], [0, 0])
    assert.deepEqual(seen, ['open', 'trial', 'open', 'trial', 'open', 'trial', 'open', 'trial', 'closed'])
    for (let n = 1; n < EMBEDDING_FAILURES_IN_ROW_MAX; n++) breaker.failed(now)
    assert.equal(breaker.enter(now), 0)
    breaker.failed(now)
    assert.equal(breaker.enter(now), EMBEDDING_PAUSE_MS_FIRST)
  })

  it('requests at once are bounded; a query goes before documents that wait', async () => {
    const asked = provider('openai')
    server.hold()
    const done: string[] = []
    const calls = Array.from({ length: 8 }, (_, n) => asked.embed([`document ${n}`], 'document', never).then(() => done.push('document')))
    await untilAsked(EMBEDDING_REQUESTS_AT_ONCE - 1)
    calls.push(...[1, 2].map((n) => asked.embed([`query ${n}`], 'query', never).then(() => done.push('query'))))
    await untilAsked(EMBEDDING_REQUESTS_AT_ONCE)
    assert.equal(server.requests.at(-1)?.texts[0], 'query 1')
    server.release()
    await Promise.all(calls)
    assert.equal(server.requests[EMBEDDING_REQUESTS_AT_ONCE]?.texts[0], 'query 2')
    assert.equal(done.length, 10)
    assert.equal(server.concurrencyMax, EMBEDDING_REQUESTS_AT_ONCE)
  })

  async function untilAsked(count: number): Promise<void> {
    while (server.requests.length < count) await new Promise((resolve) => setImmediate(resolve))
  }

  it('a call ends when its signal says so, or when the provider is closed: under way, waiting for its turn, or between attempts', async () => {
    const asked = provider('openai')
    server.hold()
    const ends = Array.from({ length: 6 }, () => new AbortController())
    const calls = ends.map(({ signal }) => failureOf(asked.embed(['a'], 'document', signal)))
    await untilAsked(EMBEDDING_REQUESTS_AT_ONCE - 1)
    for (const end of ends) end.abort()
    for (const error of await Promise.all(calls)) assert.equal(error.kind, 'unavailable')
    // A request cancelled early says nothing about the provider.
    assert.deepEqual(states, [])
    server.release()
    server.standing = { status: 429, headers: { 'retry-after': '5' } }
    const between = new AbortController()
    const waiting = failureOf(asked.embed(['a'], 'document', between.signal))
    while (!outcomes.includes('failed')) await new Promise((resolve) => setImmediate(resolve))
    between.abort()
    assert.equal((await waiting).kind, 'unavailable')
    server.standing = undefined
    server.hold()
    const last = failureOf(asked.embed(['a'], 'document', never))
    await untilAsked(EMBEDDING_REQUESTS_AT_ONCE + 1)
    await asked.close()
    assert.equal((await last).kind, 'unavailable')
    assert.match((await failureOf(asked.embed(['a'], 'document', never))).message, /closed/)
  })

  it('an address that may not be asked is not, and the default one of Ollama and the one of the operator are', async () => {
    const policy = { allowed: [], allowPrivate: false }
    const guarded = makeProvider(
      { provider: 'openai', model: 'm', dimensions: 8, apiKey: KEY, apiUrl: server.url('openai') },
      { outbound: new Outbound(embeddingPolicy(policy, '')), observer: { onRequest: () => undefined, onBreaker: () => undefined } },
    )
    open.push(guarded)
    const error = await failureOf(guarded.embed(TEXTS, 'document', never))
    assert.match(error.message, /the address is not a public one; SVC_OUTBOUND_ALLOWLIST can allow it/)
    assert.equal(server.requests.length, 0)
    const named = embeddingPolicy(policy, server.url('openai'))
    assert.deepEqual(named.allowed, ['localhost:11434', `127.0.0.1:${server.port}`].map(parseAllowed))
    const trusting = makeProvider(
      { provider: 'openai', model: 'm', dimensions: 8, apiKey: KEY, apiUrl: server.url('openai') },
      { outbound: new Outbound(named), observer: { onRequest: () => undefined, onBreaker: () => undefined } },
    )
    open.push(trusting)
    assert.equal((await trusting.embed(['a'], 'query', never)).length, 8)
  })

  it('no server at the address: unavailable, within bounded time', async () => {
    const gone = await EmbeddingServer.start()
    const asked = provider('openai', { apiUrl: gone.url('openai') })
    await gone.stop()
    const error = await failureOf(asked.embed(TEXTS, 'document', never))
    assert.equal(error.kind, 'unavailable')
  })

  it('a local Ollama is found with the first of the preferred models that it has', async () => {
    // Ollama's port by name, served by the test.
    const found = (models: readonly string[]): Promise<unknown> => {
      server.ollamaModels = models
      const rerouted = { safeFetch: (request: { url: string }) => outbound().safeFetch({ ...request, url: request.url.replace('localhost:11434', `127.0.0.1:${server.port}`) }) } // prettier-ignore
      return detectOllama(rerouted as Outbound)
    }
    assert.deepEqual(await found(['llama3:latest', 'all-minilm:latest', 'mxbai-embed-large:latest']), {
      provider: 'ollama',
      model: 'mxbai-embed-large',
      dimensions: 1024,
      apiKey: '',
      apiUrl: 'http://localhost:11434',
    })
    assert.equal(await found(['llama3:latest', 'nomic-embed-text:other']), undefined)
    server.standing = 'hang'
    const begin = performance.now()
    assert.equal(await found(['all-minilm']), undefined)
    assert.ok(performance.now() - begin < 5_000)
  })
})
