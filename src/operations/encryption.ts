/** Rows of encryption at rest. Pure data; rules in src/domain/rotation.ts. */
import { DEADLINE_POINT_MS, DEADLINE_SEARCH_MS, DEADLINE_WRITE_MS } from '../limits/deadlines.js'
import { SERVER } from './collection_access.js'
import { Type } from './json_schema.js'
import { operation, optional, shape, text, wholeNumber } from './schema.js'

const onServer = { group: 'System', collections: SERVER, permission: 'admin' } as const

const Job = shape('A rotation.', {
  id: Type.String({ examples: ['rot-0123456789abcdef'] }),
  status: Type.String({ description: '`queued`, `running`, `completed` or `failed`.', examples: ['queued'] }),
  primaryKeyID: Type.Integer({ description: 'Id of the key that rows are sealed with.' }),
  startedAt: wholeNumber('Unix nanoseconds.'),
  finishedAt: wholeNumber('Unix nanoseconds; 0 until the job ends.'),
  scanned: wholeNumber('Stored rows looked at: documents, revisions, contents, identities, settings, entries of the binlog.'),
  reencrypted: wholeNumber('Rows brought into form.'),
  skipped: wholeNumber('Rows that were in form already.'),
  errors: wholeNumber('Rows that could not be opened and stay as they are.'),
  lastError: optional(Type.String()),
})

export const encryptionStatus = operation({
  ...onServer,
  name: 'encryptionStatus',
  description: 'Which keys there are, and how much of each collection lies under which',
  effect: 'read',
  cost: 'heavy',
  http: { routes: [{ method: 'GET', path: '/v1/encryption/status' }] },
  input: Type.Object({}),
  output: shape('Counts of documents and revisions.', {
    enabled: Type.Boolean({ description: 'Whether there is a key.' }),
    primaryKeyID: Type.Integer({ description: '0 without a key.' }),
    previousKeyIDs: Type.Array(Type.Integer()),
    collections: Type.Array(
      Type.Object({
        collection: Type.String(),
        encrypted: Type.Boolean({ description: 'Whether what is written is encrypted.' }),
        total: Type.Integer(),
        withPrimary: Type.Integer(),
        withLegacy: Type.Integer({ description: 'Under a previous key.' }),
        plaintext: Type.Integer(),
        unknownKey: Type.Integer({ description: 'Under a key that this server has not been given.' }),
      }),
      { description: 'Ordered by name.' },
    ),
    currentJobID: Type.String({ description: 'Of the rotation that runs; else empty.' }),
    residue: Type.Boolean({
      description:
        'Bytes of before a rotation may be left: in free pages of the files until the next start, in object stores until the sweep has removed them.',
    }),
  }),
  deadlineMs: DEADLINE_SEARCH_MS,
  audit: null,
})

export const rotateEncryption = operation({
  ...onServer,
  name: 'rotateEncryption',
  description:
    'Starts a job that brings what is stored under its primary key, or in clear where encryption was switched off; or names the job that runs',
  effect: 'write',
  cost: 'write',
  http: { routes: [{ method: 'POST', path: '/v1/encryption/rotate' }] },
  input: Type.Object({ collection: optional(Type.String({ description: 'Only this one; absent or empty: all.' })) }),
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
  description: 'Rotations, newest first',
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
  description: 'A rotation',
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
