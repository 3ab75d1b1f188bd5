/**
 * The change feed as an async iterator. A stream that breaks off is resumed behind the last event: nothing is
 * missing, and nothing comes twice, but for the ends of jobs, which may.
 */
import { MdsConnectionError, MdsError, MdsTimeoutError } from './errors.js'
import { type Document, ROUTES, type WatchChangesInput } from './generated.js'
import { textsOf } from './lines.js'
import type { CallOptions } from './options.js'
import type { Transport } from './transport.js'

export interface DocumentChange {
  /** Where a later call goes on, as its `since`. */
  readonly id: string
  readonly event: 'doc.added' | 'doc.updated' | 'doc.deleted'
  readonly type: 'insert' | 'update' | 'delete'
  readonly collection: string
  /** Empty: all documents of the collection were deleted with it. */
  readonly key: string
  readonly lang: string
  /** Unix seconds. */
  readonly timestamp: number
  /** With `include: 'document'`, unless it was deleted since. */
  readonly document?: Document
  /** The document is too large for an event: get it. */
  readonly documentTooLarge?: true
  /** Of a deleted collection. */
  readonly detail?: { readonly deletedCount: number }
}

export interface JobChange {
  readonly event: 'job.started' | 'job.progress' | 'job.completed' | 'job.failed' | 'job.cancelled'
  readonly timestamp: number
  /** As the job is shown by `ingestJobs.get`. */
  readonly job: Readonly<Record<string, unknown>>
}

/** Changes were missed: the server does not have them any more, or was restored. Read everything again. */
export interface ChangesReset {
  readonly id: string
  readonly event: 'reset'
  readonly oldestLsn: number
  readonly lastLsn: number
}

export type Change = DocumentChange | JobChange | ChangesReset

const RESUME_MS_MIN = 100
const RESUME_MS_MAX = 5_000
/** Statuses of a server, or a proxy, that may serve the stream soon. */
const PASSING: readonly number[] = [429, 502, 503, 504]

/**
 * Ends by its caller, by the signal, or by an error that does not pass. The first connection is not waited
 * for.
 */
export async function* changesOf(
  transport: Transport,
  input: WatchChangesInput,
  options: CallOptions = {},
): AsyncGenerator<Change, void, undefined> {
  let since = input.since ?? undefined
  let isOpened = false
  let failures = 0
  for (;;) {
    let retryMs = 0
    try {
      const answer = await transport.open(ROUTES.watchChanges, { ...input, since }, options)
      isOpened = true
      for await (const block of textsOf(answer, '\n\n')) {
        const fields = fieldsOf(block)
        failures = 0
        since = fields.get('id') ?? since
        retryMs = Number(fields.get('retry') ?? retryMs)
        const data = fields.get('data')
        if (data !== undefined) yield changeOf(data, fields.get('id'))
      }
    } catch (error) {
      if (!isOpened || !isPassing(error)) throw error
    }
    failures += 1
    await pause(Math.max(retryMs, Math.min(RESUME_MS_MAX, RESUME_MS_MIN * 2 ** failures) * Math.random()), options.signal)
  }
}

function isPassing(error: unknown): boolean {
  if (error instanceof MdsConnectionError || error instanceof MdsTimeoutError) return true
  return error instanceof MdsError && PASSING.includes(error.status)
}

/** The last block of a stream that broke off has no data, or only a part of it. */
function changeOf(data: string, id: string | undefined): Change {
  try {
    return { ...(id === undefined ? {} : { id }), ...(JSON.parse(data) as object) } as Change
  } catch (cause) {
    throw new MdsConnectionError(cause)
  }
}

function fieldsOf(block: string): ReadonlyMap<string, string> {
  const lines = block.split('\n').filter((line) => line.indexOf(': ') > 0)
  return new Map(lines.map((line) => [line.slice(0, line.indexOf(': ')), line.slice(line.indexOf(': ') + 2)] as const))
}

async function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  signal?.throwIfAborted()
  await new Promise<void>((resolve) => {
    const end = (): void => {
      clearTimeout(timer)
      signal?.removeEventListener('abort', end)
      resolve()
    }
    const timer = setTimeout(end, ms)
    signal?.addEventListener('abort', end)
  })
  signal?.throwIfAborted()
}
