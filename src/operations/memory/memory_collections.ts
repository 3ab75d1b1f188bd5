/**
 * The collections of conversational memory. What a user may do with all collections (`*`) does not include
 * them, because they have the conversations of everybody. Pure data; any thread.
 */
import { lowerCase } from '../row/lower_case.js'

export const MEMORY_SESSIONS = 'memory_sessions'
export const MEMORY_MESSAGES = 'memory_messages'
export const MEMORY_SUMMARIES = 'memory_summaries'

const PREFIX = 'memory_'

/** @param collection in any case */
export function isOfMemory(collection: string): boolean {
  return lowerCase(collection.slice(0, PREFIX.length)) === PREFIX
}
