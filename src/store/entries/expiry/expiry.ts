/** Entries of kind `expiry`. Layout: docs/formats/entries/expiry.md. */
import { moveExpiry } from '../../documents/expiry_rows.js'
import { writeHead } from '../../documents/heads.js'
import { decodeHead } from '../../head.js'
import { countState, uncountState } from '../../tally.js'
import type { ApplyTarget, EntryBase, EntryKind } from '../entry_kind.js'
import { inCollection } from '../entry_kind.js'

/** Changes the expiry of a document and nothing else. */
interface ExpiryEntry extends EntryBase {
  readonly kind: 'expiry'
  readonly head: Buffer
}

function apply(target: ApplyTarget, entry: ExpiryEntry): void {
  const { environment, heads } = target
  const { collection, docid } = entry
  const head = decodeHead(entry.head, collection, () => `head of entry ${entry.lsn}`)
  const old = heads.evenExpired(collection, docid)
  if (old !== undefined) {
    const counters = target.counters(collection)
    uncountState(counters, old)
    countState(counters, head)
  }
  writeHead(environment, collection, docid, entry.head)
  moveExpiry(environment, collection, docid, old?.expiresAt ?? 0, head.expiresAt)
}

export const expiry: EntryKind<ExpiryEntry> = {
  name: 'expiry',
  code: 1,
  index: 'document',
  makesCollection: false,
  isCounted: true,
  keepsBody: true,
  secrecyOf: inCollection,
  encode: ({ head }) => [head],
  decode: ({ lsn, collection, docid }, [head]) => ({ kind: 'expiry', lsn, collection, docid, head: head as Buffer }),
  check: ({ head }, checks) => checks.head(head),
  apply,
}
