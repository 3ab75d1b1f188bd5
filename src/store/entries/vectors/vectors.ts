/** Entries of kind `vectors`. Layout: docs/formats/entries/vectors.md. */
import { lsnKey } from '../../rows/keys.js'
import { restampVectors, setVectors } from '../../vectors/vector_tables.js'
import type { ApplyTarget, EntryBase, EntryKind, Fields } from '../entry_kind.js'
import { inCollection } from '../entry_kind.js'

/**
 * Sets the vectors of a document, or records that nothing is to be embedded. The vectors are not part of the
 * entry: they are stored in the table until a later entry replaces them.
 */
interface VectorsEntry extends EntryBase {
  readonly kind: 'vectors'
  /** LSN of the write that queued the document; its row leaves the embedding queue. 0: none. */
  readonly queued: bigint
  /** `restamp`: the vectors stay and belong to the body with this LSN from now on. */
  readonly change: VectorEntryChange
  readonly bodyLsn: bigint
}

/** In the order of the codes on disk. */
const CHANGES = ['keep', 'set', 'restamp'] as const
type VectorEntryChange = (typeof CHANGES)[number]

function decode({ lsn, collection, docid }: EntryBase, fields: Fields): VectorsEntry {
  const [queued, code, bodyLsn] = fields as [number | bigint, number, number | bigint]
  const change = CHANGES[code]
  if (change === undefined) throw new Error(`binlog entry ${lsn}: unknown change of vectors ${code}`)
  return { kind: 'vectors', lsn, collection, docid, queued: BigInt(queued), change, bodyLsn: BigInt(bodyLsn) }
}

/** @param record plaintext vectors of a `set`; undefined if a later entry has replaced them */
function apply({ environment }: ApplyTarget, entry: VectorsEntry, record: Buffer | undefined): void {
  const { collection, docid, queued, change, bodyLsn, lsn } = entry
  if (queued > 0n) environment.embedQueue.remove(lsnKey(queued))
  if (change === 'restamp') restampVectors(environment, collection, docid, bodyLsn)
  else if (change === 'set' && record !== undefined) setVectors(environment, collection, docid, lsn, record)
}

export const vectors: EntryKind<VectorsEntry> = {
  name: 'vectors',
  code: 9,
  // Vectors have their own index.
  index: 'none',
  makesCollection: false,
  isCounted: false,
  // The next entry of the document overwrites the vectors.
  keepsBody: false,
  secrecyOf: inCollection,
  encode: ({ queued, change, bodyLsn }) => [queued, CHANGES.indexOf(change), bodyLsn],
  decode,
  check: ({ queued, bodyLsn }, checks) => {
    checks.lsn('queued', queued)
    checks.lsn('bodyLsn', bodyLsn)
  },
  apply,
  addEffects: ({ queued }, effects) => {
    if (queued > 0n) effects.isQueueChanged = true
  },
}
