/** Entries of kind `expiry`. Layout: docs/formats/entries/expiry.md. */
import { moveExpiry } from '../../documents/expiry_rows.js'
import { writeHead } from '../../documents/heads.js'
import { collectionOfText, decodeHead, textOfHead } from '../../head.js'
import { countState, uncountState } from '../../tally.js'
import { changeBy } from '../document_change.js'
import type { ApplyTarget, EntryBase, EntryKind } from '../entry_kind.js'
import { inCollection } from '../entry_kind.js'

/** Changes the expiry of a document and nothing else. */
interface ExpiryEntry extends EntryBase {
  readonly kind: 'expiry'
  readonly head: Buffer
  /** Unix seconds. Undefined in entries written before it was stored. */
  readonly at?: number
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
  // Readers see another `expiresAt`, so it is an update although it makes no new state.
  changeOf: (entry) => {
    const { collection, lsn, at } = entry
    const head = decodeHead(entry.head, collection, () => `head of entry ${lsn}`)
    const text = textOfHead(head)
    const { key, lang } = text
    const collectionName = collectionOfText(text)
    return changeBy(entry, { type: 'update', collectionName, key, lang, revision: head.revision, timestamp: at })
  },
  secrecyOf: inCollection,
  encode: ({ head, at }) => [head, ...(at === undefined ? [] : [at])],
  decode: ({ lsn, collection, docid }, [head, at]) => ({
    kind: 'expiry',
    lsn,
    collection,
    docid,
    head: head as Buffer,
    ...(at === undefined ? {} : { at: at as number }),
  }),
  check: ({ head, at }, checks) => {
    checks.head(head)
    if (at !== undefined) checks.whole('at', at)
  },
  apply,
}
