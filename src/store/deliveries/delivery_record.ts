/**
 * Rows of deliveries: what is posted to a webhook for one change. A row has no text of the document, and of a
 * document of a sealed collection not even its key: whoever sends it reads the present state or the entry.
 * Layout: docs/formats/truth-env.md.
 */
import { pack, unpack } from '../rows/packages.js'
import { checkRecord, sealRecord } from '../rows/record.js'

/**
 * What becomes of a delivery, in the order of the codes in keys and entries. `waiting`: it is sent, or sent
 * again. `dead`: it was given up. `delivered`: its row is gone.
 */
export const DELIVERY_STATES = ['waiting', 'dead', 'delivered'] as const
export type DeliveryState = (typeof DELIVERY_STATES)[number]

/** In the order of the codes on disk. */
export const CHANGE_EVENTS = ['doc.added', 'doc.updated', 'doc.deleted'] as const
export type ChangeEvent = (typeof CHANGE_EVENTS)[number]

export interface Delivery {
  /** Id of the webhook: 16 hexadecimal digits. */
  readonly hook: string
  /** Of the entry. With the hook it names the delivery. */
  readonly lsn: bigint
  readonly event: ChangeEvent
  readonly collection: number
  readonly collectionName: string
  /** 0: the collection as a whole was deleted. */
  readonly docid: number
  /** Null: the collection is sealed. */
  readonly key: string | null
  readonly lang: string | null
  /** Unix seconds of the change. */
  readonly at: number
  readonly attempts: number
  /** Unix milliseconds before which it is not sent; 0: at once. */
  readonly dueAt: number
  /** Status of the last answer; 0: there was none. */
  readonly httpStatus: number
  /** Why the last attempt failed; empty: there was none. */
  readonly error: string
}

/** The outcome of an attempt, as an entry has it. */
export interface DeliveryOutcome {
  readonly lsn: bigint
  readonly state: DeliveryState
  readonly attempts: number
  readonly dueAt: number
  readonly httpStatus: number
  readonly error: string
}

const PREFIX_BYTES = 5
const HOOK_BYTES = 8
const KEY_BYTES = 1 + HOOK_BYTES + 8
/** Tag of the row that suspends a hook; rows of deliveries have the code of their state. */
const SUSPENDED_TAG = 0xff

export function deliveryKey(state: Exclude<DeliveryState, 'delivered'>, hook: string, lsn: bigint): Buffer {
  const key = hookKey(DELIVERY_STATES.indexOf(state), hook, KEY_BYTES)
  key.writeBigUInt64BE(lsn, 1 + HOOK_BYTES)
  return key
}

export function suspensionKey(hook: string): Buffer {
  return hookKey(SUSPENDED_TAG, hook, 1 + HOOK_BYTES)
}

function hookKey(tag: number, hook: string, bytes: number): Buffer {
  const key = Buffer.alloc(bytes)
  key[0] = tag
  key.write(hook, 1, 'hex')
  return key
}

export function hookOfKey(key: Uint8Array): string {
  return Buffer.from(key.buffer, key.byteOffset + 1, HOOK_BYTES).toString('hex')
}

function lsnOfDeliveryKey(key: Uint8Array): bigint {
  return new DataView(key.buffer, key.byteOffset).getBigUint64(1 + HOOK_BYTES)
}

export function encodeDelivery(delivery: Delivery): Buffer {
  const { event, collection, collectionName, docid, key, lang, at, attempts, dueAt, httpStatus, error } = delivery
  return recordOf([CHANGE_EVENTS.indexOf(event), collection, collectionName, docid, key, lang, at, attempts, dueAt, httpStatus, error])
}

type DeliveryFields = [number, number, string, number, string | null, string | null, number, number, number, number, string]

/** @throws CorruptRecord */
export function decodeDelivery(rowKey: Uint8Array, record: Buffer): Delivery {
  const [hook, lsn] = [hookOfKey(rowKey), lsnOfDeliveryKey(rowKey)]
  checkRecord(record, PREFIX_BYTES, () => `delivery ${hook}:${lsn}`)
  const fields = unpack(record.subarray(PREFIX_BYTES)) as DeliveryFields
  const [event, collection, collectionName, docid, key, lang, at, attempts, dueAt, httpStatus, error] = fields
  return {
    hook,
    lsn,
    event: CHANGE_EVENTS[event] ?? 'doc.updated',
    collection,
    collectionName,
    docid,
    key,
    lang,
    at,
    attempts,
    dueAt,
    httpStatus,
    error,
  }
}

/** @param lsn of the first change that was not recorded */
export function encodeSuspension(lsn: bigint): Buffer {
  return recordOf([lsn])
}

/** @throws CorruptRecord */
export function decodeSuspension(record: Buffer): bigint {
  checkRecord(record, PREFIX_BYTES, () => 'suspension of a webhook')
  return BigInt((unpack(record.subarray(PREFIX_BYTES)) as [number | bigint])[0])
}

function recordOf(fields: readonly unknown[]): Buffer {
  const packed = pack(fields)
  const record = Buffer.allocUnsafeSlow(PREFIX_BYTES + packed.length)
  record.set(packed, PREFIX_BYTES)
  sealRecord(record)
  return record
}
