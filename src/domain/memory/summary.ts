/**
 * The summary of a session: an extract, which lists the beginnings of its messages. Nothing is generated, so
 * it says nothing that was not said. Read lanes.
 */
import type { SearchEngine } from '../../engine/types.js'
import { badRequest, type ServiceError } from '../../errors.js'
import { unescapeContent } from '../../store/body.js'
import { textOfHead } from '../../store/head.js'
import type { View } from '../../store/view.js'
import { readingAll } from '../documents/wanted_bodies.js'
import { firstOf } from './memory_documents.js'
import { messagesOf } from './memory_lists.js'

/** The latest messages of a session that a summary lists: 200 KB of text. */
const SUMMARY_MESSAGES_MAX = 1000
/** Characters of each. Fixed by the contract. */
const SUMMARY_MESSAGE_CHARS = 200

/** What a summary is made of. */
interface Extract {
  readonly summary: string
  /** Number of messages that it lists. */
  readonly messages: number
}

/** Docids of the latest messages of a session, the oldest first. @param messages the collection */
export function latestMessages(engine: SearchEngine, messages: number, sessionId: string): readonly number[] {
  const plain = { algorithm: 'bm25', k1: 1.2, b: 0.75, skip: 0, sort: 'docid', descending: true, exactTotal: false } as const
  const { hits } = engine.search({
    ...plain,
    collection: messages,
    k: SUMMARY_MESSAGES_MAX,
    fields: [['content', 1]],
    filters: messagesOf(sessionId),
    terms: [],
    root: { kind: 'all' },
  })
  return hits.map(({ docid }) => docid).reverse()
}

/** @throws ServiceError 400 where there are none; BodiesWanted */
export function extractOf(view: View, messages: number, docids: readonly number[]): Extract {
  const lines = readingAll(
    view,
    messages,
    () => docids,
    () =>
      docids.flatMap((docid) => {
        const head = view.head(messages, docid)
        if (head === undefined) return []
        const role = firstOf(textOfHead(head).metaValues, 'role')
        return [`- **${role}**: ${beginningOf(unescapeContent(view.escapedContent(head)))}`]
      }),
  )
  if (lines.length === 0) throw noMessages()
  return { summary: lines.join('\n'), messages: lines.length }
}

/** Of a session without messages. */
export function noMessages(): ServiceError {
  return badRequest('no messages found for session')
}

/** In one line, so that the list stays one. */
function beginningOf(content: string): string {
  const line = content
    .slice(0, SUMMARY_MESSAGE_CHARS * 4)
    .replaceAll(/\s+/g, ' ')
    .trim()
  const chars = [...line]
  const isWhole = chars.length <= SUMMARY_MESSAGE_CHARS && content.length <= SUMMARY_MESSAGE_CHARS * 4
  return isWhole ? line : `${chars.slice(0, SUMMARY_MESSAGE_CHARS).join('')}…`
}
