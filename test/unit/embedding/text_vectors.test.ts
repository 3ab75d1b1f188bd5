/**
 * Vectors of texts in requests: each is requested once, cached for later requests, and removed when it
 * expires; and the answers to requests when a vector is unavailable.
 */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { EmbeddingTexts } from '../../../src/background/embedding/texts.js'
import {
  EMBEDDINGS_WANTED_MAX,
  EmbeddingsWanted,
  type TextVectorTools,
  vectorsOfTexts,
  vectorsOfTextsIfAny,
} from '../../../src/domain/embedding/text_vectors.js'
import type { SharedBodies } from '../../../src/engine/shared_bodies.js'
import { EmbeddingError, type EmbeddingProvider, type EmbeddingRole } from '../../../src/outbound/embedding/provider.js'
import { log } from '../../../src/telemetry/log.js'
import { installTelemetry, Telemetry } from '../../../src/telemetry/registry.js'
import { EmbeddingBlock } from '../../../src/wire/embedding_block.js'
import { vectorCacheOf } from '../../../src/worker/request/vector_cache.js'

const DIMENSIONS = 2
const telemetry = Telemetry.create([])
telemetry.claimRow()
installTelemetry(telemetry)

/** A lane and a front end over one cache. The provider derives a vector from a text's length and its role. */
class Subject {
  readonly rows = new Map<string, Buffer>()
  readonly asked: string[][] = []
  readonly block = EmbeddingBlock.create()
  readonly texts: EmbeddingTexts
  fails: EmbeddingError | undefined
  provider: EmbeddingProvider | undefined = {
    ...{ name: 'test', model: 'm', dimensions: DIMENSIONS, variant: 'test/m/2', batchMax: 3 },
    embed: async (texts: readonly string[], role: EmbeddingRole) => {
      this.asked.push([...texts])
      await Promise.resolve()
      if (this.fails !== undefined) throw this.fails
      return new Float32Array(texts.flatMap((text) => [text.length, role === 'query' ? 1 : 0]))
    },
    close: () => Promise.resolve(),
  }
  readonly #held = {
    get: (id: Uint8Array) => this.rows.get(Buffer.from(id).toString('hex')),
    cache: (id: Uint8Array, record: Uint8Array) => void this.rows.set(Buffer.from(id).toString('hex'), Buffer.from(record)),
    remove: (id: Uint8Array) => void this.rows.delete(Buffer.from(id).toString('hex')),
  }

  constructor(
    readonly size: number,
    msMax = 60_000,
  ) {
    this.block.current = { provider: 'test', model: 'm', dimensions: DIMENSIONS, variant: 'test/m/2' }
    const config = { embeddingCacheSize: size, embeddingCacheMsMax: msMax }
    this.texts = new EmbeddingTexts(config, { current: () => this.provider }, this.#held, telemetry)
  }

  get tools(): TextVectorTools {
    return { embedding: new EmbeddingBlock(this.block.buffer), vectorCache: vectorCacheOf(this.#held as unknown as SharedBodies) }
  }

  /** Repeats a request until it has its vectors, or is refused. */
  async request(texts: readonly string[], role: EmbeddingRole = 'query', isOptional = false): Promise<number[][] | string | undefined> {
    for (;;) {
      try {
        const found = isOptional ? vectorsOfTextsIfAny(this.tools, texts, role) : vectorsOfTexts(this.tools, texts, role)
        return found?.vectors.map((vector) => [...vector])
      } catch (error) {
        if (!(error instanceof EmbeddingsWanted)) throw error
        const refused = await this.texts.bring(error)
        if (refused !== undefined) return `${refused.code} ${String(refused.body)}`
      }
    }
  }
}

const counted = (): { readonly hits: number; readonly misses: number } => {
  const { embedding_cache_hits: hits, embedding_cache_misses: misses } = telemetry.read().counters
  return { hits, misses }
}

describe('vectors of texts', () => {
  it('texts: each is embedded once, by its role, and cached for the next request', async () => {
    const subject = new Subject(10)
    const before = counted()
    assert.deepEqual(await subject.request(['a', 'bb', 'a']), [[1, 1], [2, 1], [1, 1]]) // prettier-ignore
    assert.deepEqual(await subject.request(['bb']), [[2, 1]])
    assert.deepEqual(await subject.request(['bb'], 'document'), [[2, 0]])
    assert.deepEqual(subject.asked, [['a', 'bb'], ['bb']])
    assert.deepEqual([counted().hits - before.hits, counted().misses - before.misses], [1, 3])
  })

  it('texts: two requests for the same one at the same time ask once; many go in calls that the provider takes', async () => {
    const subject = new Subject(10)
    await Promise.all([subject.request(['same']), subject.request(['same', 'other'])])
    assert.deepEqual(subject.asked, [['same'], ['other']])
    await subject.request(['1', '22', '333', '4444'])
    assert.deepEqual(subject.asked.slice(2), [['1', '22', '333'], ['4444']])
  })

  it('texts: without a cache nothing stays, and the request has its vectors all the same', async () => {
    const subject = new Subject(0)
    assert.deepEqual(await subject.request(['a']), [[1, 1]])
    assert.equal(subject.rows.size, 0)
    await subject.request(['a'])
    assert.equal(subject.asked.length, 2)
  })

  it('texts: an unavailable provider is 503 with its message, a refusal is 400, no provider is 400', async () => {
    const subject = new Subject(10)
    subject.fails = new EmbeddingError('unavailable', 'it is away', 1500)
    assert.equal(await subject.request(['a']), 'providerUnavailable {"error":"it is away"}')
    subject.fails = new EmbeddingError('refused', 'too long')
    assert.equal(await subject.request(['a']), 'invalid {"error":"too long"}')
    subject.provider = undefined
    assert.equal(await subject.request(['a']), 'noEmbeddingProvider {"error":"no embedding provider configured"}')
    subject.block.current = undefined
    await assert.rejects(subject.request(['a']), /no embedding provider configured/)
  })

  it('texts: after a failure, optional requests go without vectors for a while and the provider is not asked; a request that needs vectors asks again', async () => {
    const subject = new Subject(10)
    subject.fails = new EmbeddingError('unavailable', 'it is away')
    assert.equal(await subject.request(['a'], 'query', true), undefined)
    assert.equal(await subject.request(['a'], 'query', true), undefined)
    assert.equal(subject.asked.length, 1)
    subject.fails = undefined
    assert.deepEqual(await subject.request(['a']), [[1, 1]])
    assert.deepEqual(await subject.request(['a'], 'query', true), [[1, 1]])
    subject.block.current = undefined
    assert.equal(await subject.request(['a'], 'query', true), undefined)
  })

  it('texts: searches that go without vectors fill no log', async (t) => {
    const told = t.mock.method(log, 'warn', () => undefined)
    const subject = new Subject(10)
    subject.fails = new EmbeddingError('unavailable', 'it is away')
    for (let at = 0; at < 50; at++) assert.equal(await subject.request([`text ${at}`], 'query', true), undefined)
    assert.deepEqual(
      told.mock.calls.map(({ arguments: line }) => line),
      [['searches go without vectors', { reason: 'it is away' }]],
    )
  })

  it('texts: another model does not use cached vectors of the previous one; too many texts are refused', async () => {
    const subject = new Subject(10)
    await subject.request(['a'])
    subject.block.current = { provider: 'test', model: 'other', dimensions: DIMENSIONS, variant: 'test/other/2' }
    assert.throws(() => vectorsOfTexts(subject.tools, ['a'], 'query'), EmbeddingsWanted)
    const many = Array.from({ length: EMBEDDINGS_WANTED_MAX + 1 }, (_, at) => `text ${at}`)
    await assert.rejects(subject.request(many), /more than 128 texts/)
  })

  it('texts: above the capacity of the cache the oldest ones are evicted first', async (t) => {
    t.mock.timers.enable({ apis: ['Date'], now: 1_000_000 })
    const clock = t.mock.method(performance, 'now', () => Date.now())
    const subject = new Subject(2)
    for (const text of ['a', 'bb', 'ccc']) await subject.request([text])
    assert.equal(subject.rows.size, 3, 'a request under way may still want them')
    t.mock.timers.tick(31_000)
    await subject.request(['dddd'])
    assert.equal(subject.rows.size, 2)
    t.mock.timers.tick(61_000)
    assert.throws(() => vectorsOfTexts(subject.tools, ['dddd'], 'query'), EmbeddingsWanted, 'its time is over')
    clock.mock.restore()
  })
})

describe('the block of the provider', () => {
  it('block: other threads see the provider of the moment, or none', () => {
    const block = EmbeddingBlock.create()
    const other = new EmbeddingBlock(block.buffer)
    assert.equal(other.current, undefined)
    const identity = { provider: 'openai', model: 'ü "model"', dimensions: 3, variant: 'v' }
    block.current = identity
    assert.deepEqual(other.current, identity)
    block.current = undefined
    assert.equal(other.current, undefined)
  })
})
