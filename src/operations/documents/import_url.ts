/** Rows of the import of a page: what clients ask for, and a lane's part once it is fetched. Pure data. */
import { DEADLINE_HEAVY_MS } from '../../limits/lanes.js'
import { named } from '../row/collection_access.js'
import { Type } from '../row/json_schema.js'
import { collection, Document, identity, internal, lang, metaMap, operation, optional, text, ttl } from '../row/schema.js'

export const importUrl = operation({
  name: 'importUrl',
  client: 'documents.importUrl',
  group: 'Documents',
  collections: named('collection'),
  boundedBy: ['OUTBOUND_URL_BYTES_MAX', 'META_VALUES_MAX'],
  protocols: { grpc: 'ImportURL', graphql: 'importURL', mcp: 'import_url' },
  description: 'Fetches a page of the web and writes it as a document: text as it is, HTML as Markdown',
  effect: 'write',
  permission: 'write',
  cost: 'heavy',
  http: { routes: [{ method: 'POST', path: '/v1/import-url' }] },
  input: Type.Object({
    collection,
    url: text('http or https URL of a text or an HTML page, at most 10 MB. Redirects are followed.', 'https://example.com/docs/start.html'),
    lang,
    key: optional(Type.String({ description: "Key of the document. Default: the last segment of the URL's path, without extension." })),
    meta: optional(metaMap),
    ttl: optional(ttl),
    mainContent: optional(
      Type.Boolean({
        description: 'Leaves menus, sidebars and footers of an HTML page out, where a main part stands out.',
        default: false,
      }),
    ),
  }),
  output: Document,
  errors: ['keyNotDerived', 'overloaded'],
  deadlineMs: DEADLINE_HEAVY_MS,
  audit: 'write./v1/import-url',
})

/** Requested by the front end once it has the page. Not available to clients. */
export const storePage = internal({
  name: 'storePage',
  boundedBy: ['DOCUMENT_BYTES_MAX'],
  description: 'Stores a fetched page',
  effect: 'write',
  cost: 'write',
  input: Type.Object({
    ...identity,
    page: Type.Unsafe<Uint8Array>({ description: 'The text, as it came.' }),
    charset: Type.String({ description: 'As the sender named it; empty: it did not.' }),
    hasFrontmatter: Type.Boolean({ description: 'Whether a block at its beginning becomes metadata.' }),
    meta: optional(metaMap),
    ttl,
  }),
  output: Document,
  deadlineMs: DEADLINE_HEAVY_MS,
})

export const importUrlOperations = [importUrl] as const
