/**
 * Whose sessions a caller may see and write. With access control on, callers who are no administrators are
 * held to sessions of their own name, unless the configuration shares them. A session of somebody else is
 * answered like one that does not exist, so nobody learns its id. Read lanes.
 */
import { type Authorized, isServerAdmin } from '../../access/authorize.js'
import { serviceError } from '../../errors.js'
import { MEMORY_SESSIONS } from '../../operations/memory/memory_collections.js'
import { type Head, textOfHead } from '../../store/head.js'
import type { View } from '../../store/view.js'
import { checkIdentity } from '../documents/identity.js'
import { MEMORY_LANG, type Session, sessionNotFound, sessionOf } from './memory_documents.js'

/** Name of the only user whose sessions the caller may see and write; undefined: those of all users. */
export type HeldTo = string | undefined

export function heldTo(access: Authorized, isShared: boolean): HeldTo {
  return isShared || isServerAdmin(access) ? undefined : access.principal.name
}

/** @throws ServiceError 403 for the name of another user */
export function requireOwn(held: HeldTo, userId: string): void {
  if (held !== undefined && userId !== held) throw serviceError('forbidden')
}

export interface FoundSession extends Session {
  readonly head: Head
}

/** @throws ServiceError 404 */
export function findSession(view: View, sessionId: string, held: HeldTo): FoundSession {
  checkIdentity(sessionId, MEMORY_LANG)
  const found = presentSession(view, sessionId)
  if (found === undefined || (held !== undefined && found.userId !== held)) throw sessionNotFound(sessionId)
  return found
}

/** Undefined: there is none, or it has ended. */
export function presentSession(view: View, sessionId: string): FoundSession | undefined {
  const collection = view.collection(MEMORY_SESSIONS)
  const head = collection === undefined ? undefined : view.find(collection.id, sessionId, MEMORY_LANG)
  return head === undefined ? undefined : { ...sessionOf(sessionId, textOfHead(head).metaValues), head }
}
