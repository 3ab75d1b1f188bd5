/**
 * Rows of conversational memory: sessions of a user and their messages. Whose sessions a caller may see and
 * write is decided by the handlers, not by permissions on collections. Pure data; rules in src/domain/memory.
 */
import { DEADLINE_SEARCH_MS, DEADLINE_WRITE_MS } from '../../limits/lanes.js'
import { OWN_MEMORY } from '../row/collection_access.js'
import { Type } from '../row/json_schema.js'
import { documentId, metaMap, operation, optional, required, shape, text, unixSeconds, wholeNumber, word } from '../row/schema.js'
import { meta, role, Session, sessionId, shownSessionId, userId } from './memory_fields.js'
import { recallMemory } from './recall.js'

export const startMemorySession = operation({
  name: 'startMemorySession',
  client: 'memory.startSession',
  group: 'Memory',
  boundedBy: ['DOCUMENT_BYTES_MAX'],
  protocols: { grpc: 'MemoryStartSession', graphql: null, mcp: 'memory_start_session' },
  description: 'Starts a session: a conversation of a user whose messages are remembered',
  effect: 'write',
  permission: 'write',
  collections: OWN_MEMORY,
  cost: 'write',
  http: { routes: [{ method: 'POST', path: '/v1/memory/session' }] },
  input: Type.Object({
    userId: required(userId, { grpc: 1 }),
    scenario: optional(Type.String({ description: 'What the conversation is about, to list sessions by.', examples: ['support'] }), {
      grpc: 2,
    }),
    title: optional(Type.String({ description: 'Default: `Session` and the first 8 characters of the id.' }), { grpc: 3 }),
    meta: optional(meta, { grpc: 4, grpcAs: metaMap }),
    ttl: optional(
      wholeNumber('Seconds that the session and its messages are kept after the last message. 0: for ever.', { default: 2_592_000 }),
      { grpc: { number: 5, hasPresence: true } },
    ),
  }),
  output: Session,
  errors: ['forbidden'],
  deadlineMs: DEADLINE_WRITE_MS,
  audit: 'write./v1/memory/session',
})

export const addMemoryMessage = operation({
  name: 'addMemoryMessage',
  client: 'memory.addMessage',
  group: 'Memory',
  boundedBy: ['DOCUMENT_BYTES_MAX'],
  protocols: { grpc: 'MemoryAddMessage', graphql: null, mcp: 'memory_add_message' },
  description: 'Adds a message to a session and prolongs the session',
  effect: 'write',
  permission: 'write',
  collections: OWN_MEMORY,
  cost: 'write',
  http: { routes: [{ method: 'POST', path: '/v1/memory/message' }] },
  input: Type.Object({
    sessionId: required(sessionId, { grpc: 1 }),
    role: required(Type.Unsafe<string>({ ...role, minLength: 1 }), { grpc: 2 }),
    content: required(text('Text of the message, Markdown.', 'My invoice of May is wrong.'), { grpc: 3 }),
    meta: optional(meta, { grpc: 4, grpcAs: metaMap }),
  }),
  output: shape('The message.', {
    messageId: required(documentId, { grpc: 1 }),
    sessionId: required(shownSessionId, { grpc: 2 }),
    role: required(Type.String(), { grpc: 3 }),
    createdAt: required(unixSeconds('Time of the message.'), { grpc: 4 }),
    embedded: required(Type.Boolean({ description: 'Whether the message will be found by its meaning: it is embedded next.' }), {
      grpc: 5,
    }),
  }),
  errors: ['sessionNotFound'],
  deadlineMs: DEADLINE_WRITE_MS,
  audit: 'write./v1/memory/message',
})

export const summarizeMemory = operation({
  name: 'summarizeMemory',
  client: 'memory.summarize',
  group: 'Memory',
  boundedBy: ['SUMMARY_MESSAGES_MAX'],
  protocols: { grpc: 'MemorySummarize', graphql: null, mcp: 'memory_summarize' },
  description: 'Stores a summary of a session, which lists the beginnings of its messages',
  effect: 'write',
  permission: 'write',
  collections: OWN_MEMORY,
  cost: 'write',
  http: { routes: [{ method: 'POST', path: '/v1/memory/summarize' }] },
  input: Type.Object({
    sessionId: required(sessionId, { grpc: 1 }),
    userId: optional(Type.String({ description: 'The session must be of this user.', examples: ['alice'] }), { grpc: 2 }),
  }),
  output: shape('The summary.', {
    summaryId: required(documentId, { grpc: 1 }),
    sessionId: required(shownSessionId, { grpc: 2 }),
    summary: required(Type.String({ description: 'Markdown: a list of the latest 1 000 messages, each cut to 200 characters.' }), {
      grpc: 3,
    }),
    createdAt: required(unixSeconds('Time of the summary.'), { grpc: 4 }),
    messages: required(Type.Integer({ description: 'Number of messages that it lists.' }), { grpc: 5 }),
  }),
  errors: ['sessionNotFound'],
  deadlineMs: DEADLINE_WRITE_MS,
  audit: 'write./v1/memory/summarize',
})

export const listMemorySessions = operation({
  name: 'listMemorySessions',
  client: 'memory.sessions',
  group: 'Memory',
  polledIn: 'domain/memory/memory_lists.ts',
  boundedBy: ['SESSIONS_LISTED_MAX', 'PAGE_DEPTH_MAX'],
  protocols: { grpc: 'MemoryListSessions', graphql: null, mcp: 'memory_list_sessions' },
  description: 'Lists sessions with the number of their messages',
  effect: 'read',
  permission: 'read',
  collections: OWN_MEMORY,
  cost: 'search',
  http: { routes: [{ method: 'POST', path: '/v1/memory/sessions' }] },
  input: Type.Object({
    userId: optional(Type.String({ description: 'Sessions of this user only.', examples: ['alice'] }), { grpc: 1 }),
    scenario: optional(Type.String({ description: 'Sessions of this scenario only.', examples: ['support'] }), { grpc: 2 }),
    limit: optional(wholeNumber('Maximum number of sessions. Values above 1 000 count as 1 000.', { default: 50 }), { grpc: 3 }),
    offset: optional(wholeNumber('Number of sessions to skip.', { default: 0 }), { grpc: 4 }),
    sort: optional(word(['updatedAt', 'createdAt'], 'Order of the sessions.', 'updatedAt'), { grpc: 5 }),
    asc: optional(Type.Boolean({ description: 'Oldest first.', default: false }), { grpc: 6 }),
  }),
  output: shape('A page of sessions.', {
    sessions: required(Type.Array(Session), { grpc: 1 }),
    total: required(Type.Integer({ description: 'Number of all such sessions.' }), { grpc: 2 }),
  }),
  errors: ['forbidden', 'invalidLimit', 'invalidOffset'],
  deadlineMs: DEADLINE_SEARCH_MS,
  audit: null,
})

export const memoryHistory = operation({
  name: 'memoryHistory',
  client: 'memory.history',
  group: 'Memory',
  boundedBy: ['LIMIT_MAX', 'PAGE_DEPTH_MAX'],
  protocols: { grpc: 'MemorySessionHistory', graphql: null, mcp: 'memory_session_history' },
  description: 'Lists the messages of a session in the order in which they were accepted',
  effect: 'read',
  permission: 'read',
  collections: OWN_MEMORY,
  cost: 'search',
  http: { routes: [{ method: 'POST', path: '/v1/memory/history' }] },
  input: Type.Object({
    sessionId: required(sessionId, { grpc: 1 }),
    limit: optional(wholeNumber('Maximum number of messages. Values above 10 000 count as 10 000.', { default: 100 }), { grpc: 2 }),
    offset: optional(wholeNumber('Number of messages to skip.', { default: 0 }), { grpc: 3 }),
  }),
  output: shape('A page of messages, the oldest first.', {
    messages: required(
      Type.Array(
        Type.Object(
          {
            messageId: required(documentId, { grpc: 1 }),
            sessionId: required(shownSessionId, { grpc: 2 }),
            role: required(Type.String(), { grpc: 3 }),
            content: required(Type.String({ description: 'Text of the message.' }), { grpc: 4 }),
            createdAt: required(unixSeconds('Time of the message.'), { grpc: 5 }),
            embedded: required(Type.Boolean({ description: 'Whether the message is found by its meaning.' }), { grpc: 6 }),
            id: required(documentId, { grpc: 7 }),
            key: required(Type.String({ description: 'Key of the document in `memory_messages`.' }), { grpc: 8 }),
            lang: required(Type.String(), { grpc: 9 }),
            meta: required(metaMap, { grpc: 10 }),
            contentMd: required(Type.String({ description: 'The same as `content`.' }), { grpc: 11 }),
            addedAt: required(unixSeconds('The same as `createdAt`.'), { grpc: 12 }),
            updatedAt: required(unixSeconds('Time of the last change.'), { grpc: 13 }),
            expiresAt: optional(unixSeconds('When the message expires by itself; only if it was given a TTL.'), { grpc: 14 }),
          },
          { title: 'MemoryMessage' },
        ),
      ),
      { grpc: 1 },
    ),
    total: required(Type.Integer({ description: 'Number of all messages of the session.' }), { grpc: 2 }),
  }),
  errors: ['sessionNotFound', 'invalidLimit', 'invalidOffset'],
  deadlineMs: DEADLINE_SEARCH_MS,
  audit: null,
})

export const memoryOperations = [
  startMemorySession,
  addMemoryMessage,
  recallMemory,
  summarizeMemory,
  listMemorySessions,
  memoryHistory,
] as const
