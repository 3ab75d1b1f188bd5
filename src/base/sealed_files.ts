/**
 * Files of the data directory that hold what a request sends, sealed where the server has a key of encryption
 * at rest. A file has a key of its own, derived from the master key and a salt in its head, so the numbers of
 * its chunks are nonces. A file that is cut off or changed is not read. Layout:
 * docs/formats/data-directory.md. Any thread, and the processes that read such files, which are given the key
 * of one file and no other.
 */
import { Buffer } from 'node:buffer'
import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { open, readFile, stat, writeFile } from 'node:fs/promises'
import { MessageChannel, type MessagePort } from 'node:worker_threads'
import { KIB } from '../limits/units.js'

/** The master keys of the server; as `Config.encryption`. */
export interface FileKeys {
  readonly primary: FileKey
  readonly previous: readonly FileKey[]
}

interface FileKey {
  readonly id: number
  /** 32. */
  readonly bytes: Uint8Array
}

/** Plaintext bytes of a chunk. It is in memory as a whole; its tag and its number cost nothing beside it. */
export const SEALED_CHUNK_BYTES = 256 * KIB
/** No document and no dump begins so: where a key was not configured yet, a file is as it was sent. */
const MAGIC = Buffer.from('\0mds-sealed\x01', 'latin1')
const SALT_BYTES = 32
const HEAD_BYTES = MAGIC.length + 1 + SALT_BYTES
const KEY_BYTES = 32
const NONCE_BYTES = 12
const TAG_BYTES = 16
const LABEL = 'mds/v1/spool'
/** Bytes that are read at once of a file that is not sealed. */
const READ_BYTES = 256 * KIB

export class FileSealer {
  /** The first bytes of the file. */
  readonly head: Uint8Array
  readonly #key: Uint8Array
  /** Used again. */
  #space = Buffer.alloc(0)
  #chunks = 0

  constructor({ primary }: Pick<FileKeys, 'primary'>) {
    const salt = randomBytes(SALT_BYTES)
    this.head = Buffer.concat([MAGIC, Buffer.from([primary.id]), salt])
    this.#key = derived(primary, salt)
  }

  /**
   * @param chunk of SEALED_CHUNK_BYTES; the last one of as many or fewer, or empty
   * @returns what is to be written, valid until the next call
   */
  seal(chunk: Uint8Array, isLast: boolean): Buffer {
    const cipher = createCipheriv('aes-256-gcm', this.#key, nonceOf(this.#chunks++, isLast))
    const bytes = chunk.length + TAG_BYTES
    if (this.#space.length < bytes) this.#space = Buffer.allocUnsafeSlow(bytes)
    const sealed = cipher.update(chunk)
    this.#space.set(sealed)
    free(sealed)
    cipher.final()
    this.#space.set(cipher.getAuthTag(), chunk.length)
    return this.#space.subarray(0, bytes)
  }
}

/** A sealed file that was changed, or is cut off. */
export class DamagedFile extends Error {
  constructor(cause?: unknown) {
    super('the file was changed or is cut off', { cause })
    this.name = 'DamagedFile'
  }
}

/**
 * @param keys null: none is configured, so that a file that is sealed can't be read
 * @returns the key of the file in base64; empty: the file is not sealed
 * @throws Error if it is sealed with a key that is not configured, or can't be read
 */
export async function keyOfFile(path: string, keys: FileKeys | null): Promise<string> {
  const file = await open(path)
  try {
    const head = Buffer.alloc(HEAD_BYTES)
    const { bytesRead } = await file.read(head, 0, HEAD_BYTES, 0)
    if (bytesRead < HEAD_BYTES || !head.subarray(0, MAGIC.length).equals(MAGIC)) return ''
    const id = head[MAGIC.length]!
    const master = (keys === null ? [] : [keys.primary, ...keys.previous]).find((key) => key.id === id)
    if (master === undefined) throw new Error(`the encryption key with id ${id} is not configured`)
    return Buffer.from(derived(master, head.subarray(MAGIC.length + 1))).toString('base64')
  } finally {
    await file.close()
  }
}

/**
 * Reads a chunk when it is asked for one.
 * @param key as `keyOfFile` returns it
 * @throws DamagedFile behind the chunks before
 */
export async function* readSealed(path: string, key: string): AsyncGenerator<Buffer> {
  if (key === '') {
    yield* createReadStream(path, { highWaterMark: READ_BYTES }) as AsyncIterable<Buffer>
    return
  }
  const secret = Buffer.from(key, 'base64')
  const file = await open(path)
  try {
    const { size } = await file.stat()
    let at = HEAD_BYTES
    for (let number = 0; number === 0 || at < size; number++) {
      const sealed = Buffer.allocUnsafeSlow(Math.max(0, Math.min(SEALED_CHUNK_BYTES + TAG_BYTES, size - at)))
      const { bytesRead } = await file.read(sealed, 0, sealed.length, at)
      at += sealed.length
      if (bytesRead < sealed.length) throw new DamagedFile()
      const chunk = opened(secret, sealed, nonceOf(number, at === size))
      if (chunk.length > 0) yield chunk
    }
  } finally {
    await file.close()
  }
}

/** The whole file, as it was given. @param key as `keyOfFile` returns it */
export async function readWholeSealed(path: string, key: string): Promise<Buffer> {
  if (key === '') return await readFile(path)
  const { size } = await stat(path)
  const whole = Buffer.allocUnsafeSlow(Math.max(0, plainBytesOf(size, key)))
  let at = 0
  for await (const chunk of readSealed(path, key)) {
    if (at + chunk.length > whole.length) throw new DamagedFile()
    whole.set(chunk, at)
    at += chunk.length
    free(chunk)
  }
  return whole.subarray(0, at)
}

/** Creates the file. It must not exist. */
export async function writeWholeSealed(path: string, bytes: Uint8Array, keys: FileKeys | null): Promise<void> {
  await writeFile(path, keys === null ? [bytes] : sealedParts(new FileSealer(keys), bytes), { flag: 'wx', mode: 0o600 })
}

/** Length of what is sealed in a file. @param bytes of the file @param key as `keyOfFile` returns it */
export function plainBytesOf(bytes: number, key: string): number {
  if (key === '') return bytes
  const chunks = Math.ceil((bytes - HEAD_BYTES) / (SEALED_CHUNK_BYTES + TAG_BYTES))
  return bytes - HEAD_BYTES - chunks * TAG_BYTES
}

function* sealedParts(sealer: FileSealer, bytes: Uint8Array): Generator<Uint8Array> {
  yield sealer.head
  let at = 0
  for (; at + SEALED_CHUNK_BYTES < bytes.length; at += SEALED_CHUNK_BYTES)
    yield sealer.seal(bytes.subarray(at, at + SEALED_CHUNK_BYTES), false)
  yield sealer.seal(bytes.subarray(at), true)
}

function opened(key: Uint8Array, sealed: Buffer, nonce: Uint8Array): Buffer {
  const end = sealed.length - TAG_BYTES
  if (end < 0) throw new DamagedFile()
  const decipher = createDecipheriv('aes-256-gcm', key, nonce, { authTagLength: TAG_BYTES })
  decipher.setAuthTag(sealed.subarray(end))
  const chunk = decipher.update(sealed.subarray(0, end))
  try {
    decipher.final()
  } catch (cause) {
    throw new DamagedFile(cause)
  }
  return chunk
}

let closedPort: MessagePort | undefined

/**
 * Gives the memory of what a cipher has made back at once, where V8 would keep 30 MB of a file of 100 MB: a
 * message takes its buffers with it, and none arrives at a port that is closed.
 */
function free(bytes: Buffer): void {
  if (closedPort === undefined) {
    const { port1, port2 } = new MessageChannel()
    port2.close()
    closedPort = port1
  }
  const { buffer } = bytes
  if (buffer instanceof ArrayBuffer && buffer.byteLength === bytes.length && bytes.length > 0) closedPort.postMessage(null, [buffer])
}

function derived({ bytes }: FileKey, salt: Uint8Array): Uint8Array {
  return new Uint8Array(hkdfSync('sha256', bytes, salt, LABEL, KEY_BYTES))
}

/** The first byte marks the last chunk, so that a file that is cut off between two is found. */
function nonceOf(number: number, isLast: boolean): Buffer {
  const nonce = Buffer.alloc(NONCE_BYTES)
  nonce[0] = isLast ? 1 : 0
  nonce.writeBigUInt64LE(BigInt(number), NONCE_BYTES - 8)
  return nonce
}
