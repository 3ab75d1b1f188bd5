/** Rows of uploads: what clients ask for, and the parts of a lane for one file. Pure data. */
import { DEADLINE_HEAVY_MS } from '../../limits/lanes.js'
import { MIB } from '../../limits/units.js'
import { named } from '../row/collection_access.js'
import { Type } from '../row/json_schema.js'
import { receivedFiles } from '../row/received_files.js'
import {
  collection,
  Document,
  HTTP_ONLY,
  identity,
  internal,
  lang,
  metaMap,
  operation,
  optional,
  shape,
  ttl,
  wholeNumber,
} from '../row/schema.js'
import { ingestFlags, ingestProfile } from './ingest.js'

/** Bytes of one file, whatever `maxSize` says. Fixed by the contract. */
export const UPLOAD_FILE_BYTES_MAX = 100 * MIB
/** Without `maxSize`. Fixed by the contract. */
export const UPLOAD_FILE_BYTES_DEFAULT = 10 * MIB
/** Files of one request. They are converted one after another. */
const UPLOAD_FILES_MAX = 100
/** Bytes of all files of a request and of what is between them. They are on disk, not in memory. */
const UPLOAD_BODY_BYTES_MAX = 1024 * MIB

export const upload = operation({
  name: 'upload',
  client: null,
  group: 'Documents',
  collections: named('collection'),
  boundedBy: ['UPLOAD_FILES_MAX', 'UPLOAD_BODY_BYTES_MAX', 'UPLOADS_UNDER_WAY_MAX'],
  protocols: { ...HTTP_ONLY, mcp: 'upload_file' },
  description:
    'Writes files as documents: Markdown and text as they are, HTML, PDF, DOCX, ODT, RTF and TeX as Markdown, YAML and logs as code',
  effect: 'write',
  permission: 'write',
  cost: 'heavy',
  http: {
    routes: [{ method: 'POST', path: '/v1/upload' }],
    files: {
      parts: ['file', 'files[]'],
      filesMax: UPLOAD_FILES_MAX,
      fileBytesMax: UPLOAD_FILE_BYTES_MAX,
      bodyBytesMax: UPLOAD_BODY_BYTES_MAX,
    },
  },
  input: Type.Object({
    collection,
    lang,
    key: optional(
      Type.String({
        description: 'Key of the document, for one file. Default: the file name, lower-cased, `-` for spaces, without extension.',
      }),
    ),
    meta: optional(metaMap),
    ttl: optional(ttl),
    maxSize: optional(wholeNumber('Bytes that a file may have, at most 104 857 600. Default: 10 485 760.')),
    profile: optional(ingestProfile),
    ...ingestFlags,
    files: receivedFiles,
  }),
  output: shape('One file: what it became. Several files: the counts and what each became.', {
    key: optional(Type.String()),
    format: optional(Type.String({ description: 'Format of the file, such as `pdf`.' })),
    converted: optional(Type.Boolean({ description: 'Whether the stored text was made from the file.' })),
    document: optional(Document),
    profile: optional(Type.String({ description: 'The profile that was applied, if the request named one.' })),
    warnings: optional(Type.Array(Type.String(), { description: 'Frontmatter that could not be read and stays in the text.' })),
    added: optional(Type.Integer()),
    updated: optional(Type.Integer()),
    failed: optional(Type.Integer()),
    skipped: optional(Type.Integer({ description: 'Number of files whose text is stored already; present if not 0.' })),
    errors: optional(Type.Array(Type.String(), { description: 'Error messages, each of which names its file.' })),
    results: optional(
      Type.Array(Type.Unsafe<unknown>({ type: 'object' }), {
        description: 'What each stored file became, in the form of one file. Documents above 64 MiB together are left out.',
      }),
    ),
  }),
  errors: ['fileTooLarge', 'unsupportedFormat', 'unknownProfile', 'overloaded'],
  deadlineMs: DEADLINE_HEAVY_MS,
  audit: 'write./v1/upload',
})

const file = {
  ...identity,
  content: Type.Unsafe<Uint8Array>({ description: 'The text that was made from the file, or the file itself.' }),
  name: Type.String({ description: 'Of the file.' }),
  meta: optional(metaMap),
}

/** Asked by the front end for each file. Not available to clients. */
export const storeUpload = internal({
  name: 'storeUpload',
  boundedBy: ['DOCUMENT_BYTES_MAX'],
  description: 'Stores a file of an upload',
  effect: 'write',
  cost: 'write',
  input: Type.Object({ ...file, ttl, flags: Type.Unsafe<Readonly<Record<string, boolean>>>({ type: 'object' }) }),
  output: Document,
  deadlineMs: DEADLINE_HEAVY_MS,
})

/** Asked first where duplicates are skipped. */
export const findUploaded = internal({
  name: 'findUploaded',
  boundedBy: ['DOCUMENT_BYTES_MAX'],
  description: 'Finds the document that has the text of a file already',
  effect: 'read',
  cost: 'heavy',
  input: Type.Object(file),
  output: Document,
  deadlineMs: DEADLINE_HEAVY_MS,
})

export const uploadOperations = [upload] as const
