/**
 * Writes to collections whose bodies are stored in a storage backend, on the lane that prepares them. Each
 * new body becomes an object. It goes to process memory together with the command, or to an object store
 * before the command. Also builds the message for requests that need objects which are not cached: the front
 * end fetches them first. The other side is src/background/objects/object_io.ts.
 */
import type {
  AddBatchCommand,
  AddCommand,
  IngestChunkCommand,
  IngestCommand,
  MemoryCommand,
  PreparedDocument,
  PreparedObject,
  RestoreCommand,
  UpdateBatchCommand,
  UpdateCommand,
} from '../../domain/commands.js'
import { type Command, encodeCommand } from '../../domain/commands.js'
import type { Locations } from '../../domain/settings/locations.js'
import { type Storage, storageOfCollection } from '../../domain/settings/storage.js'
import type { ImportPagesCommand } from '../../domain/wiki_import.js'
import { compressionOf } from '../../domain/writes/preparation.js'
import { lowerCase } from '../../operations/row/lower_case.js'
import type { S3Location } from '../../outbound/s3_location.js'
import { encodeBody } from '../../store/body.js'
import { textOfHead } from '../../store/head.js'
import type { BodyObject } from '../../store/objects.js'
import { encodeObject, folderOf, hashOfObject, keyOfObject, MEMORY_LOCATION, newObjectId } from '../../store/objects.js'
import { CorruptRecord } from '../../store/rows/record.js'
import { CLEAR } from '../../store/sealing/collection_seal.js'
import { keyIdOf } from '../../store/sealing/sealed_record.js'
import type { View } from '../../store/view.js'
import type { FetchFirst, StoreFirst } from '../../wire/messages/messages.js'
import type { ObjectOwner, OutgoingObject, WantedObject } from '../../wire/messages/object_messages.js'
import type { LaneContext } from './handler.js'

type DocumentCommand =
  | AddCommand
  | AddBatchCommand
  | IngestCommand
  | IngestChunkCommand
  | ImportPagesCommand<PreparedDocument>
  | UpdateCommand
  | UpdateBatchCommand
  | RestoreCommand
  | MemoryCommand

/**
 * Returns the command for the write lane, or what has to be done before it may be committed. Must not be
 * called inside a read.
 */
export function commandOf(lane: LaneContext, command: DocumentCommand): Command | StoreFirst {
  const storage = storageOf(lane, command.collection)
  if (storage === undefined) return command
  const making = new ObjectMaking(lane, storage)
  const withObject = (document: PreparedDocument): PreparedDocument => {
    const record = newBodyOf(lane, command, document)
    return record === undefined ? document : { ...document, object: making.make(record) }
  }
  return making.first(withObjects(command, withObject))
}

/** Where new bodies of the collection become objects. Undefined: they are stored in the env. */
function storageOf(lane: LaneContext, name: string): Storage | undefined {
  const collection = lane.collections.find(name)
  // Most collections are configured for none.
  if (collection?.settings.config.storageBackend === undefined) return undefined
  return lane.store.read((view) => storageOfCollection(lane.settings, view, collection.id))
}

function withObjects(command: DocumentCommand, withObject: (document: PreparedDocument) => PreparedDocument): DocumentCommand {
  if ('document' in command) return { ...command, document: withObject(command.document) }
  if ('documents' in command) return { ...command, documents: command.documents.map(withObject) }
  const updates = command.updates.map((update) => ({ ...update, document: withObject(update.document) }))
  return { ...command, updates }
}

/** The body record that needs an object. Undefined if the document keeps its present body. */
function newBodyOf(lane: LaneContext, { kind }: DocumentCommand, { body, escaped }: PreparedDocument): Buffer | undefined {
  if (body.kind === 'new') return body.record
  return kind === 'restore' ? encodeBody(escaped, compressionOf(lane.config)) : undefined
}

const NOTHING = Buffer.alloc(0)

/** Makes the objects of one command. */
export class ObjectMaking {
  readonly #outgoing: OutgoingObject[] = []

  constructor(
    readonly lane: LaneContext,
    readonly storage: Storage,
  ) {}

  /** @param body the body record, plaintext */
  make(body: Buffer): PreparedObject {
    const { location, collection } = this.storage
    const { store, settings } = this.lane
    const id = newObjectId()
    if (location === MEMORY_LOCATION) {
      const object = { location, id, instance: NOTHING, bytes: body.length, keyId: 0, hash: NOTHING }
      return { collection, record: encodeObject(object), memoryRecord: body }
    }
    const instance = this.lane.instance()
    return store.read((view) => {
      const bytes = view.objects.sealed(collection, id, body)
      const bucket = settings.locations(view).get(location)
      if (bucket === undefined) throw new Error(`location ${location} is not known`)
      this.#outgoing.push({ location: bucket, key: keyOfObject({ instance, id }), bytes })
      return {
        collection,
        record: encodeObject({ location, id, instance, bytes: bytes.length, keyId: keyIdOf(bytes), hash: hashOfObject(bytes) }),
        memoryRecord: null,
      }
    })
  }

  first(command: Command): Command | StoreFirst {
    if (this.#outgoing.length === 0) return command
    return { kind: 'store', objects: this.#outgoing, command: encodeCommand(command) }
  }
}

/** The command, to be committed once the location has stored, returned and deleted a test object. */
export function probedFirst({ instance }: LaneContext, location: S3Location, command: Command): StoreFirst {
  const key = `${folderOf(instance())}probe-${newObjectId().toString('hex')}`
  return { kind: 'store', objects: [], probe: { location, key, bytes: Buffer.from(PROBE) }, command: encodeCommand(command) }
}

const PROBE = 'Write test by a server that is configured to store documents here.\n'

/**
 * Builds the message to the front end for a request that needs objects. The body is copied.
 * @throws CorruptRecord if the credentials of a location cannot be decrypted
 */
export function fetchMessage(
  { store, settings }: LaneContext,
  { objects, body, isCommand }: { readonly objects: readonly BodyObject[]; readonly body: Uint8Array; readonly isCommand: boolean },
): FetchFirst {
  const lacking = store.read((view) => {
    const locations = settings.locations(view)
    return objects.map((object): WantedObject => {
      const owner = ownerOf(view, object)
      return { ...wanted(locations, object), ...(owner === undefined ? {} : { owner }) }
    })
  })
  return { kind: 'fetch', objects: lacking, body, isCommand }
}

/**
 * Undefined if the object has no owner any more, or if the owner's head is damaged, which is reported
 * elsewhere.
 */
function ownerOf(view: View, object: BodyObject): ObjectOwner | undefined {
  const body = view.objects.ownerOf(object)
  if (body === undefined) return undefined
  try {
    const head = view.headEvenExpired(body.collection, body.docid)
    if (head === undefined) return undefined
    const { id, key, lang } = textOfHead(head)
    const collection = id.slice(0, id.length - lowerCase(`|${key}|${lang}`).length)
    const named = `document ${JSON.stringify(key)} (${lang}) of collection ${JSON.stringify(collection)}`
    const isSecret = object.keyId !== CLEAR || view.objects.writtenForm(body.collection) !== CLEAR
    return { named, logged: isSecret ? `document ${body.collection}/${body.docid}` : named }
  } catch (error) {
    if (error instanceof CorruptRecord) return undefined
    throw error
  }
}

/** @throws CorruptRecord */
export function wanted(locations: Locations, object: BodyObject): WantedObject {
  const { id, hash, location } = object
  const bucket = locations.get(location)
  if (bucket === undefined && location !== MEMORY_LOCATION)
    throw new CorruptRecord(`location ${location} in an object store`, "its credentials can't be opened: set them again")
  return { id, hash, key: keyOfObject(object), location: bucket }
}
