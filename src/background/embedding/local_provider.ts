/**
 * The embedding provider `local`: a model on this machine, in a thread of its own, which starts with the
 * first text. Tasks run one at a time, those of queries first. Nothing is sent over the network, and no key
 * is needed. Front-end thread. Models: docs/decisions/search/chunks-and-models.md.
 */
import { createRequire } from 'node:module'
import type { Piscina as Pool } from 'piscina'
import { programPath } from '../../base/installation.js'
import { EMBEDDING_CALLS_WAITING_MAX, EMBEDDING_PAUSE_MS_MAX } from '../../limits/embedding.js'
import { EmbeddingError, type EmbeddingProvider, type EmbeddingRole } from '../../outbound/embedding/provider.js'
import { type ProviderSettings, variantOf } from '../../outbound/embedding/settings.js'
import type { LocalTask } from '../../wire/messages/local_task.js'

/**
 * Texts of one task of the thread: 5 ms of static vectors at 10 MB/s; 0.2 to 0.4 s of MiniLM, for which a
 * query may have to wait.
 */
const STATIC_BATCH_MAX = 32
const MINILM_BATCH_MAX = 4
/**
 * V8 heap of the thread: texts and vectors of a batch, the vocabulary of the tokenizer. Excludes the models.
 */
const LOCAL_MODEL_HEAP_MB_MAX = 256

// Loaded by `require`, as in dispatch/pools/lane_pool.ts.
const { Piscina } = createRequire(import.meta.url)('piscina') as typeof import('piscina')

const ENTRY = programPath('worker/lane/local_model')

interface Call {
  readonly texts: readonly string[]
  readonly settle: (vectors: Float32Array) => void
  readonly fail: (error: EmbeddingError) => void
}

export class LocalProvider implements EmbeddingProvider {
  readonly name = 'local'
  readonly model: string
  readonly dimensions: number
  readonly variant: string
  readonly batchMax: number
  readonly #waiting: Record<EmbeddingRole, Call[]> = { query: [], document: [] }
  #pool: Pool<LocalTask, Float32Array> | undefined
  #isBusy = false
  #isClosed = false

  /** @param settings of an existing model: outbound/embedding/settings.ts */
  constructor(settings: ProviderSettings) {
    this.model = settings.model
    this.dimensions = settings.dimensions
    this.variant = variantOf(settings)
    this.batchMax = settings.model === 'minilm' ? MINILM_BATCH_MAX : STATIC_BATCH_MAX
  }

  embed(texts: readonly string[], role: EmbeddingRole, signal: AbortSignal): Promise<Float32Array> {
    if (this.#isClosed || signal.aborted) return Promise.reject(unavailable('it was stopped'))
    if (this.#waiting.query.length + this.#waiting.document.length >= EMBEDDING_CALLS_WAITING_MAX)
      return Promise.reject(unavailable('too many texts wait'))
    return new Promise((resolve, reject) => {
      const call: Call = {
        texts,
        settle: (vectors) => {
          signal.removeEventListener('abort', abort)
          resolve(vectors)
        },
        fail: (error) => {
          signal.removeEventListener('abort', abort)
          reject(error)
        },
      }
      // A running task is completed, which takes some milliseconds: aborting it would end the thread and its
      // model.
      const abort = (): void => {
        this.#waiting[role] = this.#waiting[role].filter((other) => other !== call)
        call.fail(unavailable('it was stopped'))
      }
      signal.addEventListener('abort', abort)
      this.#waiting[role].push(call)
      this.#next()
    })
  }

  async close(): Promise<void> {
    this.#isClosed = true
    const pool = this.#pool
    this.#pool = undefined
    for (const role of ['query', 'document'] as const)
      for (const call of this.#waiting[role].splice(0)) call.fail(unavailable('it was stopped'))
    await pool?.destroy()
  }

  #next(): void {
    if (this.#isBusy) return
    const call = this.#waiting.query.shift() ?? this.#waiting.document.shift()
    if (call === undefined) return
    this.#isBusy = true
    void this.#run(call).finally(() => {
      this.#isBusy = false
      this.#next()
    })
  }

  async #run({ texts, settle, fail }: Call): Promise<void> {
    let pool: Pool<LocalTask, Float32Array> | undefined
    try {
      pool = this.#pool ??= this.#open()
      const vectors = await pool.run({ model: this.model, texts })
      if (vectors.length === texts.length * this.dimensions && vectors.every(Number.isFinite)) settle(vectors)
      else fail(new EmbeddingError('refused', `the local model ${this.model} made no vectors of ${this.dimensions} numbers`))
    } catch (cause) {
      // After a worker that could not start, Piscina starts no other.
      if (pool !== undefined) this.#giveUp(pool)
      fail(this.#isClosed ? unavailable('it was stopped') : unavailable((cause as Error).message, { cause }))
    }
  }

  /** One permanent thread. */
  #open(): Pool<LocalTask, Float32Array> {
    const pool = new Piscina<LocalTask, Float32Array>({
      filename: ENTRY,
      name: 'embedTexts',
      minThreads: 1,
      maxThreads: 1,
      maxQueue: 1,
      atomics: 'disabled',
      recordTiming: false,
      workerHistogram: false,
      resourceLimits: { maxOldGenerationSizeMb: LOCAL_MODEL_HEAP_MB_MAX },
    })
    // A worker that ends before it has loaded is not replaced, and a task would wait for ever.
    pool.on('error', () => this.#giveUp(pool))
    return pool
  }

  /** Its task fails, if it has one. The next one opens another pool. */
  #giveUp(pool: Pool<LocalTask, Float32Array>): void {
    if (this.#pool !== pool) return
    this.#pool = undefined
    void pool.destroy()
  }
}

function unavailable(reason: string, options?: ErrorOptions): EmbeddingError {
  return new EmbeddingError('unavailable', `the local embedding model: ${reason}`, EMBEDDING_PAUSE_MS_MAX, options)
}
