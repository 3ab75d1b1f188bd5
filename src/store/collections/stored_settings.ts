/**
 * How a collection's settings are stored. In a plaintext collection: as plaintext under their id; but a
 * configuration with credentials is sealed with the server's key. In a sealed collection: under a keyed hash
 * of the id, with both text and id sealed. Readers try every form; writers leave one. Any thread reads; only
 * `apply` and the rotation write. Layout: docs/formats/truth-env.md.
 */
import type { Environment } from '../environment.js'
import { counterKey, idOfSettingKey, isKey, prefixEnd, settingKey } from '../rows/keys.js'
import { CorruptRecord } from '../rows/record.js'
import type { CollectionSeal } from '../sealing/collection_seal.js'
import { CLEAR, settingAddress } from '../sealing/collection_seal.js'
import type { SettingKind } from '../settings.js'
import { decodeSetting, encodeSetting, SETTING_KINDS } from '../settings.js'

/**
 * crc32c, version, mark, key id, zero. The mark distinguishes a sealed record from JSON text, which never
 * begins with it.
 */
const SEALED_PREFIX_BYTES = 8
const MARK_AT = 5
const SEALED_MARK = 1
/** CRC and version of a plaintext record. */
const CLEAR_PREFIX_BYTES = 5

/** The parsed JSON of a setting. @throws CorruptRecord */
export function readSetting(environment: Environment, collection: number, kind: SettingKind, id: string): unknown {
  const code = SETTING_KINDS.indexOf(kind)
  const seal = environment.seals.of(collection)
  const name = (): string => `${kind} of collection ${collection}`
  for (const form of seal?.state.forms ?? [CLEAR]) {
    const rowKey = form === CLEAR ? settingKey(collection, code, id) : seal?.settingKey(form, code, id)
    const record =
      rowKey === undefined || !isKey(rowKey)
        ? undefined
        : (form === CLEAR ? environment.collectionSettings : environment.sealedSettings).get(rowKey)
    if (record === undefined || rowKey === undefined) continue
    if (form !== CLEAR) return JSON.parse(openSetting(seal as CollectionSeal, rowKey, record, name)[1])
    return decodeSetting(isSealedForServer(record) ? openForServer(environment, rowKey, record, name) : record, name)
  }
  return undefined
}

/**
 * All settings of a kind, by id.
 * @param unreadable receives the ids of those that are sealed for the server and can't be opened; without it,
 * an error is thrown
 * @throws CorruptRecord
 */
export function readSettings(
  environment: Environment,
  collection: number,
  kind: SettingKind,
  unreadable?: string[],
): (readonly [id: string, value: unknown])[] {
  const start = settingKey(collection, SETTING_KINDS.indexOf(kind), '')
  const range = { start, end: prefixEnd(start) }
  const found: (readonly [string, unknown])[] = []
  const name = (): string => `${kind} of collection ${collection}`
  for (const { key, value } of environment.collectionSettings.getRange(range)) {
    const id = idOfSettingKey(key)
    try {
      const record = isSealedForServer(value) ? openForServer(environment, Buffer.from(key), value, name) : value
      found.push([id, decodeSetting(record, name)])
    } catch (error) {
      if (!(error instanceof CorruptRecord) || unreadable === undefined) throw error
      unreadable.push(id)
    }
  }
  const seal = environment.seals.of(collection)
  if (seal === undefined) return found
  for (const { key, value } of environment.sealedSettings.getRange(range)) {
    const [id, json] = openSetting(seal, Buffer.from(key), value, name)
    found.push([id, JSON.parse(json)])
  }
  // In the order of plaintext rows. Hashed keys do not have this order.
  return found.sort(([one], [other]) => Buffer.compare(Buffer.from(one), Buffer.from(other)))
}

export function countSettings(environment: Environment, collection: number, kind: SettingKind): number {
  const start = settingKey(collection, SETTING_KINDS.indexOf(kind), '')
  const range = { start, end: prefixEnd(start) }
  return environment.collectionSettings.getKeysCount(range) + environment.sealedSettings.getKeysCount(range)
}

/**
 * Writes the setting in the collection's present form and removes it in all other forms.
 * @param json null: the setting is removed
 */
export function writeSetting(environment: Environment, collection: number, kind: SettingKind, id: string, json: string | null): void {
  const code = SETTING_KINDS.indexOf(kind)
  const seal = environment.seals.of(collection)
  for (const form of seal?.state.forms ?? [CLEAR]) {
    const rowKey = form === CLEAR ? settingKey(collection, code, id) : seal?.settingKey(form, code, id)
    if (rowKey !== undefined) (form === CLEAR ? environment.collectionSettings : environment.sealedSettings).remove(rowKey)
  }
  if (json === null) return
  if (seal === undefined || seal.writtenForm === CLEAR) {
    const rowKey = settingKey(collection, code, id)
    environment.collectionSettings.put(rowKey, holdsCredential(kind, json) ? sealForServer(environment, rowKey, json) : encodeSetting(json))
    return
  }
  const rowKey = seal.settingKey(seal.writtenForm, code, id) as Buffer
  environment.sealedSettings.put(rowKey, sealSetting(seal, rowKey, id, json))
}

/** Whether the text contains credentials, which must never be stored as plaintext in any collection. */
export function holdsCredential(kind: SettingKind, json: string | null): boolean {
  if (kind === 'location' || kind === 'embedding-key' || kind === 'webhook-secret') return true
  if (kind !== 'config' || json === null) return false
  const { storageConfig, cms } = JSON.parse(json) as { storageConfig?: { secretKey?: string }; cms?: { apiKey?: string } }
  return (storageConfig?.secretKey ?? '') !== '' || (cms?.apiKey ?? '') !== ''
}

/** Seals a setting. The sealed text: u16 length of the id, id, JSON. */
function sealSetting(seal: CollectionSeal, rowKey: Buffer, id: string, json: string): Buffer {
  return seal.seal(settingAddress(rowKey), settingRecord(id, json))
}

/** @throws CorruptRecord */
export function openSetting(seal: CollectionSeal, rowKey: Buffer, record: Buffer, name: () => string): readonly [id: string, json: string] {
  return textsOf(seal.open(settingAddress(rowKey), record, name))
}

export function isSealedForServer(record: Buffer): boolean {
  return record[MARK_AT] === SEALED_MARK
}

export function sealForServer(environment: Environment, rowKey: Buffer, json: string): Buffer {
  return environment.seals.sealForServer(settingAddress(rowKey), settingRecord('', json))
}

/** Opens the record and returns it as a plaintext record. @throws CorruptRecord */
export function openForServer(environment: Environment, rowKey: Buffer, record: Buffer, name: () => string): Buffer {
  const [, json] = textsOf(environment.seals.openForServer(settingAddress(rowKey), record, name))
  return encodeSetting(json)
}

function settingRecord(id: string, json: string): Buffer {
  const record = Buffer.concat([Buffer.alloc(SEALED_PREFIX_BYTES + 2), Buffer.from(id), Buffer.from(json)])
  record[MARK_AT] = SEALED_MARK
  record.writeUInt16LE(Buffer.byteLength(id), SEALED_PREFIX_BYTES)
  return record
}

function textsOf(record: Buffer): readonly [id: string, json: string] {
  const idBegin = SEALED_PREFIX_BYTES + 2
  const idEnd = idBegin + record.readUInt16LE(SEALED_PREFIX_BYTES)
  if (idEnd > record.length) throw new CorruptRecord('setting', 'its id is longer than the record')
  return [record.toString('utf8', idBegin, idEnd), record.toString('utf8', idEnd)]
}

/** The JSON of a plaintext record, for the rotation. */
export function clearText(record: Buffer): string {
  return record.toString('utf8', CLEAR_PREFIX_BYTES)
}

/** Whether the key is that of the stamp (the LSN of the last change), which is not a setting of any kind. */
export function isStamp(key: Uint8Array): boolean {
  return key.length === counterKey(0).length
}
