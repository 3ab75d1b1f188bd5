/**
 * What a walk through the heads of a collection has counted so far. Where the walk takes several snapshots
 * the write lane corrects it: what is written below the place where the walk stands has been counted, what is
 * written above will be.
 */
/** What is counted of a collection. */
export interface Counted {
  documents: number
  revisions: number
  metaTriples: number
  /** XOR of the content hashes of all documents. */
  checksum: number
}

export const TALLIED = ['documents', 'revisions', 'metaTriples', 'checksum'] as const

export class Tally {
  readonly counted = { documents: 0, revisions: 0, metaTriples: 0, checksum: 0 }
  /** Documents below have been counted. */
  nextDocid = 0
  /** False: not everything could be counted, or corrected. */
  isComplete = true

  constructor(readonly collection: number) {}

  add(documents: number, revisions: number, metaTriples: number, contentHash: number): void {
    const { counted } = this
    counted.documents += documents
    counted.revisions += revisions
    counted.metaTriples += metaTriples
    counted.checksum = (counted.checksum ^ contentHash) >>> 0
  }

  /** A write has changed the counters, because of one document. */
  correct(docid: number, before: Readonly<Counted>, after: Readonly<Counted>): void {
    if (docid >= this.nextDocid) return
    const { documents, revisions, metaTriples, checksum } = before
    this.add(after.documents - documents, after.revisions - revisions, after.metaTriples - metaTriples, after.checksum ^ checksum)
  }
}
