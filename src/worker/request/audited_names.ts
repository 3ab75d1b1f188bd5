/**
 * What the audit event of a request names of its input: collections, and the document. The log is plaintext
 * and leaves the machine by its exporters, so it has no key of an encrypted collection, but a keyed hash of
 * it: equal for the events of one document, and to be computed again by those who have the master key (`key`
 * of `GET /v1/audit`). Lane threads.
 */
import { AUDIT_COLLECTIONS_MAX } from '../../limits/audit.js'
import type { Operation } from '../../operations/operation.js'
import { CorruptRecord } from '../../store/record.js'
import type { View } from '../../store/view.js'
import type { AuditedNames } from '../../wire/request_codec.js'
import type { LaneContext } from './handler.js'
import type { Input } from './input.js'

/** @param collections that the input names */
export function auditedNames(
  operation: Operation,
  input: Input,
  collections: readonly string[],
  { store, config }: LaneContext,
): AuditedNames {
  const named = collections.slice(0, AUDIT_COLLECTIONS_MAX)
  const { key } = input
  if (operation.collections.kind === 'server' || typeof key !== 'string' || key === '') return { collections: named, key: '' }
  return { collections: named, key: config.encryption === null ? key : store.read((view) => shownKey(view, named, key)) }
}

/** A key that may be that of an encrypted collection, but whose row can't be read, is not shown. */
function shownKey(view: View, collections: readonly string[], key: string): string {
  try {
    for (const name of collections) {
      const collection = view.collection(name)
      const hash = collection === undefined ? undefined : view.hashOfKey(collection.id, key)
      if (hash !== undefined) return hash
    }
    return key
  } catch (error) {
    if (error instanceof CorruptRecord) return ''
    throw error
  }
}
