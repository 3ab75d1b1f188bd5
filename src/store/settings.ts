/**
 * Records of what a collection is told beside its documents: configuration, synonyms, stop words, curation
 * rules, words that are spelled right, a schema. JSON text behind the head of every record; what it means is
 * the domain's matter. Layout: docs/formats/truth-env.md. Any thread reads; only `apply` writes.
 */
import { checkRecord, sealRecord } from './record.js'

/** In the order of their codes on disk. */
export const SETTING_KINDS = [
  'config',
  'synonyms',
  'stopwords',
  'curation',
  'dictionary',
  'schema',
  'location',
  'embedding',
  'embedding-key',
] as const
/** In place of the id of a collection: what the server itself is told. */
export const SERVER_SETTINGS = 0
export type SettingKind = (typeof SETTING_KINDS)[number]

/** CRC and version. */
const PREFIX_BYTES = 5

export function encodeSetting(json: string): Buffer {
  const record = Buffer.allocUnsafeSlow(PREFIX_BYTES + Buffer.byteLength(json))
  record.write(json, PREFIX_BYTES)
  sealRecord(record)
  return record
}

/** @throws CorruptRecord */
export function decodeSetting(record: Buffer, name: () => string): unknown {
  checkRecord(record, PREFIX_BYTES, name)
  return JSON.parse(record.toString('utf8', PREFIX_BYTES))
}
