/**
 * The identity of a document: the rules for collection names, keys and languages, and the printed id.
 * Identity rules 1 to 3: service-1, "Document".
 */
import { badRequest } from '../../errors.js'
import { ALL_COLLECTIONS } from '../../operations/row/collection_access.js'
import { lowerCase } from '../../operations/row/lower_case.js'

/**
 * UTF-8 bytes. An LMDB key has at most 1 978 B here: 4 (collection) + 1 024 (key) + 1 (separator) + 35 (lang)
 * leaves space for growth by lower-casing.
 */
export const KEY_BYTES_MAX = 1024
/** UTF-8 bytes. The longest registered BCP 47 tags need 35 characters (RFC 5646, section 4.4.1). */
const LANG_BYTES_MAX = 35
/** UTF-8 bytes. Lists and metric labels show the names; a hash fits twice. */
const COLLECTION_BYTES_MAX = 128

/** `|` is not escaped. */
export function documentId(collection: string, key: string, lang: string): string {
  return lowerCase(`${collection}|${key}|${lang}`)
}

// Names with control characters cannot be shown in logs, shells or file names. A NUL would terminate the key
// in the identity index.
const CONTROL = /[\u0000-\u001f\u007f]/

/**
 * Checks the names in the input of any operation before it runs. Names out of bounds never reach the store,
 * whose look-ups throw on keys that are too long.
 * @throws ServiceError 400
 */
export function checkNames({ collection, key, lang }: Readonly<Record<string, unknown>>): void {
  if (typeof collection === 'string') checkCollection(collection)
  if (typeof key === 'string') checkIdentity(key, typeof lang === 'string' ? lang : '')
}

function checkCollection(collection: string): void {
  checkBytes('collection', collection, COLLECTION_BYTES_MAX)
  if (CONTROL.test(collection)) throw badRequest('invalid collection: control characters are not allowed')
}

export function checkIdentity(key: string, lang: string): void {
  checkBytes('key', key, KEY_BYTES_MAX)
  checkBytes('lang', lang, LANG_BYTES_MAX)
  if (key.includes('\0')) throw badRequest('invalid key: NUL is not allowed')
  if (CONTROL.test(lang)) throw badRequest('invalid lang: control characters are not allowed')
}

/**
 * For new names: `|` separates the parts of an id, so two documents could have the same id, and `*` means all
 * collections in permissions. A key may contain `|`: it is the middle part.
 * @throws ServiceError 400
 */
export function requirePlainName(field: 'collection' | 'lang', name: string): void {
  if (name.includes('|')) throw badRequest(`invalid ${field}: | is not allowed`)
  if (field === 'collection' && name === ALL_COLLECTIONS) throw badRequest('invalid collection: * means all collections')
}

function checkBytes(field: string, value: string, bytesMax: number): void {
  const bytes = Buffer.byteLength(value)
  if (bytes > bytesMax) throw badRequest(`invalid ${field}: ${bytes} bytes, at most ${bytesMax} are allowed`)
  if (!value.isWellFormed()) throw badRequest(`invalid ${field}: invalid UTF-8`)
}
