/**
 * Sends one batch until the server has processed it. Waits and retries on 503 and on broken connections (an
 * add is an upsert, so it can be repeated). Halves a batch that is too large for the server. Turns every
 * refusal into a problem with the document's name. Throws only if the import cannot continue.
 */
import type { Reply } from '../client.js'
import { errorText, send } from '../client.js'
import type { DocumentItem } from '../files/document.js'
import { batchBody, type BatchTarget } from './batches.js'
import { ImportStopped, patiently, ServerBusy } from './patience.js'

export interface BatchOutcome {
  readonly added: number
  readonly updated: number
  readonly failed: number
  readonly problems: readonly string[]
}

/**
 * Statuses that concern the request itself, not a document: read-only mode, no permission, not this service.
 */
const STOPPING_STATUSES: readonly number[] = [401, 403, 404, 405]
/** @param onWait called with the reason before a request is sent again */
export async function sendBatch(
  url: string,
  target: BatchTarget,
  documents: readonly DocumentItem[],
  onWait: (reason: string) => void = () => undefined,
): Promise<BatchOutcome> {
  const reply = await sendPatiently(url, '/v1/add-batch', batchBody(target, documents), onWait)
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

/**
 * Returns a reply whose status is not 503. The request may be sent repeatedly.
 * @throws ImportStopped if the server stays busy or unreachable
 */
export function sendPatiently(url: string, path: string, body: string, onWait: (reason: string) => void): Promise<Reply> {
  return patiently(async () => {
    const reply = await send(url, 'POST', path, body)
    if (reply.status === 503) throw new ServerBusy(errorText(reply), reply.retryAfterMs)
    return reply
  }, onWait)
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
