/** Tools that read and write single documents, batches and their revisions. Pure data. */
import type { ReceivedFile } from '../../../../operations/row/received_files.js'
import { argument, camelCase, required } from '../arguments/argument.js'
import type { Arguments } from '../arguments/argument_values.js'
import { badArgument, readValue } from '../arguments/argument_values.js'
import type { ToolDefinition } from '../tool.js'
import { maxTokens, maxTokensOfDocument } from './common.js'

const DOCUMENT_ITEM = {
  type: 'object',
  properties: {
    key: { type: 'string' },
    lang: { type: 'string' },
    content_md: { type: 'string' },
    meta: { type: 'object', description: 'Lists of strings by key.' },
    ttl: { type: 'integer', description: 'Seconds until the document expires.' },
  },
  required: ['key', 'lang', 'content_md'],
}

const documents = required(
  argument('documents', 'array', 'Documents to write, at most 10 000 in one batch.', {
    items: DOCUMENT_ITEM,
    examples: [[{ key: 'a', lang: 'en', content_md: '# A', meta: { tags: ['x'] } }]],
  }),
)

const INGEST_ITEM = {
  type: 'object',
  properties: {
    url: { type: 'string', description: 'Where the document comes from; gives the key if there is none.' },
    key: { type: 'string' },
    lang: { type: 'string' },
    content_md: { type: 'string' },
    meta: { type: 'object', description: 'Lists of strings by key.' },
    extract_frontmatter: { type: 'boolean', description: 'Moves a leading YAML block into the metadata.' },
    scraped_at: { type: 'integer', description: 'Unix seconds.' },
    scraper: { type: 'string' },
    ttl: { type: 'integer', description: 'Seconds until the document expires.' },
  },
  required: ['lang', 'content_md'],
}

const INGEST_OPTIONS = ['skip_duplicates', 'skip_embeddings', 'skip_fts', 'skip_webhooks', 'auto_configure_collection', 'save_revision']

const ingestArguments = [
  required(
    argument('documents', 'array', 'Documents to write, at most 10 000. Each needs a key or a url.', {
      items: INGEST_ITEM,
      examples: [[{ url: 'https://example.com/docs/start.html', lang: 'en', content_md: '# Start' }]],
    }),
  ),
  argument('options', 'object', `Flags for all documents: ${INGEST_OPTIONS.join(', ')}; each true or false.`),
]

const uploadArguments = [
  required(argument('filename', 'string', 'Name of the file with its extension.', { field: null, examples: ['report.pdf'] })),
  required(argument('content', 'string', 'The bytes of the file in base64, at most 10 MB decoded.', { field: null })),
]

/** White space is as lines of base64 have it. */
const BASE64 = /^[A-Za-z0-9+/_\s-]*={0,2}\s*$/

function givenFile(name: string, content: string): ReceivedFile {
  if (!BASE64.test(content)) throw badArgument('invalid content: base64 is expected')
  return { name, content, bytes: Buffer.from(content, 'base64').length }
}

const withDocuments = ({ documents: list }: Arguments) => ({ documents: batchDocuments(list as readonly unknown[]) })

export const documentTools: readonly ToolDefinition[] = [
  {
    name: 'add_document',
    title: 'Add or replace a document',
    description:
      'Writes a Markdown document. If collection, key and lang name an existing one, its text and metadata are replaced and the earlier version is kept as a revision. The collection is created if it does not exist. Use update_document to change only a part.',
    class: 'WI',
    answers: 'text',
    without: ['ttl', 'skipRevision'],
    isStructured: true,
  },
  {
    name: 'get_document',
    title: 'Read a document',
    description:
      'Returns one document with its text and metadata, by collection, key and lang. A long text comes in parts: `nextOffset` of one part is the `offset` of the next. Use a search tool first if you do not know the key.',
    class: 'RO',
    answers: 'document',
    operation: 'get',
    without: ['env', 'asOf'],
    own: [
      argument('offset', 'integer', 'Character of the text to read from: `nextOffset` of the part before.', { field: null, fallback: 0 }),
      maxTokensOfDocument,
    ],
  },
  {
    name: 'get_document_meta',
    title: 'Read the metadata of a document',
    description: 'Returns metadata and times of one document without its text. Cheaper than reading the document.',
    class: 'RO',
    answers: 'text',
    needs: ['lang'],
    own: [maxTokens],
    isStructured: true,
  },
  {
    name: 'update_document',
    title: 'Change a document',
    description:
      'Changes text, metadata or expiry of an existing document. What is not given stays as it is. At least one of meta, content_md and ttl is needed.',
    class: 'WI',
    answers: 'text',
  },
  {
    name: 'delete_document',
    title: 'Delete a document',
    description: 'Deletes one document with all its revisions. This cannot be undone.',
    class: 'DI',
    answers: 'plain',
  },
  {
    name: 'set_ttl',
    title: 'Set when a document expires',
    description: 'Sets after how many seconds a document is deleted automatically; 0 keeps it for ever.',
    class: 'WI',
    answers: 'text',
  },
  {
    name: 'add_documents_batch',
    title: 'Write many documents',
    description:
      'Writes up to 10 000 documents of one collection in one call, as add_document does. Returns how many were added, updated and failed; one that is invalid does not stop the others.',
    class: 'WN',
    answers: 'plain',
    without: ['keepTimes'],
    own: [documents],
    input: withDocuments,
  },
  {
    name: 'import_url',
    title: 'Import a page of the web',
    description:
      'Fetches a text or HTML page by its URL and writes it as a document, HTML as Markdown. The key follows from the URL if none is given. Addresses inside the network of the server are refused unless its operator allows them.',
    class: 'WO',
    answers: 'text',
  },
  {
    name: 'upload_file',
    title: 'Write a file as a document',
    description:
      'Writes one file, given in base64, as a document: Markdown and text as they are, HTML, PDF, DOCX, ODT, RTF and TeX as Markdown, YAML and logs as code. The format follows from the extension of the file name, and so does the key if none is given. Use add_document for a text that you have.',
    class: 'WN',
    answers: 'text',
    own: uploadArguments,
    without: ['files', 'maxSize', 'profile', 'skipDuplicates', 'skipEmbeddings', 'skipFts', 'skipWebhooks', 'saveRevision', 'textOnly'],
    input: ({ filename, content }: Arguments) => ({ files: [givenFile(String(filename), String(content))] }),
  },
  {
    name: 'ingest_documents',
    title: 'Write scraped or imported documents',
    description:
      'Writes up to 10 000 documents of web pages or other sources in one call. The key follows from the url if none is given, frontmatter becomes metadata on request, and documents with the same text as the stored one can be skipped. Use add_documents_batch for documents of your own.',
    class: 'WN',
    answers: 'plain',
    own: ingestArguments,
    input: ({ documents: list, options }: Arguments) => ({
      documents: batchDocuments(list as readonly unknown[]),
      ...(options === undefined ? {} : { options: camelCased(options as object) }),
    }),
  },
  {
    name: 'delete_documents_batch',
    title: 'Delete many documents',
    description:
      'Deletes up to 10 000 documents of one collection with all their revisions. This cannot be undone. Returns how many were deleted and not found.',
    class: 'DN',
    answers: 'plain',
  },
  {
    name: 'validate_document',
    title: 'Check metadata against the schema',
    description:
      'Checks metadata against the schema of a collection as a write would, without storing anything. Returns valid, errors and warnings.',
    class: 'RO',
    answers: 'plain',
    needs: ['meta'],
  },
  {
    name: 'list_revisions',
    title: 'List versions of a document',
    description:
      'Returns all kept versions of a document, newest first, with text, metadata and timestamp. The timestamp identifies a version for restore_revision.',
    class: 'RO',
    answers: 'text',
    own: [maxTokens],
  },
  {
    name: 'restore_revision',
    title: 'Restore an earlier version',
    description: 'Writes an earlier version of a document as its newest one. The present version stays in the list of revisions.',
    class: 'WI',
    answers: 'text',
    without: ['revision'],
  },
  {
    name: 'truncate_revisions',
    title: 'Delete old versions',
    description: 'Deletes old revisions of all documents of a collection and keeps the newest ones of each. This cannot be undone.',
    class: 'DN',
    answers: 'plain',
  },
  {
    name: 'bulk_ingest_submit',
    title: 'Start a bulk ingest',
    description:
      'Accepts any number of documents and writes them in the background. Returns the id of the job at once; bulk_ingest_status tells how far it is. Use it instead of add_documents_batch for more than some thousand documents.',
    class: 'WN',
    answers: 'plain',
    without: ['keepTimes'],
    own: [documents],
    input: withDocuments,
  },
  {
    name: 'bulk_ingest_status',
    title: 'State of a bulk ingest',
    description: 'Returns status, counters and errors of a bulk ingest job.',
    class: 'RO',
    answers: 'plain',
  },
  {
    name: 'bulk_ingest_list',
    title: 'List bulk ingests',
    description: 'Lists bulk ingest jobs with their states, newest first.',
    class: 'RO',
    answers: 'plain',
  },
  {
    name: 'bulk_ingest_cancel',
    title: 'Cancel a bulk ingest',
    description: 'Cancels a bulk ingest job that has not started. A running one goes on.',
    class: 'WI',
    answers: 'plain',
  },
]

/**
 * Documents of a batch as models write them, in the form of the operation's input.
 * @throws CatalogueError for an item that is no object; the operation reports wrong fields of documents
 */
function batchDocuments(list: readonly unknown[]): readonly object[] {
  return list.map((item, index) => {
    if (typeof item !== 'object' || item === null || Array.isArray(item))
      throw badArgument(`invalid argument documents[${index}]: an object expected`)
    return camelCased(item)
  })
}

function camelCased(item: object): object {
  return Object.fromEntries(Object.entries(item).map(([name, value]) => [camelCase(name), fieldOf(name, value)] as const))
}

function fieldOf(name: string, value: unknown): unknown {
  return name === 'meta' && value !== null ? readValue('meta', 'values', value) : value
}
