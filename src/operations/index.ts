/**
 * The table of operations: every row of every domain, checked once at load. Routes, validation, OpenAPI,
 * `/v1/endpoints`, metric labels and permissions are derived from it. Pure data; loaded by every thread,
 * loads no engine.
 */
import { autocompleteOperations } from './autocomplete.js'
import { configOperations } from './collection_config.js'
import { backupOperations } from './backup.js'
import { bulkIngestOperations, ingestChunk } from './bulk_ingest.js'
import { collectionOperations } from './collections.js'
import { schemaOperations } from './collection_schemas.js'
import { curationOperations } from './curation.js'
import { documentOperations } from './documents.js'
import { embeddingOperations, internalEmbeddingOperations } from './embedding.js'
import { exportOperations } from './export.js'
import { activeEmbeddingConfig, embeddingConfigOperations } from './embedding_configs.js'
import { encryptionOperations } from './encryption.js'
import { fulltextOperations } from './fulltext.js'
import { healthOperations } from './health.js'
import { hybridOperations } from './hybrid_search.js'
import type { AnyOperation, InternalOperation, Operation } from './operation.js'
import { revisionOperations } from './revisions.js'
import { spellOperations } from './spell.js'
import { storageOperations } from './storage.js'
import { temporalOperations } from './temporal.js'
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
  ...vectorSearchOperations,
  ...hybridOperations,
  ...embeddingOperations,
  ...exportOperations,
  ...backupOperations,
  ...encryptionOperations,
  ...embeddingConfigOperations,
  ...healthOperations,
])

/** What the front end itself asks of the lanes: no surface offers it. */
export const internalOperations: readonly InternalOperation[] = [
  ingestChunk,
  ...storageOperations,
  activeEmbeddingConfig,
  ...internalEmbeddingOperations,
]

/** As the lanes know them: an operation is its place in this list. */
export const laneOperations: readonly AnyOperation[] = [...operations, ...internalOperations]

const laneIndexes: ReadonlyMap<AnyOperation, number> = new Map(laneOperations.map((row, index) => [row, index]))

/** What a lane refuses: the row is not of the table. */
const NO_INDEX = 0xffff

export function laneIndexOf(operation: AnyOperation): number {
  return laneIndexes.get(operation) ?? NO_INDEX
}

export const operationByName: ReadonlyMap<string, Operation> = new Map(operations.map((row) => [row.name, row]))

/** What a server offers. @param options a feature is on where the option of its name is true */
export function offered(options: object): readonly Operation[] {
  return operations.filter(({ feature }) => feature === undefined || (options as Readonly<Record<string, unknown>>)[feature] === true)
}

/**
 * @throws Error for a table that contradicts itself: a mistake of ours, found by the first test that loads
 * it.
 */
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
    if (row.cost === 'loop' && row.effect !== 'system') throw new Error(`operation ${row.name} runs on the loop, where no store is`)
    if (row.effect === 'write' && row.cost !== 'write' && row.cost !== 'heavy' && row.cost !== 'long')
      throw new Error(`operation ${row.name} writes on a read lane`)
    if (row.effect === 'write' && row.audit === null) throw new Error(`operation ${row.name} writes without a name in the audit log`)
  }
  return rows
}
