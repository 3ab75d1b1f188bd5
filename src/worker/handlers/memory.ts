/**
 * Handlers of conversational memory; the rules are in src/domain/memory. Sessions and messages are prepared
 * here like all documents and decided on the write lane.
 */
import { type Command, type MemoryCommand, type UpdateCommand } from '../../domain/commands.js'
import { requireText } from '../../domain/documents/metadata.js'
import { vectorsOfTexts, vectorsOfTextsIfAny } from '../../domain/embedding/text_vectors.js'
import { MEMORY_LANG, messageDraft, sessionDraft, sessionNotFound, summaryDraft } from '../../domain/memory/memory_documents.js'
import { listMessages, listSessions } from '../../domain/memory/memory_lists.js'
import { findSession, type FoundSession, heldTo, requireOwn } from '../../domain/memory/ownership.js'
import { recall } from '../../domain/memory/recall.js'
import { readRecall, type RecallRequest, requireRole } from '../../domain/memory/recall_request.js'
import { extractOf, latestMessages, noMessages } from '../../domain/memory/summary.js'
import { algorithmOf } from '../../domain/vectors/vector_request.js'
import { prepareUpdate } from '../../domain/writes/changes.js'
import { prepareDocument } from '../../domain/writes/preparation.js'
import { addMemoryMessage, listMemorySessions, memoryHistory, startMemorySession, summarizeMemory } from '../../operations/memory/memory.js'
import { MEMORY_MESSAGES, MEMORY_SESSIONS, MEMORY_SUMMARIES } from '../../operations/memory/memory_collections.js'
import { recallMemory } from '../../operations/memory/recall.js'
import type { InputOf } from '../../operations/row/operation.js'
import type { View } from '../../store/view.js'
import type { Answer } from '../../wire/answer.js'
import type { StoreFirst } from '../../wire/messages/messages.js'
import { type BoundHandler, type LaneContext, prepare, read, type RequestContext } from '../request/handler.js'
import { commandOf } from '../request/storage.js'
import { rulesOf } from './documents.js'

export const memoryHandlers: readonly BoundHandler[] = [
  prepare(startMemorySession, startSession),
  prepare(addMemoryMessage, addMessage),
  read(recallMemory, answerRecall),
  prepare(summarizeMemory, summarize),
  read(listMemorySessions, (lane, input, request) => ({ body: listSessions(lane, input, heldOf(lane, request), request) })),
  read(memoryHistory, (lane, input, request) => ({ body: listMessages(lane, input, heldOf(lane, request), request) })),
]

function heldOf({ config }: LaneContext, { access }: RequestContext): string | undefined {
  return heldTo(access, config.memoryShared)
}

function startSession(lane: LaneContext, input: InputOf<typeof startMemorySession>, request: RequestContext): Command | StoreFirst {
  requireOwn(heldOf(lane, request), input.userId)
  // The state of a session changes with each message: no revisions are kept.
  const document = prepared(lane, MEMORY_SESSIONS, { ...sessionDraft(input, Date.now()), saveRevision: false })
  const answer = { kind: 'session', fields: {} } as const
  return commandOf(lane, { kind: 'memory', collection: MEMORY_SESSIONS, document, session: null, touch: null, answer })
}

function addMessage(lane: LaneContext, input: InputOf<typeof addMemoryMessage>, request: RequestContext): Command | StoreFirst {
  const { role } = input
  requireRole(role)
  const held = heldOf(lane, request)
  const { session, touch } = lane.store.read((view) => {
    const found = findSession(view, input.sessionId, held)
    return { session: found, touch: touchOf(lane, view, found) }
  })
  const { sessionId, userId } = session
  const document = prepared(lane, MEMORY_MESSAGES, { ...messageDraft(session, input, Date.now()), saveRevision: true })
  return commandOf(lane, {
    kind: 'memory',
    collection: MEMORY_MESSAGES,
    document,
    session: { sessionId, userId },
    touch,
    answer: { kind: 'message', fields: { sessionId, role, embedded: document.embeds === true } },
  })
}

function summarize(lane: LaneContext, input: InputOf<typeof summarizeMemory>, request: RequestContext): Command | StoreFirst {
  const held = heldOf(lane, request)
  if (input.userId) requireOwn(held, input.userId)
  const session = lane.store.read((view) => findSession(view, input.sessionId, held))
  const { sessionId, userId } = session
  if (input.userId && input.userId !== userId) throw sessionNotFound(sessionId)
  const messages = lane.collections.find(MEMORY_MESSAGES)?.id
  if (messages === undefined) throw noMessages()
  const docids = latestMessages(lane.engine, messages, sessionId)
  const extract = lane.store.read((view) => extractOf(view, messages, docids))
  return commandOf(lane, {
    kind: 'memory',
    collection: MEMORY_SUMMARIES,
    document: prepared(lane, MEMORY_SUMMARIES, { ...summaryDraft(session, extract, Date.now()), saveRevision: true }),
    session: { sessionId, userId },
    touch: null,
    answer: { kind: 'summary', fields: { sessionId, ...extract } },
  })
}

type PreparedMemory = Omit<Parameters<typeof prepareDocument>[1], 'rules' | 'answered'>

function prepared(lane: LaneContext, collection: string, draft: PreparedMemory): MemoryCommand['document'] {
  requireText(draft.contentMd, draft.meta)
  return prepareDocument(lane, { ...draft, rules: rulesOf(lane, collection), answered: false })
}

/** The session with a new time of its last change, and prolonged. */
function touchOf(lane: LaneContext, view: View, { sessionId, ttl, head }: FoundSession): UpdateCommand {
  const change = { meta: null, contentMd: null, ttl: ttl > 0 ? ttl : null, saveRevision: false }
  return {
    kind: 'update',
    collection: MEMORY_SESSIONS,
    key: sessionId,
    lang: MEMORY_LANG,
    replaces: { meta: false, contentMd: false },
    ...prepareUpdate(lane, view, head, change),
  }
}

/** By words alone where there is no provider or it is unavailable, unless only meanings are asked for. */
function answerRecall(lane: LaneContext, input: InputOf<typeof recallMemory>, request: RequestContext): Answer {
  const held = heldOf(lane, request)
  const { userId, sessionId } = input
  if (userId) requireOwn(held, userId)
  if (sessionId) lane.store.read((view) => findSession(view, sessionId, held))
  const messages = lane.collections.find(MEMORY_MESSAGES)
  const config = messages?.settings.config
  const algorithm = algorithmOf(config, lane.config.vectorDefaultAlgorithm)
  const asked = readRecall(input, userId || held, lane.config, algorithm, config?.retrieval)
  return { body: recall(lane, asked, vectorOf(lane, asked), messages, request) }
}

/** @throws ServiceError 400 without a provider where only meanings are asked for; EmbeddingsWanted */
function vectorOf(lane: LaneContext, { strategy, words, fusion }: RecallRequest): Float32Array | undefined {
  if (strategy === 'semantic') return vectorsOfTexts(lane, [words.text], 'query').vectors[0]
  if (strategy === 'keyword' || (fusion.kind === 'rrf' && fusion.alpha === 0)) return undefined
  return vectorsOfTextsIfAny(lane, [words.text], 'query')?.vectors[0]
}
