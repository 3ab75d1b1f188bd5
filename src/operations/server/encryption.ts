/** Rows of encryption at rest. Pure data; rules in src/domain/rotation.ts. */
import { DEADLINE_POINT_MS, DEADLINE_SEARCH_MS, DEADLINE_WRITE_MS } from '../../limits/lanes.js'
import { SERVER } from '../row/collection_access.js'
import { Type } from '../row/json_schema.js'
import { HTTP_ONLY, operation, optional, shape, text, wholeNumber } from '../row/schema.js'

const onServer = { group: 'System', collections: SERVER, permission: 'admin' } as const

const Job = shape('A rotation.', {
  id: Type.String({ examples: ['rot-0123456789abcdef'] }),
  status: Type.String({ description: '`queued`, `running`, `completed` or `failed`.', examples: ['queued'] }),
  primaryKeyID: Type.Integer({ description: 'Id of the key with which rows are encrypted.' }),
  startedAt: wholeNumber('Start time in Unix nanoseconds.'),
  finishedAt: wholeNumber('End time in Unix nanoseconds; 0 until the job ends.'),
  scanned: wholeNumber('Number of stored rows examined: documents, revisions, contents, identities, settings, binlog entries.'),
  reencrypted: wholeNumber('Number of rows converted to the required form.'),
  skipped: wholeNumber('Number of rows that already had the required form.'),
  errors: wholeNumber('Number of rows that could not be decrypted; they are left unchanged.'),
  lastError: optional(Type.String()),
})

export const encryptionStatus = operation({
  ...onServer,
  name: 'encryptionStatus',
  client: 'encryption.status',
  polledIn: 'worker/handlers/encryption.ts',
  boundedBy: ['ROTATION_ROWS_MAX'],
  protocols: HTTP_ONLY,
  description: 'Returns the ids of the keys, and how much of each collection is encrypted with which key',
  effect: 'read',
  cost: 'heavy',
  http: { routes: [{ method: 'GET', path: '/v1/encryption/status' }] },
  input: Type.Object({}),
  output: shape('Counts of documents and revisions.', {
    enabled: Type.Boolean({ description: 'Whether there is an encryption key.' }),
    primaryKeyID: Type.Integer({ description: '0 without a key.' }),
    previousKeyIDs: Type.Array(Type.Integer()),
    collections: Type.Array(
      Type.Object({
        collection: Type.String(),
        encrypted: Type.Boolean({ description: 'Whether new writes are encrypted.' }),
        total: Type.Integer(),
        withPrimary: Type.Integer(),
        withLegacy: Type.Integer({ description: 'Encrypted with a previous key.' }),
        plaintext: Type.Integer(),
        unknownKey: Type.Integer({ description: 'Encrypted with a key that this server does not have.' }),
      }),
      { description: 'Ordered by name.' },
    ),
    currentJobID: Type.String({ description: 'Id of the running rotation; empty if none is running.' }),
    residue: Type.Boolean({
      description:
        'Whether data from before a rotation may remain: in free pages of the files until the next start, in object stores until the sweep has removed it.',
    }),
  }),
  deadlineMs: DEADLINE_SEARCH_MS,
  audit: null,
})

export const rotateEncryption = operation({
  ...onServer,
  name: 'rotateEncryption',
  client: 'encryption.rotate',
  polledIn: 'worker/handlers/encryption.ts',
  boundedBy: ['ROTATION_ROWS_MAX'],
  protocols: HTTP_ONLY,
  description:
    'Starts a job that converts stored data to its primary key, or to plaintext where encryption was switched off; returns the running job if there is one',
  effect: 'write',
  cost: 'write',
  http: { routes: [{ method: 'POST', path: '/v1/encryption/rotate' }] },
  input: Type.Object({ collection: optional(Type.String({ description: 'Converts only this collection; absent or empty: all.' })) }),
  output: Job,
  errors: ['encryptionOff', 'notFound', 'restoring'],
  notDuringRestore: true,
  deadlineMs: DEADLINE_WRITE_MS,
  audit: 'encryption.rotation_requested',
  auditDetail: 'id',
})

export const encryptionJobs = operation({
  ...onServer,
  name: 'encryptionJobs',
  client: 'encryption.listJobs',
  polledIn: 'worker/handlers/encryption.ts',
  boundedBy: ['ROTATION_ROWS_MAX'],
  protocols: HTTP_ONLY,
  description: 'Lists rotations, newest first',
  effect: 'read',
  cost: 'point',
  http: { routes: [{ method: 'GET', path: '/v1/encryption/jobs' }] },
  input: Type.Object({}),
  output: shape('Rotations.', { jobs: Type.Array(Job) }),
  errors: ['noEncryptionJobs'],
  deadlineMs: DEADLINE_POINT_MS,
  audit: null,
})

export const encryptionJob = operation({
  ...onServer,
  name: 'encryptionJob',
  client: 'encryption.getJob',
  polledIn: 'worker/handlers/encryption.ts',
  boundedBy: ['ROTATION_ROWS_MAX'],
  protocols: HTTP_ONLY,
  description: 'Returns a rotation',
  effect: 'read',
  cost: 'point',
  http: { routes: [{ method: 'GET', path: '/v1/encryption/jobs/:id' }] },
  input: Type.Object({ id: text('Id of the job.', 'rot-0123456789abcdef') }),
  output: Job,
  errors: ['notFound'],
  deadlineMs: DEADLINE_POINT_MS,
  audit: null,
})

export const encryptionOperations = [encryptionStatus, rotateEncryption, encryptionJobs, encryptionJob] as const
