/**
 * Gives every document its content hash after an upgrade (store/hash_upgrade.ts). A collection shows its
 * checksums once all of its documents have one. Each round reads and hashes some documents in a view, then
 * stores the hashes in one transaction, as ordinary work in the write lane's queue. Nothing but the heads
 * says what is left, so a kill loses only the round under way. Bodies are fetched from object stores only
 * after a pass over everything else, which therefore never waits for the network. Write lane only.
 */
import { Chore, type Rest } from '../../chore.js'
import { Failures } from '../../consumers/rebuild.js'
import { MIB } from '../../limits/units.js'
import type { WriteTransaction } from '../../store/apply.js'
import { contentHash } from '../../store/document_hash.js'
import type { HashedDocument } from '../../store/hash_upgrade.js'
import { textOfHead } from '../../store/head.js'
import { noteDamage } from '../../store/rows/noted_damage.js'
import type { View } from '../../store/view.js'
import { log } from '../../telemetry/log.js'
import type { Work } from '../commit/commit_work.js'
import { DONE, type LaneWork } from './lane_work.js'
import { ObjectFetching } from './object_fetching.js'

/** Bytes of contents that are hashed in one round. */
const HASH_UPGRADE_BYTES_MAX = 4 * MIB

const NOTICE = 'documents are not in the checksum of their collection yet'

/** One pass through the documents of the collections that lack hashes. */
interface Pass {
  /** Ids; the present one is at the end. */
  readonly collections: number[]
  /** The next slice begins with it. */
  docidFirst: number
  /** Documents of that slice that lacked objects when it was read last. */
  leftBefore: number
  readonly fetching: ObjectFetching
}

export function hashUpgrade({ lane, tools, enqueue }: LaneWork): Chore {
  const { store } = lane
  const { HASH_UPGRADE_DOCUMENTS_MAX: documentsMax, HASH_UPGRADE_RETRY_MS: retryMs } = lane.config.limits
  const isWanted = store.read(unhashedCollections).length > 0
  let pass: Pass | undefined
  /** False during the first pass. */
  let mayFetch = false
  /** @returns the milliseconds that it worked, without the wait for objects */
  const hashSlice = async (at: Pass, collection: number, signal: AbortSignal): Promise<number> => {
    const begun = performance.now()
    const { fetching } = at
    const slice = store.read((view) => hashDocuments(view, collection, at.docidFirst, documentsMax, new Failures(fetching.lost)))
    const { hashed, failures, left, nextDocid } = slice
    if (mayFetch) for (const reason of failures.damaged) log.error(NOTICE, { reason })
    if (hashed.length > 0) await enqueue(storing(collection, hashed))
    const workedMs = performance.now() - begun
    const isFetched = mayFetch && left > 0 && left < at.leftBefore && (await fetching.obtain(failures.lacking, signal))
    at.leftBefore = isFetched ? left : Infinity
    // What was fetched is cached now: the same documents are read again.
    if (isFetched) return workedMs
    if (nextDocid === undefined) at.collections.pop()
    at.docidFirst = nextDocid ?? 1
    return workedMs
  }
  return new Chore(tools, {
    name: 'hash-upgrade',
    first: isWanted ? 0 : 'idle',
    failure: NOTICE,
    round: async (signal): Promise<Rest> => {
      pass ??= {
        collections: store.read(unhashedCollections),
        docidFirst: 1,
        leftBefore: Infinity,
        fetching: new ObjectFetching(lane, NOTICE),
      }
      const collection = pass.collections.at(-1)
      if (collection !== undefined) return await hashSlice(pass, collection, signal)
      pass = undefined
      const restMs = mayFetch ? retryMs : 0
      mayFetch = true
      if (store.read(unhashedCollections).length > 0) return restMs
      log.info('every document is in the checksum of its collection now')
      return 'idle'
    },
  })
}

function unhashedCollections(view: View): number[] {
  return view.collections().flatMap(({ id }) => (hasUnhashed(view, id) ? [id] : []))
}

/** False also if the counters are damaged, which every read of them reports. */
function hasUnhashed(view: View, collection: number): boolean {
  try {
    return view.collectionCounters(collection).unhashed > 0
  } catch (error) {
    noteDamage(error)
    return false
  }
}

interface Slice {
  readonly hashed: readonly HashedDocument[]
  readonly failures: Failures
  /** Number of documents that lack objects. */
  readonly left: number
  /** Undefined: no document is left. */
  readonly nextDocid: number | undefined
}

function hashDocuments(view: View, collection: number, docidFirst: number, documentsMax: number, failures: Failures): Slice {
  const hashed: HashedDocument[] = []
  let [bytes, left] = [0, 0]
  const docids = view.docidsFrom(collection, docidFirst, documentsMax)
  for (const docid of docids) {
    if (bytes >= HASH_UPGRADE_BYTES_MAX) return { hashed, failures, left, nextDocid: docid }
    try {
      const head = view.headEvenExpired(collection, docid)
      if (head === undefined || head.contentHash !== undefined) continue
      bytes += head.bodyRawBytes
      hashed.push({ docid, revision: head.revision, contentHash: contentHash(textOfHead(head), view.escapedContent(head)) })
    } catch (error) {
      if (failures.note(`${collection}/${docid}`, error)) left++
    }
  }
  return { hashed, failures, left, nextDocid: docids.length < documentsMax ? undefined : (docids.at(-1) as number) + 1 }
}

function storing(collection: number, hashed: readonly HashedDocument[]): Work {
  return {
    onFullDisk: 'waits',
    weight: 1,
    run(transaction: WriteTransaction): boolean {
      for (const document of hashed) transaction.setContentHash(collection, document)
      return false
    },
    answer: () => DONE,
  }
}
