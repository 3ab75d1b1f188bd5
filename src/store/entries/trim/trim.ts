/** Entries of kind `trim`. Layout: docs/formats/entries/trim.md. */
import { writeHead } from '../../documents/heads.js'
import { removeRevisionsBelow } from '../../documents/revision_removal.js'
import { decodeHead, HEAD_FLAGS } from '../../head.js'
import { countState, uncountState } from '../../tally.js'
import type { ApplyTarget, EntryBase, EntryKind } from '../entry_kind.js'
import { inCollection } from '../entry_kind.js'

/**
 * Removes superseded states with a number below `trimBelow`. The head is the same state as before, but may no
 * longer count as a revision.
 */
interface TrimEntry extends EntryBase {
  readonly kind: 'trim'
  readonly head: Buffer
  readonly trimBelow: number
}

function apply(target: ApplyTarget, entry: TrimEntry): void {
  const { environment } = target
  const { collection, docid } = entry
  const old = target.heads.evenExpired(collection, docid)
  if (old === undefined) return
  const head = decodeHead(entry.head, collection, () => `head of entry ${entry.lsn}`)
  const counters = target.counters(collection)
  if ((old.flags & HEAD_FLAGS.revision) !== 0 && (head.flags & HEAD_FLAGS.revision) === 0) counters.revisions--
  uncountState(counters, old)
  countState(counters, head)
  writeHead(environment, collection, docid, entry.head)
  removeRevisionsBelow(environment, target.revisions, counters, entry)
}

export const trim: EntryKind<TrimEntry> = {
  name: 'trim',
  code: 7,
  index: 'none',
  makesCollection: false,
  isCounted: true,
  keepsBody: true,
  secrecyOf: inCollection,
  encode: ({ head, trimBelow }) => [head, trimBelow],
  decode: ({ lsn, collection, docid }, [head, trimBelow]) => ({
    kind: 'trim',
    lsn,
    collection,
    docid,
    head: head as Buffer,
    trimBelow: trimBelow as number,
  }),
  check: ({ head, trimBelow }, checks) => {
    checks.head(head)
    checks.whole('trimBelow', trimBelow)
  },
  apply,
}
