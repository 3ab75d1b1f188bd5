/** Backups of the whole store and their restoration. The long lane: copying and checking take their time, and nobody else's. */
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { badRequest, ServiceError, serviceError } from '../../errors.js'
import { failPoint } from '../../fail_point.js'
import type { backup as backupRow, restore as restoreRow } from '../../operations/backup.js'
import type { InputOf } from '../../operations/operation.js'
import { BackupError, unpackBackup } from '../../store/backup_file.js'
import { backupDirectory, defaultNames, isBackupName, writeBackup } from '../../store/backups.js'
import { beginGeneration, generationPath } from '../../store/layout.js'
import { unixSeconds } from '../../store/truth_store.js'
import { prepareStore } from '../restore_process.js'
import type { Answer, Handler, LaneContext, PreparedSwitch, RequestContext } from '../handler.js'

async function backup({ config, store }: LaneContext, { to }: InputOf<typeof backupRow>): Promise<Answer> {
  const createdAt = unixSeconds()
  const names = to === undefined || to === '' ? defaultNames(createdAt) : [to]
  if (!names.every(isBackupName)) throw badRequest('invalid to')
  const about = { createdAt, epoch: store.presentEpoch(), lastLsn: store.read((view) => view.storeCounters().lastLsn) }
  try {
    const name = await writeBackup(backupDirectory(config.path, config.backupDirectory), names, about, (path) => store.copyTo(path))
    return { status: 200, body: JSON.stringify({ backup: name }) }
  } catch (error) {
    if (error instanceof BackupError) throw new ServiceError(409, `backup ${names[0]} is ${error.message}`)
    console.error('backup:', error)
    throw new ServiceError(500, `backup failed: ${reasonOf(error)}`)
  }
}

async function restore({ config }: LaneContext, { from }: InputOf<typeof restoreRow>, request: RequestContext): Promise<PreparedSwitch> {
  if (from === undefined || from === '') throw serviceError('missingFrom')
  if (!isBackupName(from)) throw badRequest('invalid from')
  let path = ''
  try {
    const generation = beginGeneration(config.path)
    path = generationPath(config.path, generation)
    await unpackBackup(join(backupDirectory(config.path, config.backupDirectory), from), join(path, 'truth.mdb'))
    failPoint('restore.copied')
    await prepareStore(config, path, request)
    failPoint('restore.checked')
    return { generation, answer: { status: 200, body: JSON.stringify({ restored: from }) } }
  } catch (error) {
    if (path !== '') await rm(path, { recursive: true, force: true })
    console.error(`restore of ${from}:`, error)
    throw new ServiceError(500, `restore failed: backup ${from} is ${reasonOf(error)}`)
  }
}

/** For who runs the service: the code of a failed call names no path. */
function reasonOf(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException
  return code ?? message
}

export const backupHandlers: readonly (readonly [string, Handler])[] = [
  ['backup', { kind: 'task', run: backup }],
  ['restore', { kind: 'switch', run: restore }],
]
