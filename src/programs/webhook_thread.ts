/**
 * The program of the thread that posts to webhooks: signs each payload and sends it through the guarded
 * client, without redirects. It decides nothing: what is sent when, and what follows from an outcome, is the
 * front end's (src/background/webhooks). Started by src/background/webhooks/webhook_thread.ts.
 */
import { parentPort, workerData } from 'node:worker_threads'
import { lowerPriority } from '../base/thread_priority.js'
import { KIB } from '../limits/units.js'
import { policyOf } from '../outbound/destination.js'
import { Outbound } from '../outbound/safe_fetch.js'
import { signedHeaders } from '../outbound/webhook_signature.js'
import type { WebhookOutcome, WebhookPost, WebhookThreadStart } from '../wire/messages/webhook_messages.js'

/** Of a post, from the look-up of the name to the end of the answer: that of the contract. */
const POST_MS_MAX = 10_000
/** What is read of an answer. */
const ANSWER_BYTES_MAX = 16 * KIB
/** Connections to one receiver. */
const CONNECTIONS_OF_RECEIVER = 8
/** Threads that answer requests go first. */
const WEBHOOK_THREAD_NICE = 5
/** UTF-16 units of the reason of a failure: it becomes a row of the store. */
const ERROR_LENGTH_MAX = 200

lowerPriority(WEBHOOK_THREAD_NICE)
const outbound = new Outbound(policyOf(workerData as WebhookThreadStart))
const connections = outbound.connections(CONNECTIONS_OF_RECEIVER)
let outcomes: WebhookOutcome[] = []

parentPort?.on('message', (posts: readonly WebhookPost[]) => {
  for (const post of posts) void run(post)
})

/** Never rejects. Outcomes of one turn are told together. */
async function run(post: WebhookPost): Promise<void> {
  const outcome = await send(post)
  if (outcomes.push(outcome) > 1) return
  setImmediate(() => {
    const told = outcomes
    outcomes = []
    parentPort?.postMessage(told)
  })
}

async function send({ number, id, event, target, body }: WebhookPost): Promise<WebhookOutcome> {
  try {
    const { status } = await outbound.safeFetch({
      url: target.url,
      method: 'POST',
      headers: {
        ...target.headers,
        'content-type': 'application/json',
        'x-mddb-event': event,
        'x-mddb-webhook-id': target.hook,
        ...signedHeaders(id, Math.floor(Date.now() / 1000), body, target.secrets),
      },
      body,
      msMax: POST_MS_MAX,
      bytesMax: ANSWER_BYTES_MAX,
      cut: true,
      redirectsMax: 0,
      connections,
    })
    return { number, httpStatus: status, error: status >= 200 && status < 300 ? '' : `answered ${status}` }
  } catch (error) {
    return { number, httpStatus: 0, error: reasonOf(error).slice(0, ERROR_LENGTH_MAX) }
  }
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const { code } = error as NodeJS.ErrnoException
  return error.message || code || error.name
}
