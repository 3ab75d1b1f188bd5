/**
 * Emits the audit events of all requests of every surface in one place. An event has the action of the
 * operation's row, the actor and the result. Without listeners the cost is one check. Front-end thread only.
 */
import { isInternal } from '../operations/operation.js'
import { emitAuditEvent, isAuditWanted } from '../telemetry/audit.js'
import type { OutgoingAnswer } from '../wire/answer.js'
import type { DispatchRequest } from './ticket.js'

export class AuditTrail {
  /** @returns the request with a sink that emits the event when the request is answered */
  watch(request: DispatchRequest): DispatchRequest {
    const { operation } = request.admitted
    if (!isAuditWanted() || isInternal(operation) || operation.audit === null) return request
    const { audit, auditDetail } = operation
    const { sink, principal } = request
    return {
      ...request,
      sink: {
        answer: (answer) => {
          const detail = auditDetail === undefined ? undefined : detailOf(answer, auditDetail)
          emitAuditEvent({ action: audit, actor: principal.name, result: answer.code === null ? 'ok' : 'fail', detail })
          sink.answer(answer)
        },
      },
    }
  }
}

/** Returns a field of a JSON answer if its value is a string. */
function detailOf({ code, body }: OutgoingAnswer, field: string): string | undefined {
  if (code !== null) return undefined
  const parsed = JSON.parse(typeof body === 'string' ? body : Buffer.from(body).toString()) as Readonly<Record<string, unknown>>
  const value = parsed[field]
  return typeof value === 'string' ? value : undefined
}
