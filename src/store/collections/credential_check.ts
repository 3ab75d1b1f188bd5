/**
 * Checks at a start whether the credentials in configurations can be opened with the keys of this server. A
 * lost key is then reported at the start in one line, not by the first request that needs it. The documents
 * of those collections are served nevertheless. Write lane, before it opens the index.
 */
import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Environment } from '../environment.js'
import { collectionOfKey } from '../rows/keys.js'
import { CorruptRecord } from '../rows/record.js'
import { KEY_FILE_ID } from '../sealing/keyring.js'
import { keyIdOf } from '../sealing/sealed_record.js'
import { KEY_FILE_NAME } from '../sealing/server_keyring.js'
import { readCollections } from './collection_row.js'
import { isSealedForServer, openForServer } from './stored_settings.js'

/** Collections that a start names if it cannot open their credentials. The line stays readable. */
const CREDENTIAL_NAMES_SHOWN = 5

/** @returns a line for the log; undefined if all credentials can be opened */
export function unreadableCredentials(environment: Environment): string | undefined {
  const lost = new Map<number, number>()
  for (const { key, value } of environment.collectionSettings.getRange()) {
    if (isSealedForServer(value) && !opens(environment, Buffer.from(key), value)) lost.set(collectionOfKey(key), keyIdOf(value))
  }
  if (lost.size === 0) return undefined
  const names = readCollections(environment.collections)
    .filter(({ id }) => lost.has(id))
    .map(({ name }) => name)
  if (names.length === 0) names.push('the server (locations in object stores, embedding providers)')
  const shown = names.slice(0, CREDENTIAL_NAMES_SHOWN).join(', ')
  const more = names.length > CREDENTIAL_NAMES_SHOWN ? ` and ${names.length - CREDENTIAL_NAMES_SHOWN} more` : ''
  const keys = [...new Set(lost.values())].map((id) => (id === KEY_FILE_ID ? `the file ${KEY_FILE_NAME}` : `encryption key id ${id}`))
  return `the credentials in the configuration of ${shown}${more} can't be opened: they are sealed with ${keys.join(' and ')}, which is missing or another now; give it back, or set them again`
}

function opens(environment: Environment, key: Buffer, record: Buffer): boolean {
  // Checked first, because the keyring would create a missing file.
  const dataDirectory = dirname(dirname(environment.path))
  if (keyIdOf(record) === KEY_FILE_ID && !existsSync(join(dataDirectory, KEY_FILE_NAME))) return false
  try {
    openForServer(environment, key, record, () => 'credentials')
    return true
  } catch (error) {
    if (error instanceof CorruptRecord) return false
    throw error
  }
}
