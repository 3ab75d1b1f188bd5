/**
 * Rows of the import of a wiki: what clients ask for, and the parts of lanes while it runs. Pure data; rules
 * in src/domain/wiki_import.ts.
 */
import { DEADLINE_POINT_MS, DEADLINE_REINDEX_MS, DEADLINE_WRITE_MS } from '../../limits/lanes.js'
import { GIB, MIB } from '../../limits/units.js'
import { named } from '../row/collection_access.js'
import { Type } from '../row/json_schema.js'
import { receivedFiles } from '../row/received_files.js'
import { collection, HTTP_ONLY, internal, lang, operation, optional, shape, text, wholeNumber, word } from '../row/schema.js'
import { INGEST_PROFILES } from './ingest.js'

/**
 * A batch of pages of a running import. It waits behind the other work of the bulk lane, as a chunk of a bulk
 * ingest does.
 */
const DEADLINE_PAGES_MS = 600_000
/**
 * Bytes of a dump as it is sent: two of the largest wiki. SVC_WIKI_MAX_DECOMPRESSED_BYTES is looked at while
 * it is read, and the free space of the disk while it comes.
 */
const WIKI_DUMP_BYTES_MAX = 256 * GIB
/** Of a form, beside its file: text fields and headers of parts. */
const FORM_BYTES_BESIDE = MIB
/** Pages of a batch, where the request does not say: fixed by the contract. */
export const WIKI_BATCH_PAGES_DEFAULT = 500

const flag = (description: string) => optional(Type.Boolean({ description, default: false }))

export const importWiki = operation({
  name: 'importWiki',
  client: null,
  group: 'Documents',
  collections: named('collection'),
  boundedBy: ['PAGE_BATCH_BYTES_WANTED', 'WIKI_IMPORTS_MAX', 'WIKI_JOBS_MAX', 'WIKI_JOB_BYTES_MAX'],
  protocols: HTTP_ONLY,
  description: 'Imports the dump of a wiki: XML, as it is or compressed by gzip or bzip2, its pages as Markdown',
  effect: 'write',
  permission: 'write',
  cost: 'heavy',
  notDuringRestore: true,
  http: {
    routes: [{ method: 'POST', path: '/v1/import-wiki' }],
    acceptsJobs: true,
    files: {
      parts: ['file', 'files[]'],
      filesMax: 1,
      fileBytesMax: WIKI_DUMP_BYTES_MAX,
      bodyBytesMax: WIKI_DUMP_BYTES_MAX + FORM_BYTES_BESIDE,
      wholeTypes: ['application/octet-stream', 'application/x-bzip2'],
    },
  },
  input: Type.Object({
    collection,
    lang,
    namespaces: optional(
      Type.String({ description: 'Ids of namespaces whose pages are imported, separated by commas.', default: '0', examples: ['0,4'] }),
    ),
    skipRedirects: flag('Leaves out pages that lead to another.'),
    skipFts: flag('Does not index the texts for full-text search. `/v1/fts-reindex` does later.'),
    maxPages: optional(wholeNumber('Number of pages after whose import it ends. 0: no bound but that of the server.', { default: 0 })),
    batchSize: optional(wholeNumber('Number of pages that are stored together, from 1 to 10 000.', { default: WIKI_BATCH_PAGES_DEFAULT })),
    profile: optional(word(INGEST_PROFILES, '`fast`: unchanged pages are skipped, and no revisions are kept.', 'default')),
    filename: optional(Type.String({ description: 'Name of the dump. Its compression is found by its first bytes.' })),
    files: receivedFiles,
    job: flag('Answers 202 with a job as soon as the dump is here; the import goes on, also after a restart.'),
  }),
  output: shape('The dump was imported. With `job`: the job that imports it.', {
    imported: Type.Optional(Type.Integer({ description: 'Number of pages that were written.' })),
    skipped: Type.Optional(
      Type.Integer({ description: 'Other namespaces, redirects on request, empty pages, with `fast` unchanged ones.' }),
    ),
    failed: Type.Optional(Type.Integer({ description: 'Number of pages that were refused.' })),
    collection: Type.String(),
    durationMs: Type.Optional(Type.Integer()),
    profile: Type.Optional(Type.String({ description: 'The profile that was applied.' })),
    errors: Type.Optional(Type.Array(Type.String(), { description: 'Error messages, at most 10.' })),
    id: Type.Optional(Type.String({ description: 'Id of the job, for `/v1/bulk-ingest-job/{id}`.' })),
    status: Type.Optional(Type.String({ description: 'Of the job: `pending`.' })),
    total: Type.Optional(Type.Integer({ description: 'Of the job: pages that were read.' })),
    submittedAt: Type.Optional(Type.Integer({ description: 'When the job was accepted. Unix seconds.' })),
  }),
  errors: ['unknownProfile', 'wikiTooLarge', 'ingestQueueFull', 'ingestEnded', 'overloaded'],
  // As long as the server has time: the bounds on pages and bytes end an import.
  deadlineMs: DEADLINE_REINDEX_MS,
  audit: 'write./v1/import-wiki',
})

const job = Type.String({ description: 'Id of the job; empty: none.' })

/** Requested by the front end for the next batch of pages. Not available to clients. */
export const importPages = internal({
  name: 'importPages',
  polledIn: 'worker/handlers/ingest/import_wiki.ts',
  boundedBy: ['PAGE_BATCH_BYTES_WANTED', 'DOCUMENT_BYTES_MAX'],
  description: 'Stores pages of a wiki',
  effect: 'write',
  cost: 'heavy',
  input: Type.Object({
    job,
    collection,
    lang,
    skipFts: Type.Boolean(),
    fast: Type.Boolean(),
    maxPages: Type.Integer(),
    after: wholeNumber('Pages of the dump before this batch.'),
    record: optional(Type.Unsafe<object>({ type: 'object', description: 'Without a job: what was imported so far.' })),
    pages: Type.Unsafe<Uint8Array>({ description: 'As the reader of the dump wrote them.' }),
    last: Type.Boolean({ description: 'Whether there are no further pages.' }),
    fault: Type.String({ description: 'Why the dump was read no further; empty: it was read to its end.' }),
  }),
  output: Type.Object({}),
  deadlineMs: DEADLINE_PAGES_MS,
})

/** Requested by the front end once the dump is kept. Not available to clients. */
export const submitWikiJob = internal({
  name: 'submitWikiJob',
  boundedBy: ['WIKI_JOBS_MAX'],
  description: 'Makes the record of an import of a wiki',
  effect: 'write',
  cost: 'write',
  input: Type.Object({
    id: text('Id of the job.', 'wiki_1735689600000000000_0f3a9c'),
    collection,
    submitter: Type.String(),
    options: Type.Unsafe<object>({ type: 'object', description: 'As checked.' }),
  }),
  output: Type.Object({}),
  deadlineMs: DEADLINE_WRITE_MS,
})

/** Requested by the front end before each job. Not available to clients. */
export const openWikiJobs = internal({
  name: 'openWikiJobs',
  boundedBy: ['WIKI_JOBS_MAX'],
  description: 'Lists imports of wikis that wait or run',
  effect: 'read',
  cost: 'search',
  input: Type.Object({}),
  output: Type.Object({}),
  deadlineMs: DEADLINE_POINT_MS,
})

export const importWikiOperations = [importWiki] as const
export const internalWikiOperations = [importPages, submitWikiJob, openWikiJobs] as const
