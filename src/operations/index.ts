/**
 * The table of operations: every row of every domain, validated once at load. Routes, validation, OpenAPI,
 * `/v1/endpoints`, metric labels and permissions are derived from it. Pure data; loaded by every thread,
 * loads no engine.
 */
import { auditOperations } from './access/audit.js'
import { authOperations, internalAuthOperations } from './access/auth.js'
import { groupOperations } from './access/groups.js'
import { mcpKeyOperations } from './access/mcp.js'
import { userOperations } from './access/users.js'
import { bulkIngestOperations, ingestChunk } from './documents/bulk_ingest.js'
import { changeFeedOperations, changePage } from './documents/change_feed.js'
import { collectionOperations } from './documents/collections.js'
import { documentOperations } from './documents/documents.js'
import { exportOperations } from './documents/export.js'
import { importUrlOperations, storePage } from './documents/import_url.js'
import { importWikiOperations, internalWikiOperations } from './documents/import_wiki.js'
import { ingestOperations } from './documents/ingest.js'
import { revisionOperations } from './documents/revisions.js'
import { temporalOperations } from './documents/temporal.js'
import { findUploaded, storeUpload, uploadOperations } from './documents/upload.js'
import { memoryOperations } from './memory/memory.js'
import type { AnyOperation, InternalOperation, Operation } from './row/operation.js'
import { autocompleteOperations } from './search/autocomplete.js'
import { fulltextOperations } from './search/fulltext.js'
import { hybridOperations } from './search/hybrid_search.js'
import { adviceOperations } from './search/search_advice.js'
import { spellOperations } from './search/spell.js'
import { vectorSearchOperations } from './search/vector_search.js'
import { backupOperations } from './server/backup.js'
import { complianceOperations } from './server/compliance.js'
import { embeddingOperations, internalEmbeddingOperations } from './server/embedding.js'
import { encryptionOperations } from './server/encryption.js'
import { graphqlOperations } from './server/graphql.js'
import { healthOperations } from './server/health.js'
import { profileOperations } from './server/profiles.js'
import { storageOperations } from './server/storage.js'
import { configOperations } from './settings/collection_config.js'
import { schemaOperations } from './settings/collection_schemas.js'
import { curationOperations } from './settings/curation.js'
import { activeEmbeddingConfig, embeddingConfigOperations } from './settings/embedding_configs.js'
import { vocabularyOperations } from './settings/vocabulary.js'
import { internalWebhookOperations, webhookOperations } from './settings/webhooks.js'

/** In the order of the reference page. */
export const operations: readonly Operation[] = checked([
  ...documentOperations,
  ...ingestOperations,
  ...importUrlOperations,
  ...uploadOperations,
  ...importWikiOperations,
  ...bulkIngestOperations,
  ...revisionOperations,
  ...temporalOperations,
  ...changeFeedOperations,
  ...collectionOperations,
  ...configOperations,
  ...schemaOperations,
  ...vocabularyOperations,
  ...curationOperations,
  ...webhookOperations,
  ...fulltextOperations,
  ...autocompleteOperations,
  ...spellOperations,
  ...adviceOperations,
  ...vectorSearchOperations,
  ...hybridOperations,
  ...memoryOperations,
  ...embeddingOperations,
  ...exportOperations,
  ...backupOperations,
  ...encryptionOperations,
  ...auditOperations,
  ...embeddingConfigOperations,
  ...authOperations,
  ...userOperations,
  ...groupOperations,
  ...mcpKeyOperations,
  ...healthOperations,
  ...complianceOperations,
  ...profileOperations,
  ...graphqlOperations,
])

/** Operations that the front end requests from the lanes. No surface offers them. */
const internalOperations: readonly InternalOperation[] = [
  changePage,
  ingestChunk,
  ...internalWikiOperations,
  storePage,
  storeUpload,
  findUploaded,
  ...storageOperations,
  activeEmbeddingConfig,
  ...internalEmbeddingOperations,
  ...internalAuthOperations,
  ...internalWebhookOperations,
]

/** The operations of the lanes. The index in this list identifies an operation to a lane. */
export const laneOperations: readonly AnyOperation[] = [...operations, ...internalOperations]

const laneIndexes: ReadonlyMap<AnyOperation, number> = new Map(laneOperations.map((row, index) => [row, index]))

/** Index of an operation that is not in the table. Lanes refuse it. */
const NO_INDEX = 0xffff

export function laneIndexOf(operation: AnyOperation): number {
  return laneIndexes.get(operation) ?? NO_INDEX
}

export const operationByName: ReadonlyMap<string, Operation> = new Map(operations.map((row) => [row.name, row]))

/**
 * Returns the operations that a server offers.
 * @param options a feature is on if the option of its name is true
 */
export function offered(options: object): readonly Operation[] {
  return operations.filter(({ feature }) => feature === undefined || (options as Readonly<Record<string, unknown>>)[feature] === true)
}

/** @throws Error for a contradictory table: a programming error, found by the first test that loads it */
export function checked(rows: readonly Operation[]): readonly Operation[] {
  const names = new Set<string>()
  const routes = new Set<string>()
  for (const row of rows) {
    if (names.has(row.name)) throw new Error(`two operations are named ${row.name}`)
    names.add(row.name)
    for (const { method, path } of row.http?.routes ?? []) {
      const route = `${method} ${path}`
      if (routes.has(route)) throw new Error(`two operations answer ${route}`)
      routes.add(route)
    }
    if ((row.cost === 'loop' || row.cost === 'thread') && row.effect !== 'system')
      throw new Error(`operation ${row.name} runs on no lane, so it has no store`)
    if (row.effect === 'write' && row.cost !== 'write' && row.cost !== 'heavy' && row.cost !== 'long')
      throw new Error(`operation ${row.name} writes on a read lane`)
    if (row.effect === 'write' && row.audit === null) throw new Error(`operation ${row.name} writes without a name in the audit log`)
  }
  return rows
}
