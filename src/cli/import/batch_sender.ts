/**
 * Sends one batch until the server has processed it. Waits and retries on 503 and on broken connections (an
 * add is an upsert, so it can be repeated). Halves a batch that is too large for the server. Turns every
 * refusal into a problem with the document's name. Throws only if the import cannot continue.
 */
import { setTimeout as wait } from 'node:timers/promises'
import type { Reply } from '../client.js'
import { ConnectionError, errorText, send } from '../client.js'
import type { DocumentItem } from '../files/document.js'
import { batchBody, type BatchTarget } from './batches.js'

/**
 * Sends of one batch before an import gives up. Waits of 0.25 s, doubled up to 8 s, add up to about 40 s,
 * longer than a restart.
 */
const IMPORT_ATTEMPTS_MAX = 10
/** Longest wait before a request is sent again, whatever `Retry-After` requests. */
const IMPORT_RETRY_WAIT_MS_MAX = 8_000

export interface BatchOutcome {
  readonly added: number
  readonly updated: number
  readonly failed: number
  readonly problems: readonly string[]
}

/** The import cannot continue: every further batch would be refused as well, or the server is unreachable. */
export class ImportStopped extends Error {}

/**
 * Statuses that concern the request itself, not a document: read-only mode, no permission, not this service.
 */
const STOPPING_STATUSES: readonly number[] = [401, 403, 404, 405]
/**
 * Wait after the first attempt to send a batch. It doubles with each further one, up to
 * IMPORT_RETRY_WAIT_MS_MAX.
 */
const FIRST_WAIT_MS = 250

/** @param onWait called with the reason before a request is sent again */
export async function sendBatch(
  url: string,
  target: BatchTarget,
  documents: readonly DocumentItem[],
  onWait: (reason: string) => void = () => undefined,
): Promise<BatchOutcome> {
  const reply = await sendPatiently(url, batchBody(target, documents), onWait)
  if (reply.status === 200) return readOutcome(reply, documents)
  if (STOPPING_STATUSES.includes(reply.status)) throw new ImportStopped(`the server answers ${reply.status}: ${errorText(reply)}`)
  if (documents.length === 1) {
    return { added: 0, updated: 0, failed: 1, problems: [`${documents[0]?.name}: ${errorText(reply)}`] }
  }
  // Too large, or refused as a whole: halving finds the document. The recursion depth is the logarithm of the
  // batch size.
  const middle = documents.length >> 1
  const first = await sendBatch(url, target, documents.slice(0, middle), onWait)
  const second = await sendBatch(url, target, documents.slice(middle), onWait)
  return {
    added: first.added + second.added,
    updated: first.updated + second.updated,
    failed: first.failed + second.failed,
    problems: [...first.problems, ...second.problems],
  }
}

/** Returns a reply whose status is not 503. */
async function sendPatiently(url: string, body: string, onWait: (reason: string) => void): Promise<Reply> {
  for (let attempt = 1; ; attempt += 1) {
    const backoffMs = FIRST_WAIT_MS * 2 ** (attempt - 1)
    let reason: string
    let waitMs = backoffMs
    try {
      const reply = await send(url, 'POST', '/v1/add-batch', body)
      if (reply.status !== 503) return reply
      reason = `the server answers 503: ${errorText(reply)}`
      waitMs = Math.max(backoffMs, reply.retryAfterMs ?? 0)
    } catch (error) {
      if (!(error instanceof ConnectionError)) throw error
      reason = error.message
    }
    if (attempt === IMPORT_ATTEMPTS_MAX) throw new ImportStopped(`${reason} (tried ${attempt} times)`)
    onWait(reason)
    await wait(Math.min(waitMs, IMPORT_RETRY_WAIT_MS_MAX))
  }
}

/** @throws ImportStopped if the response is not from this service */
function readOutcome(reply: Reply, documents: readonly DocumentItem[]): BatchOutcome {
  let answer: Record<string, unknown>
  try {
    answer = JSON.parse(reply.text) as Record<string, unknown>
  } catch {
    throw new ImportStopped('the answer to add-batch is not JSON; is this the right address?')
  }
  const { added, updated, failed, errors } = answer
  if (typeof added !== 'number' || typeof updated !== 'number' || typeof failed !== 'number') {
    throw new ImportStopped('the answer to add-batch has no counters; is this the right address?')
  }
  const problems = Array.isArray(errors) ? errors.map((error) => (typeof error === 'string' ? error : JSON.stringify(error))) : []
  if (failed > 0 && problems.length === 0) problems.push(`${failed} documents between ${documents[0]?.name} and ${documents.at(-1)?.name}`)
  return { added, updated, failed, problems }
}
