/**
 * The handler of each operation: every row of the table that runs on a lane has exactly one, checked when a
 * lane starts.
 */
import { laneOperations } from '../../operations/index.js'
import type { AnyOperation } from '../../operations/row/operation.js'
import type { BoundHandler, Handler } from '../request/handler.js'
import { accessHandlers } from './access.js'
import { aggregateHandlers } from './aggregate.js'
import { auditHandlers } from './audit.js'
import { backupHandlers } from './backup/backup.js'
import { changeFeedHandlers } from './change_feed.js'
import { collectionHandlers } from './collections.js'
import { documentHandlers } from './documents.js'
import { embeddingHandlers } from './embedding.js'
import { embeddingConfigHandlers } from './embedding_configs.js'
import { encryptionHandlers } from './encryption.js'
import { exportHandlers } from './export.js'
import { fulltextHandlers } from './fulltext.js'
import { bulkIngestHandlers } from './ingest/bulk_ingest.js'
import { importUrlHandlers } from './ingest/import_url.js'
import { importWikiHandlers } from './ingest/import_wiki.js'
import { ingestHandlers } from './ingest/ingest.js'
import { uploadHandlers } from './ingest/upload.js'
import { memoryHandlers } from './memory.js'
import { profileHandlers } from './profiles.js'
import { revisionHandlers } from './revisions.js'
import { schemaHandlers } from './schemas.js'
import { adviceHandlers } from './search_advice.js'
import { settingsHandlers } from './settings.js'
import { storageHandlers } from './storage.js'
import { systemHandlers } from './system.js'
import { temporalHandlers } from './temporal.js'
import { vectorSearchHandlers } from './vector_search.js'
import { webhookHandlers } from './webhooks.js'
import { wordHandlers } from './words.js'

export const handlers: ReadonlyMap<AnyOperation, Handler> = joined([
  ...documentHandlers,
  ...ingestHandlers,
  ...importUrlHandlers,
  ...uploadHandlers,
  ...importWikiHandlers,
  ...bulkIngestHandlers,
  ...revisionHandlers,
  ...changeFeedHandlers,
  ...collectionHandlers,
  ...aggregateHandlers,
  ...settingsHandlers,
  ...schemaHandlers,
  ...fulltextHandlers,
  ...wordHandlers,
  ...temporalHandlers,
  ...exportHandlers,
  ...auditHandlers,
  ...backupHandlers,
  ...encryptionHandlers,
  ...embeddingConfigHandlers,
  ...webhookHandlers,
  ...systemHandlers,
  ...profileHandlers,
  ...adviceHandlers,
  ...storageHandlers,
  ...embeddingHandlers,
  ...vectorSearchHandlers,
  ...memoryHandlers,
  ...accessHandlers,
])

/** @throws Error if table and handlers do not match: a programming error, found by the first start */
function joined(entries: readonly BoundHandler[]): ReadonlyMap<AnyOperation, Handler> {
  const map = new Map(entries)
  if (map.size !== entries.length) throw new Error('two handlers are bound to one row')
  const rows = new Set(laneOperations.filter(({ cost }) => cost !== 'loop' && cost !== 'thread'))
  const lacking = [...rows].filter((row) => !map.has(row)).map(({ name }) => name)
  const idle = [...map.keys()].filter((row) => !rows.has(row)).map(({ name }) => name)
  if (lacking.length > 0 || idle.length > 0)
    throw new Error(`operations without handler: ${lacking.join(', ')}; handlers without operation: ${idle.join(', ')}`)
  for (const [row, { kind }] of map)
    if ((kind === 'stream') !== (row.comesInParts === true))
      throw new Error(`${row.name}: handler and row differ in whether the answer comes in parts`)
  return map
}
