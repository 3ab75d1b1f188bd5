/**
 * Answers the operations of the audit log on the front end, for their lanes: asks the thread of the log.
 * Front-end thread.
 */
import { refusal, successOf } from '../dispatch/answers/answers.js'
import type { Dispatcher } from '../dispatch/dispatcher.js'
import { auditEvents, auditExporters } from '../operations/access/audit.js'
import type { OutgoingAnswer } from '../wire/answer.js'
import type { AuditQuestion } from '../wire/messages/audit_messages.js'
import type { AuditLog } from './audit_log.js'

export function answerAuditQuestions(dispatcher: Pick<Dispatcher, 'onIo'>, audit: AuditLog): void {
  const answer = async (question: AuditQuestion): Promise<OutgoingAnswer> => {
    const found = await audit.ask(question)
    if (found === null) return refusal('overloaded')
    const { events, exporters } = found
    if (question.kind === 'exporters') return successOf(JSON.stringify({ exporters, count: exporters.length }))
    // The events are JSON already. Parsing them would lose the last digits of their times.
    return successOf(`{"events":[${events.join(',')}],"count":${events.length},"dropped":${audit.dropped}}`)
  }
  for (const row of [auditEvents, auditExporters]) dispatcher.onIo<AuditQuestion>(row, answer, { commits: false })
}
