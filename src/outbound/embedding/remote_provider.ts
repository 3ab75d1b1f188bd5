/**
 * A provider that is reached over HTTP. Texts are grouped into requests within the provider's limits, and
 * requests wait for their turn. Passing failures are retried; persistent failures open the circuit. Every
 * response is validated before use. The contract of `embed`: provider.ts. Why a refusal is followed by
 * further requests: docs/decisions/search/embedding.md. Front-end thread.
 */
import { randomInt } from 'node:crypto'
import { setTimeout } from 'node:timers/promises'
import type { Dispatcher } from 'undici'
import { EMBEDDING_ANSWER_FRAME_BYTES, EMBEDDING_PAUSE_MS_MAX, EMBEDDING_REQUESTS_AT_ONCE } from '../../limits/embedding.js'
import type { Outbound } from '../safe_fetch.js'
import { Breaker, type BreakerState } from './breaker.js'
import { type Failure, failureOfError, failureOfStatus } from './failure.js'
import { factsOf, type ModelFacts } from './models.js'
import { BadAnswer, type Protocol } from './protocol.js'
import type { EmbeddingProvider, EmbeddingRole } from './provider.js'
import { EmbeddingError } from './provider.js'
import { vectorsOf } from './received_vectors.js'
import { type ProviderSettings, urlOf, variantOf } from './settings.js'
import { cutText, portionsOf } from './texts.js'
import { Turns } from './turns.js'

/**
 * Requests for the same texts. The wait between them is random, up to 0.5 and 1 s, or as long as the provider
 * requests. The value of the reference.
 */
const EMBEDDING_ATTEMPTS_MAX = 3
const EMBEDDING_WAIT_MS_FIRST = 500
/**
 * Time of one request to a provider. The value of the reference. A local model that has to be loaded first
 * takes 5 to 20 s.
 */
const EMBEDDING_ATTEMPT_MS_MAX = 30_000
/**
 * A `Retry-After` of at most this is waited for within the call. A longer one ends the call, and no further
 * calls are sent until then.
 */
const EMBEDDING_RETRY_AFTER_WAITED_MS_MAX = 5_000
/** A request that its caller cancelled counts as failed if it had waited for this long. */
const EMBEDDING_SLOW_MS = 10_000
/**
 * Numbers that one answer may contain as decimal text. The event loop parses 32 768 of them, 0.7 MB, in 5 ms.
 * Encoded in base64, twice as many take 2 ms.
 */
const EMBEDDING_NUMBERS_MAX = 32_768
export const EMBEDDING_NUMBERS_ENCODED_MAX = 2 * EMBEDDING_NUMBERS_MAX
/** Maximum bytes of one value as decimal text: `-1.2345678901234567e-10, `. */
const EMBEDDING_NUMBER_BYTES_MAX = 32

/** Notified of every request, for the counters. */
export interface EmbeddingObserver {
  readonly onRequest: (outcome: 'answered' | 'refused' | 'failed', ms: number) => void
  readonly onBreaker: (state: BreakerState) => void
}

/** Time limits that tests shorten. */
export interface ProviderTimes {
  readonly attemptMsMax: number
  readonly waitMsFirst: number
}

const TIMES: ProviderTimes = { attemptMsMax: EMBEDDING_ATTEMPT_MS_MAX, waitMsFirst: EMBEDDING_WAIT_MS_FIRST }
/** A timer may fire this much early by another clock. */
const TIMER_MS = 5
/** A text that no model has a reason to refuse. */
const HARMLESS: readonly string[] = ['A short text.']

/** A failed request. Used only in this file. */
class Failed extends Error {
  constructor(readonly failure: Failure) {
    super(failure.text)
  }
}

export class RemoteProvider implements EmbeddingProvider {
  readonly name: string
  readonly model: string
  readonly dimensions: number
  readonly variant: string
  readonly batchMax: number
  readonly #facts: ModelFacts
  readonly #connections: Dispatcher
  readonly #breaker: Breaker
  readonly #turns = new Turns()
  readonly #underWay = new Set<AbortController>()
  #isEncoded: boolean
  #isClosed = false

  constructor(
    readonly settings: ProviderSettings,
    readonly protocol: Protocol,
    readonly outbound: Outbound,
    readonly observer: EmbeddingObserver,
    readonly times: ProviderTimes = TIMES,
  ) {
    this.name = settings.provider
    this.model = settings.model
    this.dimensions = settings.dimensions
    this.variant = variantOf(settings)
    this.#facts = factsOf(settings.provider, settings.model)
    this.#isEncoded = protocol.canEncode
    this.batchMax = this.#textsMax()
    this.#connections = outbound.connections(EMBEDDING_REQUESTS_AT_ONCE)
    this.#breaker = new Breaker(observer.onBreaker)
  }

  async embed(texts: readonly string[], role: EmbeddingRole, signal: AbortSignal): Promise<Float32Array> {
    if (this.#isClosed) throw this.#error('unavailable', 'it is closed')
    const controller = new AbortController()
    const abort = (): void => controller.abort()
    if (signal.aborted) abort()
    signal.addEventListener('abort', abort, { once: true })
    this.#underWay.add(controller)
    try {
      return await this.#embedAll(
        texts.map((text) => this.#prefixed(text, role)),
        role,
        controller.signal,
      )
    } catch (error) {
      if (error instanceof EmbeddingError) throw error
      if (error instanceof Failed) throw this.#error(error.failure.kind, error.failure.text, error.failure.pauseMs, error.failure.cause)
      if (controller.signal.aborted) throw this.#error('unavailable', 'the call was given up', undefined, error)
      throw this.#error('unavailable', 'an error of this server', undefined, error)
    } finally {
      this.#underWay.delete(controller)
      signal.removeEventListener('abort', abort)
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true
    for (const controller of this.#underWay) controller.abort()
    await this.#connections.destroy()
  }

  async #embedAll(texts: readonly string[], role: EmbeddingRole, signal: AbortSignal): Promise<Float32Array> {
    const vectors = new Float32Array(texts.length * this.dimensions)
    for (const { begin, end } of portionsOf(texts, this.#textsMax(), this.protocol.textBytesMax))
      vectors.set(await this.#embedPortion(texts.slice(begin, end), role, signal), begin * this.dimensions)
    return vectors
  }

  /**
   * A refused request is retried in the other forms that servers of the same protocol may require. If all are
   * refused, a harmless text shows whether these texts or all texts are refused.
   */
  async #embedPortion(texts: readonly string[], role: EmbeddingRole, signal: AbortSignal): Promise<Float32Array> {
    let refusal: unknown
    for (const form of this.#formsOf(texts)) {
      try {
        return await this.#attempts(form(), role, signal)
      } catch (error) {
        if (!(error instanceof Failed) || error.failure.kind !== 'refused') throw error
        refusal = error
        if (!error.failure.isOfRequest) break
      }
    }
    await this.#checkConfiguration(signal)
    throw refusal
  }

  #formsOf(texts: readonly string[]): readonly (() => readonly string[])[] {
    const { second } = this.protocol.cuts
    const shorter = second === undefined ? texts : texts.map((text) => cutText(text, second))
    const plain = (): readonly string[] => {
      this.#isEncoded = false
      return texts
    }
    return [
      () => texts,
      ...(this.#isEncoded ? [plain] : []),
      ...(shorter.some((text, at) => text.length < (texts[at] ?? '').length) ? [() => shorter] : []),
    ]
  }

  /**
   * @throws Failed, of kind `unavailable`, if even the harmless text is refused: the operator must change the
   * configuration
   */
  async #checkConfiguration(signal: AbortSignal): Promise<void> {
    try {
      await this.#attempts(HARMLESS, 'document', signal)
    } catch (error) {
      if (!(error instanceof Failed) || error.failure.kind !== 'refused') throw error
      this.#breaker.failed(performance.now(), EMBEDDING_PAUSE_MS_MAX)
      const text = `it embeds nothing, is the configuration right? ${error.failure.text}`
      throw new Failed({ ...error.failure, kind: 'unavailable', text, pauseMs: EMBEDDING_PAUSE_MS_MAX })
    }
  }

  /** @throws Failed for the last attempt; the signal's reason */
  async #attempts(texts: readonly string[], role: EmbeddingRole, signal: AbortSignal): Promise<Float32Array> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await this.#inTurn(texts, role, signal)
      } catch (error) {
        if (!(error instanceof Failed) || !error.failure.isPassing || attempt === EMBEDDING_ATTEMPTS_MAX) throw error
        const { pauseMs } = error.failure
        if (pauseMs !== undefined && pauseMs > EMBEDDING_RETRY_AFTER_WAITED_MS_MAX) throw error
        await setTimeout(Math.max(pauseMs ?? 0, randomInt(this.times.waitMsFirst * 2 ** (attempt - 1))), undefined, { signal })
      }
    }
  }

  async #inTurn(texts: readonly string[], role: EmbeddingRole, signal: AbortSignal): Promise<Float32Array> {
    await this.#turns.take(role, signal)
    try {
      const pauseMs = this.#breaker.enter(performance.now())
      if (pauseMs > 0) throw this.#error('unavailable', 'requests are not sent for a while, after failures', pauseMs)
      return await this.#attempt(texts, role, signal)
    } finally {
      this.#turns.done(role)
    }
  }

  /** Sends one request and reports its outcome to breaker and observer. */
  async #attempt(texts: readonly string[], role: EmbeddingRole, signal: AbortSignal): Promise<Float32Array> {
    const begin = performance.now()
    const elapsedMs = (): number => performance.now() - begin
    try {
      const vectors = await this.#ask(texts, role, signal)
      this.#breaker.succeeded()
      this.observer.onRequest('answered', elapsedMs())
      return vectors
    } catch (error) {
      const ms = elapsedMs()
      if (signal.aborted && ms < EMBEDDING_SLOW_MS) {
        this.#breaker.left()
        throw error
      }
      const isLate = ms >= this.times.attemptMsMax - TIMER_MS
      const failure = error instanceof Failed ? error.failure : failureOfError(error, isLate, this.times.attemptMsMax)
      const { pauseMs } = failure
      if (failure.kind === 'refused') this.#breaker.succeeded()
      else this.#breaker.failed(performance.now(), (pauseMs ?? 0) > EMBEDDING_RETRY_AFTER_WAITED_MS_MAX ? pauseMs : undefined)
      this.observer.onRequest(failure.kind === 'refused' ? 'refused' : 'failed', ms)
      throw new Failed(failure)
    }
  }

  async #ask(texts: readonly string[], role: EmbeddingRole, signal: AbortSignal): Promise<Float32Array> {
    const { apiKey, model } = this.settings
    const { status, headers, body } = await this.outbound.safeFetch({
      url: urlOf(this.settings) + this.protocol.path,
      method: 'POST',
      headers: { 'content-type': 'application/json', ...(apiKey === '' ? {} : { authorization: `Bearer ${apiKey}` }) },
      body: JSON.stringify(this.protocol.body({ model, texts, role, dimensions: this.#asked(), isEncoded: this.#isEncoded })),
      msMax: this.times.attemptMsMax,
      bytesMax: EMBEDDING_ANSWER_FRAME_BYTES + texts.length * this.dimensions * EMBEDDING_NUMBER_BYTES_MAX,
      // A redirect target is not the configured provider, and must not receive the key.
      redirectsMax: 0,
      connections: this.#connections,
      signal,
    })
    if (status !== 200) throw new Failed(failureOfStatus(status, headers, Date.now()))
    return vectorsOf(this.protocol.rows(parse(body), texts.length), this.dimensions)
  }

  /** Set only if the number differs from the model's own, and only if the model supports it. */
  #asked(): number | undefined {
    const { dimensions, isShortenable } = this.#facts
    return isShortenable === true && this.dimensions !== dimensions ? this.dimensions : undefined
  }

  #prefixed(text: string, role: EmbeddingRole): string {
    const prefix = (role === 'query' ? this.#facts.queryPrefix : this.#facts.documentPrefix) ?? ''
    return cutText(prefix + text, this.protocol.cuts.first)
  }

  /** Bounded so that the vectors of a response are parsed within some milliseconds. */
  #textsMax(): number {
    const numbersMax = this.#isEncoded ? EMBEDDING_NUMBERS_ENCODED_MAX : EMBEDDING_NUMBERS_MAX
    return Math.max(1, Math.min(this.protocol.textsMax, Math.floor(numbersMax / this.dimensions)))
  }

  #error(kind: 'refused' | 'unavailable', text: string, retryAfterMs?: number, cause?: unknown): EmbeddingError {
    return new EmbeddingError(kind, `embedding provider ${this.name}: ${text}`, retryAfterMs, cause === undefined ? {} : { cause })
  }
}

function parse(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString('utf8'))
  } catch {
    throw new BadAnswer('it is not JSON')
  }
}
