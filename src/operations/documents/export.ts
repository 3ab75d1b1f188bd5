/** Rows that export or import whole collections. Pure data; rules in src/domain/export. */
import { DEADLINE_HEAVY_MS } from '../../limits/lanes.js'
import { named } from '../row/collection_access.js'
import { Type } from '../row/json_schema.js'
import { collection, metaFilters, operation, optional, word } from '../row/schema.js'

/** Of every protocol. */
export const EXPORT_FORMAT_DEFAULT = 'ndjson'

export const exportCollection = operation({
  collections: named('collection'),
  group: 'Export and backup',
  name: 'export',
  client: null,
  polledIn: 'domain/export/pages.ts',
  boundedBy: ['EXPORT_POLL_DOCUMENTS'],
  protocols: { grpc: 'Export', graphql: null, mcp: 'export_documents' },
  description: 'Exports all documents of a collection, as NDJSON or in a ZIP file',
  effect: 'read',
  permission: 'read',
  cost: 'heavy',
  comesInParts: true,
  http: { routes: [{ method: 'POST', path: '/v1/export' }] },
  input: Type.Object({
    collection,
    format: optional(
      word(
        ['ndjson', 'zip'],
        '`ndjson`: one document per line; `zip`: one markdown file per document, named `{key}.{lang}.md`.',
        EXPORT_FORMAT_DEFAULT,
      ),
    ),
    ...metaFilters,
  }),
  output: Type.String({
    description: 'Streamed while it is read, of any length: one Document per line, or a ZIP file (`application/zip`).',
  }),
  contentType: 'application/x-ndjson',
  otherContentType: 'application/zip',
  errors: ['unsupportedFormat', 'notFound'],
  // Of one part of the export.
  deadlineMs: DEADLINE_HEAVY_MS,
  audit: null,
})

export const exportOperations = [exportCollection] as const
