/**
 * What a session of conversational memory leaves when it ends: its messages and summaries, which are removed
 * with it. They have no expiry of their own, so that a message prolongs all others without rewriting them.
 * Write lane.
 */
import type { SearchEngine } from '../../engine/types.js'
import { MEMORY_MESSAGES, MEMORY_SUMMARIES } from '../../operations/memory/memory_collections.js'
import { type Head, textOfHead } from '../../store/head.js'
import type { View } from '../../store/view.js'
import { firstOf } from './memory_documents.js'
import { presentSession } from './ownership.js'

/** The collections whose documents belong to sessions. */
export const OF_SESSIONS = [MEMORY_MESSAGES, MEMORY_SUMMARIES] as const
const TYPES = ['message', 'summary']

/** Docids of the documents of a session, as the index has them, at most `count`. */
export function documentsOfSession(engine: SearchEngine, collection: number, sessionId: string, count: number): readonly number[] {
  const plain = { algorithm: 'bm25', k1: 1.2, b: 0.75, skip: 0, sort: 'docid', descending: false, exactTotal: false } as const
  const { hits } = engine.search({
    ...plain,
    collection,
    k: count,
    fields: [['content', 1]],
    filters: [
      ['sessionId', [sessionId]],
      ['type', TYPES],
    ],
    terms: [],
    root: { kind: 'all' },
  })
  return hits.map(({ docid }) => docid)
}

/** The session that a document of memory belongs to; undefined: it is no document of a session. */
export function sessionIdOf(head: Head): string | undefined {
  const { key, metaValues: meta } = textOfHead(head)
  const sessionId = firstOf(meta, 'sessionId')
  return sessionId !== '' && key.startsWith(`${sessionId}/`) && TYPES.includes(firstOf(meta, 'type')) ? sessionId : undefined
}

export function isEnded(view: View, sessionId: string): boolean {
  return presentSession(view, sessionId) === undefined
}
