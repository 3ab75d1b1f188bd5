/**
 * The golden store of format 1, written by the last version of that format: collections `Plain` and `sealed`
 * (encrypted under GOLDEN_KEY) with the same documents, and `dropped` with one.
 */
import assert from 'node:assert/strict'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { Keyring } from '../../../src/store/sealing/keyring.js'

/** The value of SVC_ENCRYPTION_KEY, key id 1. */
export const GOLDEN_KEY = 'MDAxMTIyMzM0NDU1NjY3Nzg4OTlhYWJiY2NkZGVlZmY='

/** @param path directory of the generation, which is created */
export function unpackGoldenStore(path: string): string {
  mkdirSync(path, { recursive: true })
  writeFileSync(join(path, 'truth.mdb'), gunzipSync(readFileSync('test/golden/store/format-1.mdb.gz')))
  return path
}

export function goldenKeyring(): Keyring {
  const primary = { id: 1, bytes: Buffer.from(GOLDEN_KEY, 'base64') }
  return new Keyring({ primary, previous: [] }, () => assert.fail('there is a master key'))
}

/**
 * Content of `doc-0` to `doc-23` of either collection, except for `doc-8`, which was deleted. The last
 * spelling of `doc-1` is DOC-1.
 */
export function goldenContent(document: number): string {
  const first = `# Document ${document}\n\n${`The ${document}th text of the golden store. `.repeat(document % 4 === 0 ? 200 : 3)}`
  return document === 1 ? `${first}spelled` : document < 6 ? `${first}again` : first
}
