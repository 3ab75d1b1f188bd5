/**
 * Tools shared by the tests of storage backends: servers whose directories outlive them, configurations, and
 * documents whose bodies are stored only in a backend.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DocumentsClient, type Fields, summary } from '../../harness/clients/documents_client.js'
import { ACCESS_KEY, type ObjectStore, REGION, SECRET_KEY } from '../../harness/store/object_store.js'

const ENCRYPTION_KEY = Buffer.alloc(32, 7).toString('base64')
export const UNAVAILABLE = '503 {"error":"storage backend unavailable"}'

/** Documents without revisions, whose bodies are stored only in the backend. */
export const unkept = (...keys: readonly string[]): Fields[] =>
  keys.map((key) => ({ key, lang: 'en', contentMd: `The body of ${key}: kingfisher.`, saveRevision: false }))

/** A server whose directory outlives it. */
export class Restarted {
  readonly directory = mkdtempSync(join(tmpdir(), 'mds-storage-'))
  client!: DocumentsClient

  async start(env: Readonly<Record<string, string>> = {}): Promise<DocumentsClient> {
    const options = { SVC_OUTBOUND_ALLOW_PRIVATE: 'true', SVC_ENCRYPTION_KEY: ENCRYPTION_KEY, ...env }
    this.client = await DocumentsClient.start({ directory: this.directory, env: options })
    return this.client
  }

  async stop(): Promise<void> {
    await this.client.stop()
    rmSync(this.directory, { recursive: true, force: true })
  }
}

export async function configure(client: DocumentsClient, collection: string, fields: Fields): Promise<string> {
  return summary(await client.server.request('PUT', '/v1/collection-config', { collection, ...fields }))
}

export const configured = (collection: string): string => `200 {"status":"ok","collection":"${collection}"}`

/** @param change fields of the storageConfig to replace */
export function locationIn(store: ObjectStore, change: Fields = {}): Fields {
  const config = { endpoint: store.endpoint, bucket: 'docs', region: REGION, accessKey: ACCESS_KEY, secretKey: SECRET_KEY, ...change }
  return { storageBackend: 's3', storageConfig: config }
}

/** A counter of the server. */
export async function metricOf(client: DocumentsClient, name: string): Promise<number> {
  return Number(new RegExp(`^mddb_${name} (\\d+)$`, 'm').exec((await client.server.get('/metrics')).text)?.[1])
}
