/**
 * Records of settings, which a collection has beside its documents: configuration, synonyms, stop words,
 * curation rules, dictionary, schema. A record is a short prefix followed by JSON text. The domain layer
 * defines the meaning of the JSON. Layout: docs/formats/truth-env.md. Any thread reads; only `apply` writes.
 */
import { checkRecord, sealRecord } from './rows/record.js'

/** Accounts and what belongs to them. They are settings of the server. */
export const ACCESS_SETTINGS = ['user', 'group', 'group-members', 'api-key', 'api-key-use', 'token-epoch', 'mcp-key'] as const
export type AccessSetting = (typeof ACCESS_SETTINGS)[number]
/** In the order of the codes on disk: further kinds are added at the end. */
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
  ...ACCESS_SETTINGS,
  'webhook',
  'webhook-secret',
] as const
/** Replaces the id of a collection for settings of the server itself. */
export const SERVER_SETTINGS = 0
export type SettingKind = (typeof SETTING_KINDS)[number]

/** Whether a change of the setting can change what a principal may do. */
export function decidesAccess(kind: SettingKind): boolean {
  return kind !== 'api-key-use' && ACCESS_SETTINGS.some((known) => known === kind)
}

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
