/**
 * Row of ingest: documents as scrapers and importers have them. Pure data; rules in src/domain/ingest.
 */
import { DEADLINE_HEAVY_MS } from '../../limits/lanes.js'
import { named } from '../row/collection_access.js'
import { Type } from '../row/json_schema.js'
import { collection, lang, metaMap, operation, optional, ownItem, shape, ttl, unixSeconds, word } from '../row/schema.js'

/** Names of the presets of options; their flags are in src/domain/ingest/ingest_options.ts. */
export const INGEST_PROFILES = ['default', 'fast'] as const

const flag = (description: string) => optional(Type.Boolean({ description }))

export const ingestProfile = word(
  INGEST_PROFILES,
  '`fast`: no revisions, no webhooks, no duplicates, plain text. Flags that are given override it.',
  'default',
)

/** The flags of every way in that has profiles. */
export const ingestFlags = {
  skipDuplicates: flag('Skips documents whose stored text is the same, whatever their metadata.'),
  skipEmbeddings: flag('Computes no vectors. `/v1/vector-reindex` does later.'),
  skipFts: flag('Does not index the text for full-text search. `/v1/fts-reindex` does later.'),
  skipWebhooks: flag('Notifies no webhooks.'),
  saveRevision: flag('Keeps a revision of each write. Default: true, with `fast` false.'),
  textOnly: flag('Plain text instead of Markdown for what is converted.'),
}

/** An invalid document fails alone, so the schema accepts every item. */
const item = ownItem(
  'IngestDocument',
  Type.Object({
    url: optional(
      Type.String({
        description:
          'Where the document comes from, stored as `source_url`. Its last path segment without extension is the key if there is none.',
      }),
    ),
    key: optional(Type.String({ description: 'Key of the document. Default: from `url`.' })),
    lang,
    contentMd: Type.String({ description: 'Markdown text; may be empty.' }),
    meta: optional(metaMap),
    extractFrontmatter: flag('Takes a leading YAML block out of the text and into the metadata. `meta` has priority.'),
    scrapedAt: optional(unixSeconds('When the source was read, stored as `scraped_at`.')),
    scraper: optional(Type.String({ description: 'Name of the scraper, stored as `scraper`.' })),
    ttl: optional(ttl),
  }),
)

const options = Type.Object(
  {
    profile: optional(ingestProfile),
    skipDuplicates: ingestFlags.skipDuplicates,
    skipEmbeddings: ingestFlags.skipEmbeddings,
    skipFts: ingestFlags.skipFts,
    skipWebhooks: ingestFlags.skipWebhooks,
    autoConfigureCollection: flag('A collection that this request creates gets the type `scraping`.'),
    saveRevision: ingestFlags.saveRevision,
    textOnly: ingestFlags.textOnly,
    titles: flag('The first heading of a text becomes the metadata `title` where there is none.'),
  },
  { description: 'For all documents of the request.' },
)

export const ingest = operation({
  name: 'ingest',
  client: 'documents.ingest',
  group: 'Documents',
  collections: named('collection'),
  polledIn: 'worker/handlers/ingest/ingest.ts',
  boundedBy: ['BATCH_DOCUMENTS_MAX', 'FRONTMATTER_BYTES_MAX'],
  protocols: { grpc: 'Ingest', graphql: 'ingestDocuments', mcp: 'ingest_documents' },
  description: 'Writes scraped or imported documents: keys from URLs, frontmatter as metadata, duplicates skipped on request',
  effect: 'write',
  permission: 'write',
  cost: 'heavy',
  dropsInvalidText: true,
  http: { routes: [{ method: 'POST', path: '/v1/ingest' }] },
  input: Type.Object({
    collection,
    documents: Type.Array(item, {
      description: 'At most 10 000. `lang`, `contentMd` and `key` or `url` are required in each.',
      examples: [[{ url: 'https://example.com/docs/start.html', lang: 'en', contentMd: '# Start' }]],
    }),
    options: optional(options),
  }),
  output: shape('Number of documents by outcome.', {
    added: Type.Integer(),
    updated: Type.Integer(),
    skipped: Type.Integer(),
    failed: Type.Integer(),
    errors: Type.Array(Type.String(), { description: 'Error messages, at most 50.' }),
    collection: Type.String(),
    durationMs: Type.Integer(),
    profile: Type.String({ description: 'The profile that was applied.' }),
    keyCollisions: Type.Optional(
      Type.Array(Type.String(), {
        description: 'Documents of the request that are one, by spellings of a key or by URLs; the last one counts. At most 50.',
      }),
      { grpc: 100, graphql: true },
    ),
    sanitized: Type.Optional(
      Type.Integer({ description: 'Number of documents with bytes that are no UTF-8, which were dropped; present if not 0.' }),
    ),
    warnings: Type.Optional(
      Type.Array(Type.String(), { description: 'Frontmatter that could not be read and stays in the text, at most 50.' }),
      { grpc: 101, graphql: true },
    ),
    embeddingDropped: Type.Optional(Type.Integer({ description: 'Number of documents stored without a vector; present if not 0.' }), {
      grpc: 102,
      graphql: true,
    }),
  }),
  errors: ['unknownProfile'],
  deadlineMs: DEADLINE_HEAVY_MS,
  audit: 'write./v1/ingest',
})

export const ingestOperations = [ingest] as const
