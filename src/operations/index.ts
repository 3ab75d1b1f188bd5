/**
 * The table of operations: every row of every domain, validated once at load. Routes, validation, OpenAPI,
 * `/v1/endpoints`, metric labels and permissions are derived from it. Pure data; loaded by every thread,
 * loads no engine.
 */
import { authOperations, internalAuthOperations } from './auth.js'
import { adviceOperations } from './search_advice.js'
import { auditOperations } from './audit.js'
import { autocompleteOperations } from './autocomplete.js'
import { configOperations } from './collection_config.js'
import { backupOperations } from './backup.js'
import { bulkIngestOperations, ingestChunk } from './bulk_ingest.js'
import { collectionOperations } from './collections.js'
import { complianceOperations } from './compliance.js'
import { schemaOperations } from './collection_schemas.js'
import { curationOperations } from './curation.js'
import { documentOperations } from './documents.js'
import { embeddingOperations, internalEmbeddingOperations } from './embedding.js'
import { exportOperations } from './export.js'
import { activeEmbeddingConfig, embeddingConfigOperations } from './embedding_configs.js'
import { encryptionOperations } from './encryption.js'
import { fulltextOperations } from './fulltext.js'
import { groupOperations } from './groups.js'
import { healthOperations } from './health.js'
import { hybridOperations } from './hybrid_search.js'
import { mcpKeyOperations } from './mcp.js'
import type { AnyOperation, InternalOperation, Operation } from './operation.js'
import { profileOperations } from './profiles.js'
import { revisionOperations } from './revisions.js'
import { spellOperations } from './spell.js'
import { storageOperations } from './storage.js'
import { temporalOperations } from './temporal.js'
import { userOperations } from './users.js'
import { vectorSearchOperations } from './vector_search.js'
import { vocabularyOperations } from './vocabulary.js'

/** In the order of the reference page. */
export const operations: readonly Operation[] = checked([
  ...documentOperations,
  ...bulkIngestOperations,
  ...revisionOperations,
  ...temporalOperations,
  ...collectionOperations,
  ...configOperations,
  ...schemaOperations,
  ...vocabularyOperations,
  ...curationOperations,
  ...fulltextOperations,
  ...autocompleteOperations,
  ...spellOperations,
  ...adviceOperations,
  ...vectorSearchOperations,
  ...hybridOperations,
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
])

/** Operations that the front end requests from the lanes. No surface offers them. */
export const internalOperations: readonly InternalOperation[] = [
  ingestChunk,
  ...storageOperations,
  activeEmbeddingConfig,
  ...internalEmbeddingOperations,
  ...internalAuthOperations,
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
    if (row.cost === 'loop' && row.effect !== 'system') throw new Error(`operation ${row.name} runs on the loop, which has no store`)
    if (row.effect === 'write' && row.cost !== 'write' && row.cost !== 'heavy' && row.cost !== 'long')
      throw new Error(`operation ${row.name} writes on a read lane`)
    if (row.effect === 'write' && row.audit === null) throw new Error(`operation ${row.name} writes without a name in the audit log`)
  }
  return rows
}
