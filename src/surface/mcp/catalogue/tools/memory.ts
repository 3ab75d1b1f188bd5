/** Tools of conversational memory. Pure data. */
import type { ToolDefinition } from '../tool.js'
import { maxTokens } from './common.js'

type Json = Readonly<Record<string, unknown>>

/** A message once, without the fields of its document. */
function plainMessages(answer: unknown): object {
  const { messages, ...rest } = answer as { readonly messages: readonly Json[] }
  return {
    messages: messages.map(({ messageId, role, content, createdAt }) => ({ messageId, role, content, createdAt })),
    ...rest,
  }
}

/** A message with its rank, without the fields of its document. */
function plainHits(answer: unknown): object {
  const { results, ...rest } = answer as { readonly results: readonly (Json & { readonly document: Json })[] }
  return {
    results: results.map(({ document: { id, contentMd, addedAt }, ...hit }) => ({
      messageId: id,
      content: contentMd,
      createdAt: addedAt,
      ...hit,
    })),
    ...rest,
  }
}

export const memoryTools: readonly ToolDefinition[] = [
  {
    name: 'memory_start_session',
    title: 'Start a conversation',
    description:
      'Starts a session that remembers a conversation with a user, and returns its session_id. Call it once at the beginning of a conversation, then memory_add_message for each message.',
    class: 'WN',
    answers: 'text',
  },
  {
    name: 'memory_add_message',
    title: 'Remember a message',
    description:
      'Adds a message to a session, so that memory_recall finds it in later conversations too. Add what the user says and what you answer; role is user, assistant, system or tool.',
    class: 'WN',
    answers: 'plain',
  },
  {
    name: 'memory_recall',
    title: 'Remember what was said',
    description:
      'Finds messages of earlier conversations that match a query, best first, by words and by meaning. Use it before you answer, with the user_id of the user, to know what was said before.',
    class: 'RO',
    answers: 'text',
    without: ['alpha', 'filterMeta'],
    own: [maxTokens],
    shown: plainHits,
  },
  {
    name: 'memory_summarize',
    title: 'Summarize a conversation',
    description:
      'Stores and returns a summary of a session: a list of its messages, each cut to 200 characters. Use it to look over a long conversation; memory_session_history has the whole texts.',
    class: 'WI',
    answers: 'text',
    own: [maxTokens],
  },
  {
    name: 'memory_list_sessions',
    title: 'List conversations',
    description: 'Lists sessions, the most recently used first, with their titles and the number of their messages.',
    class: 'RO',
    answers: 'text',
    without: ['asc'],
    own: [maxTokens],
  },
  {
    name: 'memory_session_history',
    title: 'Read a conversation',
    description:
      'Returns the messages of a session in their order, the oldest first. Use it to go on with a conversation; memory_recall finds single messages in all of them.',
    class: 'RO',
    answers: 'text',
    own: [maxTokens],
    shown: plainMessages,
  },
]
