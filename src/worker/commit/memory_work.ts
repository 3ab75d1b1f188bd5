/**
 * The work of the write lane for a document of conversational memory. A message and the touch of its session
 * are one piece of work: whoever reads sees both or neither, also after a crash. Write lane only.
 */
import type { MemoryAnswer, MemoryCommand } from '../../domain/commands.js'
import type { PutDecision } from '../../domain/decision.js'
import { sessionNotFound, type ShownHead, showSession } from '../../domain/memory/memory_documents.js'
import { presentSession } from '../../domain/memory/ownership.js'
import type { WriteTransaction } from '../../store/apply.js'
import type { CommitAnswer } from '../request/handler.js'
import { decideChange } from './change_work.js'
import { carryOut, type CommitTools, decideChecked, jsonAnswer, single, type Work } from './commit_work.js'

export function memoryWork(tools: CommitTools, command: MemoryCommand): Work {
  return single((transaction, effects) => {
    const { collection, document, session, touch, answer } = command
    if (session !== null) requireSession(transaction, session)
    // Refuses before anything is applied. What it has decided has the LSN that the document gets.
    const touched = touch === null ? undefined : decideChange(tools, transaction, touch)
    const decision = decideChecked(tools, transaction, collection, document)
    carryOut(transaction, effects, decision.steps)
    if (touch !== null && touched !== undefined) {
      // Nothing that decides about it has changed since, but for the LSN.
      carryOut(transaction, effects, decideChecked(tools, transaction, touch.collection, touched.document).steps)
    }
    return answerOf(answer, decision)
  })
}

/** @throws ServiceError 404: it has ended since the command was prepared, or is another one of its name */
function requireSession({ view }: WriteTransaction, { sessionId, userId }: NonNullable<MemoryCommand['session']>): void {
  if (presentSession(view, sessionId)?.userId !== userId) throw sessionNotFound(sessionId)
}

function answerOf({ kind, fields }: MemoryAnswer, { headJson }: PutDecision): CommitAnswer {
  const head = JSON.parse(`${headJson.toString('utf8')}}`) as ShownHead
  switch (kind) {
    case 'session':
      return jsonAnswer(showSession(head, 0))
    case 'message':
      return jsonAnswer({ messageId: head.id, ...fields, createdAt: head.addedAt })
    case 'summary':
      return jsonAnswer({ summaryId: head.id, ...fields, createdAt: head.updatedAt })
  }
}
