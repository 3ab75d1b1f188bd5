/**
 * The thread that posts to webhooks, as the front end sees it: started with the first post, and again after
 * its death, which fails the posts under way. Front-end thread only.
 */
import { Worker } from 'node:worker_threads'
import { programPath } from '../../base/installation.js'
import type { Config } from '../../config/config.js'
import { log } from '../../telemetry/log.js'
import type { WebhookOutcome, WebhookPost, WebhookThreadStart } from '../../wire/messages/webhook_messages.js'

/** Heap of the thread: the payloads under way are not in it. */
const WEBHOOK_THREAD_HEAP_MB = 256

const PROGRAM = programPath('webhook_thread')

export class WebhookThread {
  readonly #config: Config
  readonly #onOutcomes: (outcomes: readonly WebhookOutcome[]) => void
  readonly #underWay = new Set<number>()
  #worker: Worker | undefined
  #isStopped = false

  constructor(config: Config, onOutcomes: (outcomes: readonly WebhookOutcome[]) => void) {
    this.#config = config
    this.#onOutcomes = onOutcomes
  }

  get underWay(): number {
    return this.#underWay.size
  }

  /** The payloads are handed over. Each post has one outcome. */
  send(posts: readonly WebhookPost[]): void {
    if (posts.length === 0) return
    for (const { number } of posts) this.#underWay.add(number)
    this.#worker ??= this.#start()
    if (this.#worker === undefined) this.#fail('no thread could be started')
    else
      this.#worker.postMessage(
        posts,
        posts.map(({ body }) => body.buffer as ArrayBuffer),
      )
  }

  /** What is under way is sent once more by the next start. */
  async stop(): Promise<void> {
    this.#isStopped = true
    await this.#worker?.terminate()
  }

  #start(): Worker | undefined {
    if (this.#isStopped) return undefined
    const { outboundAllowlist, outboundAllowPrivate } = this.#config
    try {
      const worker = new Worker(PROGRAM, {
        workerData: { outboundAllowlist, outboundAllowPrivate } satisfies WebhookThreadStart,
        resourceLimits: { maxOldGenerationSizeMb: WEBHOOK_THREAD_HEAP_MB },
      })
      worker.on('message', (outcomes: readonly WebhookOutcome[]) => this.#hear(outcomes))
      worker.on('error', (error) => log.error('webhooks', { fault: error }))
      worker.on('exit', () => {
        this.#worker = undefined
        this.#fail('the thread that sends has ended')
      })
      // It keeps no process alive.
      worker.unref()
      return worker
    } catch (error) {
      log.error('webhooks', { fault: error })
      return undefined
    }
  }

  #hear(outcomes: readonly WebhookOutcome[]): void {
    for (const { number } of outcomes) this.#underWay.delete(number)
    this.#onOutcomes(outcomes)
  }

  #fail(error: string): void {
    if (!this.#isStopped) this.#hear([...this.#underWay].map((number) => ({ number, httpStatus: 0, error })))
  }
}
