/**
 * Rows of backup and restore. Pure data; rules in src/store/backup/backups.ts and
 * src/dispatch/generation_switch.ts.
 */
import { DEADLINE_HEAVY_MS } from '../../limits/lanes.js'
import { SERVER } from '../row/collection_access.js'
import { Type } from '../row/json_schema.js'
import { HTTP_ONLY, operation, optional, shape, text } from '../row/schema.js'

/** A backup or restore may take this long: 100 GB at 50 MB/s. */
const DEADLINE_LONG_MS = 3_600_000

const common = {
  collections: SERVER,
  group: 'Export and backup',
  permission: 'admin',
  cost: 'long',
  deadlineMs: DEADLINE_LONG_MS,
} as const

export const backup = operation({
  ...common,
  name: 'backup',
  client: 'backups.create',
  mayWrite: true,
  polledIn: 'worker/handlers/backup/restore_process.ts',
  boundedBy: ['TASKS_PER_LONG_WORKER'],
  protocols: { grpc: 'Backup', graphql: null, mcp: 'create_backup' },
  description: 'Copies the whole store to a file, as a consistent snapshot, while reads and writes continue',
  effect: 'read',
  http: { routes: [{ method: 'GET', path: '/v1/backup' }] },
  input: Type.Object({
    to: optional(
      Type.String({
        description:
          'Name of the file: letters, digits, `.`, `_` and `-`. Default: `backup-` and the time, with a number if that name exists.',
        examples: ['nightly.db'],
      }),
    ),
  }),
  output: shape('Name of the backup.', {
    backup: Type.String({ description: 'Name in the backup directory, as expected by a restore.', examples: ['nightly.db'] }),
  }),
  errors: ['backupExists', 'internal'],
  audit: 'admin./v1/backup',
})

export const restore = operation({
  ...common,
  name: 'restore',
  client: 'backups.restore',
  polledIn: 'worker/handlers/backup/restore_process.ts',
  boundedBy: ['TASKS_PER_LONG_WORKER'],
  protocols: { grpc: 'Restore', graphql: null, mcp: 'restore_backup' },
  description: 'Replaces the whole store with a backup; the current store is served until the backup has been verified',
  effect: 'write',
  freesSpace: true,
  http: { routes: [{ method: 'POST', path: '/v1/restore' }] },
  input: Type.Object({
    from: text('Name of the backup.', 'nightly.db'),
    withAccess: optional(
      Type.Boolean({
        description: 'Whether users, groups, API keys and permissions are restored, too. Otherwise the present ones are kept.',
        default: false,
      }),
    ),
  }),
  output: shape('Name of the restored backup.', { restored: Type.String({ examples: ['nightly.db'] }) }),
  errors: ['restoreFailed'],
  audit: 'write./v1/restore',
})

const DESCRIBED = shape('A file in the backup directory.', {
  name: Type.String({ description: 'Name as expected by a restore.', examples: ['nightly.db'] }),
  bytes: Type.Integer(),
  createdAt: Type.Integer({
    description: 'Time of creation; for an incomplete file, time of the last modification. Unix seconds.',
    examples: [1700000000],
  }),
  sealed: Type.Boolean({
    description:
      'Whether the file ends with the seal of a complete backup. Only a restore verifies the contents, because it reads all bytes.',
  }),
})

const onDirectory = { ...common, cost: 'heavy', deadlineMs: DEADLINE_HEAVY_MS } as const

export const listBackups = operation({
  ...onDirectory,
  name: 'listBackups',
  client: 'backups.list',
  polledIn: 'worker/handlers/backup/restore_process.ts',
  boundedBy: ['TASKS_PER_LONG_WORKER'],
  protocols: HTTP_ONLY,
  description: 'Lists the backups, newest first',
  effect: 'read',
  http: { routes: [{ method: 'GET', path: '/v1/backups' }] },
  input: Type.Object({}),
  output: shape('The newest backups, and the total number of backups.', {
    backups: Type.Array(DESCRIBED),
    total: Type.Integer(),
  }),
  errors: ['internal'],
  audit: null,
})

export const deleteBackup = operation({
  ...onDirectory,
  name: 'deleteBackup',
  client: 'backups.delete',
  polledIn: 'worker/handlers/backup/restore_process.ts',
  boundedBy: ['TASKS_PER_LONG_WORKER'],
  protocols: HTTP_ONLY,
  description: 'Deletes a backup; refused while a restore is in progress',
  effect: 'write',
  freesSpace: true,
  http: { routes: [{ method: 'DELETE', path: '/v1/backups/:name' }] },
  input: Type.Object({ name: Type.String({ description: 'Name of the backup.', examples: ['nightly.db'] }) }),
  output: shape('Name of the deleted backup.', { deleted: Type.String({ examples: ['nightly.db'] }) }),
  errors: ['notFound', 'restoring', 'internal'],
  notDuringRestore: true,
  audit: 'write./v1/backups/:name',
})

export const backupOperations = [backup, restore, listBackups, deleteBackup] as const
