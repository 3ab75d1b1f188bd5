/**
 * The keys of encryption at rest. They come from variables, a key file or the configuration file, never from
 * flags, which every process on the machine can read. Error messages do not contain the key. Main thread, at
 * start. Spellings: service-2, "Audit, encryption, compliance".
 */
import { readFileSync } from 'node:fs'
import { ConfigError } from './sources.js'

/** Master keys in addition to the primary one. */
const PREVIOUS_KEYS_MAX = 16

interface EncryptionKey {
  /** 1 to 255. */
  readonly id: number
  /** 32 bytes. */
  readonly bytes: Uint8Array
}

export interface EncryptionKeys {
  /** Encrypts all new data. */
  readonly primary: EncryptionKey
  /** Decrypt older data. */
  readonly previous: readonly EncryptionKey[]
}

export const ENCRYPTION_VARIABLES: readonly string[] = [
  'SVC_ENCRYPTION_KEY', 'SVC_ENCRYPTION_KEY_FILE', 'SVC_ENCRYPTION_KEY_ID', 'SVC_ENCRYPTION_KEYS_PREVIOUS',
] // prettier-ignore

export const ENCRYPTION_YAML: readonly string[] = ['encryption.key', 'encryption.keyFile', 'encryption.keyId', 'encryption.keysPrevious']

const KEY_BYTES = 32

/**
 * @returns null if no key is set
 * @throws ConfigError
 */
export function readEncryption(env: NodeJS.ProcessEnv, yaml: ReadonlyMap<string, string>): EncryptionKeys | null {
  const read = (index: number): string | undefined =>
    env[ENCRYPTION_VARIABLES[index] ?? ''] || yaml.get(ENCRYPTION_YAML[index] ?? '') || undefined
  const file = read(1)
  const text = read(0) ?? (file === undefined ? undefined : readKeyFile(file))
  const [id, previous] = [read(2), read(3)]
  if (text === undefined) {
    if (id !== undefined || previous !== undefined)
      throw new ConfigError('SVC_ENCRYPTION_KEY_ID and SVC_ENCRYPTION_KEYS_PREVIOUS need SVC_ENCRYPTION_KEY')
    return null
  }
  const primary = { id: id === undefined ? 1 : parseId(id, 'SVC_ENCRYPTION_KEY_ID'), bytes: parseKey(text, 'SVC_ENCRYPTION_KEY') }
  const keys = { primary, previous: previous === undefined ? [] : parsePrevious(previous) }
  const ids = [primary, ...keys.previous].map((key) => key.id)
  const twice = ids.find((one, at) => ids.indexOf(one) !== at)
  if (twice !== undefined)
    throw new ConfigError(`SVC_ENCRYPTION_KEYS_PREVIOUS: key id ${twice} is named twice; each key has an id of its own`)
  return keys
}

function readKeyFile(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (cause) {
    throw new ConfigError(`SVC_ENCRYPTION_KEY_FILE: ${path} can't be read: ${(cause as NodeJS.ErrnoException).code ?? String(cause)}`)
  }
}

function parseKey(text: string, source: string): Uint8Array {
  const plain = text.trim()
  const bytes = Buffer.from(plain, 'base64')
  // Buffer.from skips invalid characters. The text is base64 only if encoding the bytes again yields the same
  // text.
  const isBase64 = /^[A-Za-z0-9+/]+={0,2}$/.test(plain) && bytes.toString('base64').replace(/=+$/, '') === plain.replace(/=+$/, '')
  if (!isBase64) throw new ConfigError(`${source}: base64 of 32 bytes expected, and this is not base64`)
  if (bytes.length !== KEY_BYTES) throw new ConfigError(`${source}: base64 of 32 bytes expected, and this is of ${bytes.length}`)
  return new Uint8Array(bytes)
}

function parseId(text: string, source: string): number {
  const id = Number(text)
  if (!/^\d{1,3}$/.test(text) || id < 1 || id > 255) throw new ConfigError(`${source}: a whole number from 1 to 255 expected`)
  return id
}

function parsePrevious(text: string): EncryptionKey[] {
  const source = 'SVC_ENCRYPTION_KEYS_PREVIOUS'
  const expected = new ConfigError(`${source}: a JSON list such as [{"id":1,"key":"<base64 of 32 bytes>"}] expected`)
  let list: unknown
  try {
    list = JSON.parse(text)
  } catch {
    throw expected
  }
  if (!Array.isArray(list)) throw expected
  if (list.length > PREVIOUS_KEYS_MAX) throw new ConfigError(`${source}: at most ${PREVIOUS_KEYS_MAX} keys`)
  return list.map((entry: unknown) => {
    const { id, key } = (entry ?? {}) as { id?: unknown; key?: unknown }
    if (typeof id !== 'number' || typeof key !== 'string') throw expected
    return { id: parseId(String(id), `${source} id`), bytes: parseKey(key, `${source} id ${id}`) }
  })
}
