/**
 * Vectors of texts in requests: requested from the provider and cached in native memory, where lanes find
 * them, for as long as the options say. The oldest are evicted first. A request that lacks some waits for
 * them and runs again. A text is requested only once at a time. Front-end thread only.
 */
import { TimeLimit } from '../../base/time_limit.js'
import type { Config } from '../../config/config.js'
import { refusal, refusalWith } from '../../dispatch/answers/answers.js'
import type { SharedBodies } from '../../engine/shared_bodies.js'
import { EMBEDDING_FAILURES_LOGGED_MS, EMBEDDINGS_WANTED_MS_MAX } from '../../limits/embedding.js'
import type { EmbeddingRole } from '../../outbound/embedding/provider.js'
import { EmbeddingError, type EmbeddingProvider } from '../../outbound/embedding/provider.js'
import { log } from '../../telemetry/log.js'
import type { Telemetry } from '../../telemetry/registry.js'
import type { OutgoingAnswer } from '../../wire/answer.js'
import type { TextsFirst } from '../../wire/messages/messages.js'
import { cachedVectorId, encodeCachedVector } from '../../wire/text_vectors.js'
import type { CurrentProvider } from './worker.js'

/**
 * How long the server remembers that a provider could not embed the texts of a request, which continues
 * without vectors.
 */
const EMBEDDINGS_LACKING_MS = 5_000
/**
 * Minimum time that the vector of a text stays cached: as long as the request that needs it may take,
 * independent of the size of the cache.
 */
const EMBEDDINGS_HELD_MS_MIN = 2 * EMBEDDINGS_WANTED_MS_MAX
/** Texts whose vectors are cached for requests in progress, beyond the size of the cache. */
const EMBEDDINGS_HELD_MAX = 4_096

type Wanted = Pick<TextsFirst, 'texts' | 'role' | 'isOptional'>

interface CachedText {
  readonly id: Buffer
  /** Milliseconds, monotonic. */
  readonly at: number
}

export class EmbeddingTexts {
  readonly #underWay = new Map<string, Promise<void>>()
  /** In order of insertion. */
  readonly #cached = new Map<string, CachedText>()
  readonly #end = new AbortController()
  #loggedAt = -Infinity

  constructor(
    readonly config: Pick<Config, 'embeddingCacheSize' | 'embeddingCacheMsMax'>,
    readonly provider: CurrentProvider,
    readonly bodies: Pick<SharedBodies, 'cache' | 'remove'>,
    readonly telemetry: Telemetry,
  ) {}

  /** Aborts the calls in progress. */
  stop(): void {
    this.#end.abort()
  }

  /**
   * Never rejects.
   * @returns the refusal if the vectors are unavailable; otherwise undefined, and the vectors are cached, or
   * a record that there are none for now, if the request can run without them
   */
  readonly bring = async ({ texts, role, isOptional }: Wanted): Promise<OutgoingAnswer | undefined> => {
    const provider = this.provider.current()
    // The lane detects this when the request runs again.
    if (provider === undefined) return isOptional ? undefined : refusal('noEmbeddingProvider')
    try {
      await this.#bring(provider, texts, role)
      return undefined
    } catch (error) {
      if (!(error instanceof EmbeddingError)) throw error
      if (!isOptional) return refused(error)
      this.#logFailure(error)
      for (const text of texts) this.#keep(cachedVectorId(provider.variant, role, text), undefined)
      return undefined
    }
  }

  /** Logs at most one line per interval: every search may contain another text. */
  #logFailure({ message }: EmbeddingError): void {
    if (performance.now() - this.#loggedAt < EMBEDDING_FAILURES_LOGGED_MS) return
    this.#loggedAt = performance.now()
    log.warn('searches go without vectors', { reason: message })
  }

  async #bring(provider: EmbeddingProvider, texts: readonly string[], role: EmbeddingRole): Promise<void> {
    const nameOf = (text: string): string => cachedVectorId(provider.variant, role, text).toString('hex')
    const awaited = texts.flatMap((text) => this.#underWay.get(nameOf(text)) ?? [])
    const lacking = [...new Set(texts)].filter((text) => !this.#underWay.has(nameOf(text)))
    for (let begin = 0; begin < lacking.length; begin += provider.batchMax) {
      const some = lacking.slice(begin, begin + provider.batchMax)
      const asked = this.#ask(provider, some, role).finally(() => {
        for (const text of some) this.#underWay.delete(nameOf(text))
      })
      for (const text of some) this.#underWay.set(nameOf(text), asked)
      awaited.push(asked)
    }
    await Promise.all(awaited)
  }

  async #ask(provider: EmbeddingProvider, texts: readonly string[], role: EmbeddingRole): Promise<void> {
    this.telemetry.add('embedding_cache_misses', texts.length)
    const limit = new TimeLimit(EMBEDDINGS_WANTED_MS_MAX, this.#end.signal)
    const vectors = await provider.embed(texts, role, limit.signal).finally(() => limit.end())
    const { variant, dimensions } = provider
    texts.forEach((text, row) =>
      this.#keep(cachedVectorId(variant, role, text), vectors.subarray(row * dimensions, (row + 1) * dimensions)),
    )
  }

  /** @param vector undefined: there is none for now */
  #keep(id: Buffer, vector: Float32Array | undefined): void {
    const { embeddingCacheSize, embeddingCacheMsMax } = this.config
    const isKept = embeddingCacheSize > 0 && embeddingCacheMsMax > 0
    const msMax = vector === undefined ? EMBEDDINGS_LACKING_MS : isKept ? embeddingCacheMsMax : EMBEDDINGS_HELD_MS_MIN
    this.bodies.cache(id, encodeCachedVector({ vector, goneAt: Date.now() + msMax, isFresh: true, isOnce: !isKept }))
    const name = id.toString('hex')
    this.#cached.delete(name)
    this.#cached.set(name, { id, at: performance.now() })
    this.#letGo()
  }

  /** Evicts old entries. Vectors that current requests wait for stay, as far as the cache has capacity. */
  #letGo(): void {
    const now = performance.now()
    for (const [name, { id, at }] of this.#cached) {
      const isOver = this.#cached.size > Math.max(this.config.embeddingCacheSize, EMBEDDINGS_HELD_MAX)
      const isOld = this.#cached.size > this.config.embeddingCacheSize && now - at > EMBEDDINGS_HELD_MS_MIN
      if (!isOver && !isOld) break
      this.bodies.remove(id)
      this.#cached.delete(name)
    }
    this.telemetry.set('embedding_cache_size', this.#cached.size)
  }
}

function refused({ kind, message, retryAfterMs }: EmbeddingError): OutgoingAnswer {
  if (kind === 'refused') return refusalWith('invalid', message)
  const seconds = String(Math.max(1, Math.ceil((retryAfterMs ?? 0) / 1000)))
  return { ...refusalWith('providerUnavailable', message), facts: ['retryAfterSeconds', seconds] }
}
