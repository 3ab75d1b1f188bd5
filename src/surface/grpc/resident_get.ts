/**
 * Gets that this thread answers itself, by the same native read as the event loops of HTTP. Others go to a
 * lane by the same call.
 */
import { performance } from 'node:perf_hooks'
import type { Principal } from '../../access/principal.js'
import type { Surface } from '../../dispatch/surface.js'
import { refusal } from '../../dispatch/answers.js'
import type { ErrorCode } from '../../errors.js'
import { get } from '../../operations/documents.js'
import type { OutgoingAnswer } from '../../wire/answer.js'
import type { CoreAnswer } from '../thread/core_client.js'
import type { RemoteCore } from '../thread/remote_core.js'
import type { Input } from './request_input.js'

interface GetOptions {
  readonly principal: Principal
  readonly deadlineMs?: number
  readonly signal: AbortSignal
}

export class ResidentGet {
  constructor(
    readonly remote: RemoteCore,
    readonly surface: Surface,
  ) {}

  /** @throws Error `cancelled` if the signal is aborted before the answer */
  ask(input: Input, { principal, deadlineMs, signal }: GetOptions): CoreAnswer | Promise<CoreAnswer> {
    const admitted = this.remote.admission.admit(get, this.surface)
    if (typeof admitted === 'string') return answerOf(refusal(admitted))
    let found: CoreAnswer | null = null
    let take: ((answer: CoreAnswer) => void) | null = null
    const handle = this.remote.submit({
      admitted,
      input: { form: 'json', head: '', params: [], body: Buffer.from(JSON.stringify(input)), mayCompress: false },
      principal,
      acceptedAt: performance.now(),
      ...(deadlineMs === undefined ? {} : { deadlineMs }),
      sink: {
        answer: (answer) => {
          found = answerOf(answer)
          take?.(found)
        },
      },
    })
    if (handle === null) return found!
    return new Promise((resolve, reject) => {
      take = resolve
      signal.addEventListener('abort', () => {
        this.remote.abandon(handle)
        reject(new Error('cancelled'))
      })
    })
  }
}

/** The body of an outgoing answer is valid during this call only. */
function answerOf({ code, contentType, facts, body }: OutgoingAnswer): CoreAnswer {
  const copy = Buffer.from(body as Uint8Array)
  return {
    kind: 'answer',
    id: 0,
    code: code satisfies ErrorCode | null,
    contentType,
    facts,
    isCompressed: false,
    body: copy,
    isPage: false,
    hasMore: false,
  }
}
