/** Rows of backup and restore. Pure data; rules in src/store/backups.ts and src/dispatch/generation_switch.ts. */
import { DEADLINE_LONG_MS } from '../limits.js'
import { Type } from './json_schema.js'
import { operation, optional, shape } from './schema.js'

const common = {
  collection: 'server',
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
  http: [{ method: 'GET', path: '/v1/backup' }],
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
  http: [{ method: 'POST', path: '/v1/restore' }],
  input: Type.Object({ from: optional(Type.String({ description: 'Name of the backup.', examples: ['nightly.db'] })) }),
  output: shape('What is served now.', { restored: Type.String({ examples: ['nightly.db'] }) }),
  errors: ['missingFrom', 'restoreFailed'],
  audit: 'write./v1/restore',
})

export const backupOperations = [backup, restore] as const
