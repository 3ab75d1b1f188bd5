/**
 * A data directory with collections `Plain` and `sealed` (encrypted under STORE_KEY) with the same documents,
 * and `dropped` with one. Made by a server of the present version.
 */
import assert from 'node:assert/strict'
import { Keyring } from '../../../src/store/sealing/keyring.js'
import { startServer } from '../server/server.js'

/** The value of SVC_ENCRYPTION_KEY, key id 1. */
export const STORE_KEY = 'MDAxMTIyMzM0NDU1NjY3Nzg4OTlhYWJiY2NkZGVlZmY='
export const STORE_ENV = { SVC_ENCRYPTION_KEY: STORE_KEY, SVC_TEMPORAL: 'true' }
const DOCUMENTS = 24

export function storeKeyring(): Keyring {
  const primary = { id: 1, bytes: Buffer.from(STORE_KEY, 'base64') }
  return new Keyring({ primary, previous: [] }, () => assert.fail('there is a master key'))
}

/**
 * Content of `doc-0` to `doc-23` of either collection. The last spelling of `doc-1`, the second document of
 * its collection, is DOC-1.
 */
export function contentOfStored(document: number): string {
  const first = firstContentOf(document)
  return document === 1 ? `${first}spelled` : document < 6 ? `${first}again` : first
}

function firstContentOf(document: number): string {
  return `# Document ${document}\n\n${`The ${document}th text of the store. `.repeat(document % 4 === 0 ? 200 : 3)}`
}

/** All documents with their last spelling. */
export const STORED_KEYS: readonly string[] = Array.from({ length: DOCUMENTS }, (_, document) =>
  document === 1 ? 'DOC-1' : `doc-${document}`,
)

/** @param directory is created; its server has ended when this returns */
export async function makeFilledStore(directory: string): Promise<void> {
  const server = await startServer({ directory, env: STORE_ENV })
  const add = async (collection: string, key: string, contentMd: string): Promise<void> => {
    const { status, text } = await server.post('/v1/add', { collection, key, lang: 'en', contentMd, meta: { kind: ['stored'] } })
    assert.equal(status, 200, text)
  }
  try {
    const sealing = await server.request('PUT', '/v1/collection-config', { collection: 'sealed', encrypted: true })
    assert.equal(sealing.status, 200, sealing.text)
    const described = await server.request('PUT', '/v1/collection-config', { collection: 'Plain', description: 'plaintext' })
    assert.equal(described.status, 200, described.text)
    for (const collection of ['Plain', 'sealed']) {
      for (let document = 0; document < DOCUMENTS; document++) await add(collection, `doc-${document}`, firstContentOf(document))
      for (const document of [0, 2, 3, 4, 5]) await add(collection, `doc-${document}`, contentOfStored(document))
      await add(collection, 'DOC-1', contentOfStored(1))
      const expiring = await server.post('/v1/set-ttl', { collection, key: 'doc-7', lang: 'en', ttl: 3_000_000_000 })
      assert.equal(expiring.status, 200, expiring.text)
    }
    await add('dropped', 'doc', 'of a third collection')
    assert.equal(await server.stop(), 0, server.output())
  } finally {
    await server.kill()
  }
}
