/**
 * Files that are sealed in chunks: what was given is read again, whatever its length; what was cut off,
 * changed or put together anew is refused, and no more is given than what was sealed before the fault.
 */
import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import fc from 'fast-check'
import {
  keyOfFile,
  plainBytesOf,
  readSealed,
  readWholeSealed,
  SEALED_CHUNK_BYTES,
  writeWholeSealed,
} from '../../../src/base/sealed_files.js'
import { holds } from '../../harness/property.js'

const directory = mkdtempSync(join(tmpdir(), 'mds-sealed-files-'))
after(() => rmSync(directory, { recursive: true, force: true }))

const key = (id: number): { id: number; bytes: Uint8Array } => ({ id, bytes: Buffer.alloc(32, id) })
const KEYS = { primary: key(7), previous: [] }
const CHUNK = SEALED_CHUNK_BYTES
const SEALED_CHUNK = CHUNK + 16
const HEAD = 45

/** Lengths around those of chunks. */
const length = fc.oneof(
  fc.nat(2000),
  fc.tuple(fc.constantFrom(CHUNK, 2 * CHUNK, 3 * CHUNK), fc.integer({ min: -2, max: 2 })).map(([bytes, more]) => bytes + more),
)
let made = 0
const newPath = (): string => join(directory, String(made++))
const contentOf = (bytes: number, first: number): Buffer =>
  Buffer.from(Uint8Array.from({ length: bytes }, (_, at) => (at * 31 + first) % 251))

async function sealed(content: Buffer): Promise<{ readonly path: string; readonly bytes: Buffer }> {
  const path = newPath()
  await writeWholeSealed(path, content, KEYS)
  return { path, bytes: readFileSync(path) }
}

/** What the file gives, and its error. */
async function readingOf(path: string, bytes: Buffer): Promise<{ readonly content: Buffer; readonly error: unknown }> {
  const fileKey = await keyOfFile(path, KEYS)
  writeFileSync(path, bytes)
  const parts: Buffer[] = []
  try {
    for await (const part of readSealed(path, fileKey)) parts.push(part)
    return { content: Buffer.concat(parts), error: undefined }
  } catch (error) {
    return { content: Buffer.concat(parts), error }
  }
}

test('sealed files: what was sealed is read again, whatever its length, and nothing of it is in the file', () =>
  holds(
    fc.asyncProperty(length, fc.nat(250), async (bytes, first) => {
      const content = contentOf(bytes, first)
      const { path, bytes: file } = await sealed(content)
      const fileKey = await keyOfFile(path, KEYS)
      assert.equal(fileKey.length, 44)
      assert.ok((await readWholeSealed(path, fileKey)).equals(content))
      assert.equal(plainBytesOf(file.length, fileKey), bytes)
      for (let at = 0; at + 16 <= bytes; at += 100_000) assert.ok(!file.includes(content.subarray(at, at + 16)))
      rmSync(path)
    }),
  ))

test('sealed files: a file that is cut off anywhere, also between two chunks, is refused', () =>
  holds(
    fc.asyncProperty(length, fc.nat(), fc.boolean(), async (bytes, where, isBetween) => {
      const content = contentOf(bytes, 1)
      const { path, bytes: file } = await sealed(content)
      const chunks = Math.floor((file.length - HEAD - 1) / SEALED_CHUNK)
      const end = isBetween ? HEAD + (where % (chunks + 1)) * SEALED_CHUNK : HEAD + (where % (file.length - HEAD))
      const { content: read, error } = await readingOf(path, file.subarray(0, end))
      assert.match(String(error), /was changed or is cut off/)
      assert.ok(content.subarray(0, read.length).equals(read) && read.length % CHUNK === 0)
      rmSync(path)
    }),
  ))

test('sealed files: a file of which a bit is changed, or a chunk stands elsewhere, is refused', () =>
  holds(
    fc.asyncProperty(length, fc.nat(), fc.nat(7), async (bytes, where, bit) => {
      const content = contentOf(bytes, 2)
      const { path, bytes: file } = await sealed(content)
      const changed = Buffer.from(file)
      const at = HEAD + (where % (file.length - HEAD))
      changed[at] = changed[at]! ^ (1 << bit)
      assert.match(String((await readingOf(path, changed)).error), /was changed/)
      writeFileSync(path, file)
      if (file.length >= HEAD + 2 * SEALED_CHUNK) {
        const [first, second] = [0, 1].map((chunk) => file.subarray(HEAD + chunk * SEALED_CHUNK, HEAD + (chunk + 1) * SEALED_CHUNK))
        const swapped = Buffer.concat([file.subarray(0, HEAD), second!, first!, file.subarray(HEAD + 2 * SEALED_CHUNK)])
        assert.match(String((await readingOf(path, swapped)).error), /was changed/)
      }
      rmSync(path)
    }),
  ))

test('sealed files: a previous key opens what it sealed, one that is not configured is named, two files share no key', async () => {
  const { path } = await sealed(Buffer.from('text'))
  const rotated = { primary: key(9), previous: [key(7)] }
  const fileKey = await keyOfFile(path, rotated)
  assert.equal(String(await readWholeSealed(path, fileKey)), 'text')
  for (const keys of [{ primary: key(9), previous: [] }, null])
    await assert.rejects(keyOfFile(path, keys), /the encryption key with id 7 is not configured/)
  const other = await sealed(Buffer.from('text'))
  assert.notEqual(await keyOfFile(other.path, KEYS), fileKey)
  await assert.rejects(readWholeSealed(other.path, fileKey), /was changed/)
})

test('sealed files: without a key a file is as it was given, and is read so where a key was configured later', async () => {
  for (const content of ['', 'text', '\0mds-sealed', 'text '.repeat(100)]) {
    const path = newPath()
    await writeWholeSealed(path, Buffer.from(content), null)
    assert.equal(readFileSync(path, 'utf8'), content)
    for (const keys of [null, KEYS]) {
      assert.equal(await keyOfFile(path, keys), '')
      assert.equal(String(await readWholeSealed(path, '')), content)
    }
    assert.equal(plainBytesOf(4, ''), 4)
  }
})
