/**
 * Bodies stored elsewhere than the configuration of their collection says: which they are, and their move.
 * Requested by the front end, which sends and fetches the objects (src/background/objects/body_moves.ts).
 * Also the data for the sweep of object stores. Bulk lane, except for short requests.
 */
import type { Command } from '../../domain/commands.js'
import type { BodyMove } from '../../domain/commands.js'
import { readingAll } from '../../domain/documents/wanted_bodies.js'
import { type Storage, storageOfCollection } from '../../domain/settings/storage.js'
import { RELEASES_SCANNED_MAX } from '../../limits/store.js'
import { MIB } from '../../limits/units.js'
import type { InputOf } from '../../operations/row/operation.js'
import {
  bodyLocations as bodyLocationsRow,
  clearObjects as clearRow,
  forgetReleases as forgetRow,
  misplacedBodies as misplacedRow,
  moveBodies as moveRow,
  unwantedObjects as unwantedRow,
} from '../../operations/server/storage.js'
import type { Head } from '../../store/head.js'
import { folderOf, MEMORY_LOCATION } from '../../store/objects.js'
import { CorruptRecord } from '../../store/rows/record.js'
import type { View } from '../../store/view.js'
import { log } from '../../telemetry/log.js'
import type { Answer } from '../../wire/answer.js'
import type { StoreFirst } from '../../wire/messages/messages.js'
import { type BoundHandler, type LaneContext, prepare, read } from '../request/handler.js'
import { ObjectMaking } from '../request/storage.js'

/**
 * Documents that one step checks for bodies in another location than the one in the settings: 20 000 x 1 us.
 */
const MISPLACED_SCANNED_MAX = 20_000
/** Documents that one step moves from one backend to another. */
const MOVED_DOCUMENTS_MAX = 64
/** Bytes of contents that one step moves, except those of the last document. */
const MOVED_BYTES_WANTED = 8 * MIB

/**
 * Misplaced bodies of the given collection, or of the next one that has any. `next` is where to continue;
 * empty at the end.
 */
function misplaced(lane: LaneContext, { collection, docid }: InputOf<typeof misplacedRow>): Answer {
  return lane.store.read((view) => {
    const later = view.collections().map(({ id }) => id)
    for (const id of later.filter((each) => each >= collection).sort((one, other) => one - other)) {
      const found = misplacedOrNamed(lane, view, id, id === collection ? docid : 1)
      if (found.docids.length > 0 || found.next !== undefined) {
        const next = found.next === undefined ? [id + 1, 1] : [id, found.next]
        return { body: JSON.stringify({ collection: id, docids: found.docids, next }) }
      }
    }
    return { body: JSON.stringify({ collection, docids: [], next: [] }) }
  })
}

/**
 * If the collection's configuration or one of its documents cannot be read, this is logged and the collection
 * is skipped, so that it does not block the others.
 */
function misplacedOrNamed(lane: LaneContext, view: View, collection: number, docidFirst: number): ReturnType<typeof misplacedOf> {
  try {
    const storage = storageOfCollection(lane.settings, view, collection)
    if (storage === undefined && !view.objects.isUsedBy(collection)) return { docids: [], next: undefined }
    return misplacedOf(lane, view, collection, storage, docidFirst)
  } catch (error) {
    if (!(error instanceof CorruptRecord)) throw error
    log.error(`not moved: collection ${collection}`, { reason: error })
    return { docids: [], next: undefined }
  }
}

function misplacedOf(
  lane: LaneContext,
  view: View,
  collection: number,
  storage: Storage | undefined,
  docidFirst: number,
): { readonly docids: readonly number[]; readonly next: number | undefined } {
  const docids: number[] = []
  let bytes = 0
  let seen = 0
  for (const head of view.headsFrom(collection, docidFirst, 2 ** 32 - 1)) {
    if (seen++ >= MISPLACED_SCANNED_MAX || docids.length >= MOVED_DOCUMENTS_MAX || bytes >= MOVED_BYTES_WANTED)
      return { docids, next: head.docid }
    if (!isMisplaced(lane, view, head, storage)) continue
    docids.push(head.docid)
    bytes += head.bodyStoredBytes
  }
  return { docids, next: undefined }
}

/**
 * Whether the body is stored elsewhere than its collection says, is encrypted differently from the
 * collection, or is in the folder of another server whose data this server has copied.
 */
function isMisplaced({ instance }: LaneContext, view: View, head: Head, storage: Storage | undefined): boolean {
  const object = view.objects.of(head)
  if (storage === undefined || object === undefined) return (storage === undefined) !== (object === undefined)
  if (object.location !== storage.location) return true
  if (object.location === MEMORY_LOCATION) return false
  return object.keyId !== view.objects.writtenForm(head.collection) || !object.instance.equals(instance())
}

function move(lane: LaneContext, { collection, docids }: InputOf<typeof moveRow>): Command | StoreFirst {
  const storage = lane.store.read((view) => storageOfCollection(lane.settings, view, collection))
  const making = storage === undefined ? undefined : new ObjectMaking(lane, storage)
  const found = lane.store.read((view) =>
    readingAll(
      view,
      collection,
      () => docids,
      () => bodiesOf(lane, view, collection, docids, storage),
    ),
  )
  const moves = found.map(({ docid, bodyLsn, isHere, record }): BodyMove => {
    const object = making?.make(record) ?? null
    return { docid, bodyLsn, object, body: object === null && !isHere ? record : null }
  })
  const command: Command = { kind: 'move', collection, moves }
  return making === undefined ? command : making.first(command)
}

interface FoundBody {
  readonly docid: number
  readonly bodyLsn: bigint
  readonly isHere: boolean
  /** The body record, plaintext. */
  readonly record: Buffer
}

function bodiesOf(lane: LaneContext, view: View, collection: number, docids: readonly number[], storage: Storage | undefined): FoundBody[] {
  return docids.flatMap((docid) => {
    const head = view.head(collection, docid)
    if (head === undefined || !isMisplaced(lane, view, head, storage)) return []
    return [{ docid, bodyLsn: head.bodyLsn, isHere: !view.objects.isElsewhere(head), record: view.bodyRecord(head) }]
  })
}

function locations({ store, settings, instance }: LaneContext): Answer {
  const [known, hasObjects] = store.read((view) => [settings.locations(view), view.objects.isUsed()] as const)
  const list = [...known].map(([id, location]) => ({ id, location }))
  const folder = known.size === 0 ? '' : folderOf(instance())
  return { body: JSON.stringify({ folder, hasObjects, locations: list }) }
}

/**
 * Checks every location: location ids belong to this store, which may have replaced another one since the ids
 * were listed.
 */
function unwanted({ store, settings, config }: LaneContext, { ids }: InputOf<typeof unwantedRow>): Answer {
  const found = store.read((view) => {
    const locations = [...settings.locations(view).keys()]
    const isUnwanted = (id: Buffer): boolean =>
      locations.every((location) => view.objects.isUnwanted(location, id, view.now, config.objectRetentionSeconds))
    return ids.filter((name: string) => isUnwanted(idOf(name)))
  })
  return { body: JSON.stringify({ unwanted: found }) }
}

/** The id of an object, or of a location probe that a crash has interrupted. */
function idOf(name: string): Buffer {
  return Buffer.from(name.replace(/^probe-/, ''), 'hex')
}

function forget({ store, config }: LaneContext, { swept }: InputOf<typeof forgetRow>): Command {
  const now = store.read((view) => view.now)
  const rows = swept.map((row: string) => Buffer.from(row, 'hex'))
  return { kind: 'forgetReleases', before: now - config.objectRetentionSeconds, swept: rows }
}

/** Returns a page of them; `next` is where to continue, empty at the end. */
function clear({ store, settings, instance }: LaneContext, { from }: InputOf<typeof clearRow>): Answer {
  const { found, next, locations } = store.read((view) => ({
    ...view.objects.clearReleases(from === '' ? undefined : Buffer.from(from, 'hex'), RELEASES_SCANNED_MAX),
    locations: settings.locations(view),
  }))
  const objects = found.map(({ row, location, key, since }) => ({ row: row.toString('hex'), key, since, bucket: locations.get(location) }))
  const folder = objects.length === 0 ? '' : folderOf(instance())
  return { body: JSON.stringify({ objects, folder, next: next?.toString('hex') ?? '' }) }
}

export const storageHandlers: readonly BoundHandler[] = [
  read(misplacedRow, misplaced),
  prepare(moveRow, move),
  read(bodyLocationsRow, locations),
  read(unwantedRow, unwanted),
  prepare(forgetRow, forget),
  read(clearRow, clear),
]
