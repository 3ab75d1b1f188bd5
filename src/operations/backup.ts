/**
 * Rows of backup and restore. Pure data; rules in src/store/backup/backups.ts and
 * src/dispatch/generation_switch.ts.
 */
import { DEADLINE_HEAVY_MS, DEADLINE_LONG_MS } from '../limits/deadlines.js'
import { SERVER } from './collection_access.js'
import { Type } from './json_schema.js'
import { operation, optional, shape, text } from './schema.js'

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
  description: 'Copies the whole store to a file, as it is at one moment, while it is read and written',
  effect: 'read',
  http: { routes: [{ method: 'GET', path: '/v1/backup' }] },
  input: Type.Object({
    to: optional(
      Type.String({
        description:
          'Name of the file: letters, digits, `.`, `_` and `-`. Default: `backup-` and the time, with a number where that is taken.',
        examples: ['nightly.db'],
      }),
    ),
  }),
  output: shape('Where it is.', {
    backup: Type.String({ description: 'Name in the directory of backups, as a restore takes it.', examples: ['nightly.db'] }),
  }),
  errors: ['backupExists', 'internal'],
  audit: 'admin./v1/backup',
})

export const restore = operation({
  ...common,
  name: 'restore',
  description: 'Replaces everything by what a backup holds; what there is now is served until the backup has proved good',
  effect: 'write',
  freesSpace: true,
  http: { routes: [{ method: 'POST', path: '/v1/restore' }] },
  input: Type.Object({ from: text('Name of the backup.', 'nightly.db') }),
  output: shape('What is served now.', { restored: Type.String({ examples: ['nightly.db'] }) }),
  errors: ['restoreFailed'],
  audit: 'write./v1/restore',
})

const DESCRIBED = shape('A file in the directory of backups.', {
  name: Type.String({ description: 'As a restore takes it.', examples: ['nightly.db'] }),
  bytes: Type.Integer(),
  createdAt: Type.Integer({ description: 'Unix seconds; of one that is not whole: when it was last written to.', examples: [1700000000] }),
  sealed: Type.Boolean({
    description:
      'It ends in the seal of a whole backup. Whether its bytes are those that were written is found by a restore, which reads them all.',
  }),
})

const onDirectory = { ...common, cost: 'heavy', deadlineMs: DEADLINE_HEAVY_MS } as const

export const listBackups = operation({
  ...onDirectory,
  name: 'listBackups',
  description: 'Lists the backups that are there, newest first',
  effect: 'read',
  http: { routes: [{ method: 'GET', path: '/v1/backups' }] },
  input: Type.Object({}),
  output: shape('The newest, and how many there are in all.', {
    backups: Type.Array(DESCRIBED),
    total: Type.Integer(),
  }),
  errors: ['internal'],
  audit: null,
})

export const deleteBackup = operation({
  ...onDirectory,
  name: 'deleteBackup',
  description: 'Deletes a backup; refused while a restore is under way',
  effect: 'write',
  freesSpace: true,
  http: { routes: [{ method: 'DELETE', path: '/v1/backups/:name' }] },
  input: Type.Object({ name: Type.String({ description: 'Name of the backup.', examples: ['nightly.db'] }) }),
  output: shape('It is gone.', { deleted: Type.String({ examples: ['nightly.db'] }) }),
  errors: ['notFound', 'restoring', 'internal'],
  notDuringRestore: true,
  audit: 'write./v1/backups/:name',
})

export const backupOperations = [backup, restore, listBackups, deleteBackup] as const
