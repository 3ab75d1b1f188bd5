/**
 * Kills the process again and again while clients write and three webhooks are told: one of the collection,
 * one of all collections, one whose receiver refuses now and then. In the end each acknowledged write has
 * been delivered to each of them, in order for each document, and what came twice came under an id that had
 * been sent before. Used by webhook_kills.deep.test.ts (few kills) and `npm run campaign -- webhook-kill`.
 */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { untilAsked } from '../../harness/process/until.js'
import { Random } from '../../harness/random.js'
import { type Server, startServer } from '../../harness/server/server.js'
import { type Hook, type Post, register, WEBHOOK_ENV, WebhookReceiver } from '../../harness/webhook_receiver.js'

const EVENTS = ['doc.added', 'doc.updated', 'doc.deleted']
const PATHS = ['own', 'all', 'moody'] as const
/** Few, so that a document has many changes. */
const KEYS = 40
const CLIENTS = 8
/** From the begin of the writes to the kill: a first delivery comes some 300 ms after a start. */
const KILL_MS_MAX = 1_500
/** One in so many posts is refused by the third receiver. */
const REFUSED_OF = 10
const DRAIN_MS_MAX = 60_000

export interface WebhookKillReport {
  readonly kills: number
  readonly writes: number
  readonly posts: number
  /** Posts of an id that had come before, and was accepted then or not. */
  readonly repeated: number
}

/** @param writesMin the run goes on until so many writes were acknowledged, and at least for the kills */
export async function runWebhookKills(
  seed: number,
  kills: number,
  writesMin: number,
  tell: (line: string) => void = () => undefined,
): Promise<WebhookKillReport> {
  const directory = mkdtempSync(join(tmpdir(), 'mds-webhook-kill-'))
  const receiver = await WebhookReceiver.start()
  const run = new WebhookKills(new Random(seed), directory, receiver)
  try {
    await run.begin()
    for (let kill = 0; kill < kills || run.report.writes < writesMin; kill++) {
      await run.killOnce()
      tell(JSON.stringify({ kill, ...run.report }))
    }
    await run.finish()
    return run.report
  } catch (error) {
    throw new Error(`seed ${seed}, ${JSON.stringify(run.report)}: ${(error as Error).message}`, { cause: error })
  } finally {
    await run.end()
    await receiver.stop()
    rmSync(directory, { recursive: true, force: true })
  }
}

class WebhookKills {
  readonly #random: Random
  readonly #directory: string
  readonly #receiver: WebhookReceiver
  #server!: Server
  #hooks: readonly Hook[] = []
  #kills = 0
  #number = 0
  /** Texts of acknowledged writes, in the order of each document. */
  readonly #acknowledged = new Map<string, string[]>()

  constructor(random: Random, directory: string, receiver: WebhookReceiver) {
    this.#random = random
    this.#directory = directory
    this.#receiver = receiver
    receiver.answer = ({ path }) => (path === '/moody' && random.below(REFUSED_OF) === 0 ? 500 : 204)
  }

  get report(): WebhookKillReport {
    const { posts } = this.#receiver
    const writes = [...this.#acknowledged.values()].reduce((sum, { length }) => sum + length, 0)
    return { kills: this.#kills, writes, posts: posts.length, repeated: posts.length - new Set(posts.map(({ id }) => id)).size }
  }

  async begin(): Promise<void> {
    await this.#start()
    const fields = PATHS.map((path) => ({ url: this.#receiver.url(path), events: EVENTS, collection: path === 'all' ? '' : 'c' }))
    this.#hooks = await Promise.all(fields.map((each) => register(this.#server, each)))
  }

  async killOnce(): Promise<void> {
    const writing = Array.from({ length: CLIENTS }, (_, client) => this.#write(client))
    await pause(this.#random.below(KILL_MS_MAX))
    await this.#server.kill()
    this.#kills++
    await Promise.all(writing)
    await this.#start()
  }

  async #start(): Promise<void> {
    this.#server = await startServer({ directory: this.#directory, env: WEBHOOK_ENV })
  }

  /**
   * Until the server is gone. A client has its documents to itself, so that their order is that of its
   * writes.
   */
  async #write(client: number): Promise<void> {
    const server = this.#server
    for (;;) {
      const key = `k${client}-${this.#random.below(KEYS / CLIENTS)}`
      const text = String(++this.#number)
      try {
        const { status } = await server.post('/v1/add', { collection: 'c', key, lang: 'en', contentMd: text })
        assert.equal(status, 200)
      } catch (error) {
        if (error instanceof assert.AssertionError) throw error
        return
      }
      this.#acknowledged.set(key, [...(this.#acknowledged.get(key) ?? []), text])
    }
  }

  /** Waits until nothing is owed any more, and compares. */
  async finish(): Promise<void> {
    for (const { id } of this.#hooks)
      await untilAsked(
        async () => (await this.#server.get(`/v1/webhooks/${id}/deliveries?limit=1`)).json<{ readonly deliveries: readonly object[] }>(),
        ({ deliveries }) => deliveries.length === 0,
        DRAIN_MS_MAX,
      )
    for (const path of PATHS) this.#check(path, this.#receiver.of(path))
  }

  #check(path: string, posts: readonly Post[]): void {
    const texts = new Map<string, string>()
    const ofKey = new Map<string, string[]>()
    for (const { id, payload } of posts) {
      const text = payload.document?.contentMd ?? ''
      assert.equal(texts.get(id) ?? text, text, `${path}: ${id} came with another text`)
      if (texts.has(id)) continue
      texts.set(id, text)
      ofKey.set(payload.key, [...(ofKey.get(payload.key) ?? []), text])
    }
    for (const [key, written] of this.#acknowledged) {
      const told = ofKey.get(key) ?? []
      assert.deepEqual(written.filter((text) => !told.includes(text)), [], `${path}: writes of ${key} were not told`) // prettier-ignore
      const order = told.map(Number)
      assert.deepEqual(order, order.toSorted((one, other) => one - other), `${path}: ${key}`) // prettier-ignore
    }
  }

  async end(): Promise<void> {
    await this.#server.kill()
  }
}
