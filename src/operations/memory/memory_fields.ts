/** Fields that rows of conversational memory have in common. Pure data. */
import { Type } from '../row/json_schema.js'
import { metaMap, optional, required, shape, text, unixSeconds, word } from '../row/schema.js'

export const MESSAGE_ROLES = ['user', 'assistant', 'system', 'tool'] as const
export const RECALL_STRATEGIES = ['hybrid', 'semantic', 'keyword'] as const

export const sessionId = text('Id of the session.', '5f0c9a4b7e1d2c3f5f0c9a4b7e1d2c3f')
export const shownSessionId = Type.String({ description: 'Id of the session.', examples: ['5f0c9a4b7e1d2c3f5f0c9a4b7e1d2c3f'] })
export const userId = text('The user whom the session belongs to. With access control on: the name of the caller.', 'alice')
const shownUserId = Type.String({ description: 'The user whom the session belongs to.', examples: ['alice'] })
export const role = word(MESSAGE_ROLES, 'Who speaks.')

/** A value alone stands for a list of one. */
export const meta = Type.Unsafe<Readonly<Record<string, string | readonly string[]>>>({
  type: 'object',
  additionalProperties: Type.Unsafe<unknown>({ anyOf: [Type.String(), Type.Array(Type.String())] }),
  description: 'Metadata: each key has a string or a list of strings.',
  examples: [{ topic: ['billing'] }],
})

export const Session = shape(
  'A session of a user.',
  {
    sessionId: required(shownSessionId, { grpc: 1 }),
    userId: required(shownUserId, { grpc: 2 }),
    scenario: optional(Type.String({ examples: ['support'] }), { grpc: 3 }),
    title: required(Type.String({ examples: ['Invoice of May'] }), { grpc: 4 }),
    meta: required(metaMap, { grpc: 5 }),
    createdAt: required(unixSeconds('Time of the start.'), { grpc: 6 }),
    updatedAt: required(unixSeconds('Time of the last message.'), { grpc: 7 }),
    expiresAt: optional(unixSeconds('When the session ends with its messages, unless a message prolongs it.'), { grpc: 8 }),
    messageCount: required(Type.Integer({ description: 'Number of messages.' }), { grpc: 9 }),
  },
  'MemorySession',
)
