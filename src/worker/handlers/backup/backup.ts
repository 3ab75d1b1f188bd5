/**
 * Backups of the whole store and their restoration. They run on the long lane, because copying and checking
 * take long and must not delay other requests.
 */
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { failPoint } from '../../../base/fail_point.js'
import { badRequest, ServiceError, serviceError } from '../../../errors.js'
import type { InputOf } from '../../../operations/row/operation.js'
import {
  backup as backupRow,
  deleteBackup as deleteBackupRow,
  listBackups as listBackupsRow,
  restore as restoreRow,
} from '../../../operations/server/backup.js'
import { BackupError, unpackBackup } from '../../../store/backup/backup_file.js'
import { backupDirectory, defaultNames, deleteBackup, isBackupName, listBackups, writeBackup } from '../../../store/backup/backups.js'
import { beginGeneration, generationPath } from '../../../store/files/layout.js'
import { unixSeconds } from '../../../store/truth_store.js'
import { log } from '../../../telemetry/log.js'
import type { Answer } from '../../../wire/answer.js'
import {
  type BoundHandler,
  type LaneContext,
  type PreparedSwitch,
  read,
  type RequestContext,
  switching,
  task,
} from '../../request/handler.js'
import { prepareStore } from './restore_process.js'

async function backup({ config, store }: LaneContext, { to }: InputOf<typeof backupRow>): Promise<Answer> {
  const begun = performance.now()
  const createdAt = unixSeconds()
  const names = to === undefined || to === '' ? defaultNames(createdAt) : [to]
  if (!names.every(isBackupName)) throw badRequest('invalid to')
  const about = { createdAt, epoch: store.presentEpoch(), lastLsn: store.read((view) => view.storeCounters().lastLsn) }
  try {
    const name = await writeBackup(backupDirectory(config.path, config.backupDirectory), names, about, (path) => store.copyTo(path))
    log.info('backup written', { backup: name, ms: Math.round(performance.now() - begun) })
    return { body: JSON.stringify({ backup: name }) }
  } catch (error) {
    if (error instanceof BackupError) throw new ServiceError('backupExists', `backup ${names[0]} ${error.message}`)
    log.error('backup', { fault: error })
    throw new ServiceError('backupFailed', `backup failed: ${reasonOf(error)}`)
  }
}

async function restore(
  { config, store }: LaneContext,
  { from, withAccess = false }: InputOf<typeof restoreRow>,
  request: RequestContext,
): Promise<PreparedSwitch> {
  if (!isBackupName(from)) throw badRequest('invalid from')
  let path = ''
  try {
    const generation = beginGeneration(config.path)
    path = generationPath(config.path, generation)
    await unpackBackup(join(backupDirectory(config.path, config.backupDirectory), from), join(path, 'truth.mdb'))
    failPoint('restore.copied')
    const servedLsn = store.read((view) => view.storeCounters().lastLsn)
    await prepareStore({ config, servedLsn }, path, request)
    failPoint('restore.checked')
    return { generation, keepsAccounts: !withAccess, body: JSON.stringify({ restored: from }) }
  } catch (error) {
    if (path !== '') await rm(path, { recursive: true, force: true })
    log.error(`restore of ${from}`, { fault: error })
    throw new ServiceError('restoreFailed', `restore failed: backup ${from} is ${reasonOf(error)}`)
  }
}

/**
 * Runs on the bulk lane, so that a long backup or restore does not prevent an operator from freeing space.
 */
function list({ config }: LaneContext): Answer {
  return answerOf('backups', () => listBackups(backupDirectory(config.path, config.backupDirectory)))
}

function remove({ config }: LaneContext, { name }: InputOf<typeof deleteBackupRow>): Answer {
  if (!isBackupName(name)) throw badRequest('invalid name')
  return answerOf('deletion of a backup', () => {
    if (!deleteBackup(backupDirectory(config.path, config.backupDirectory), name)) throw serviceError('notFound')
    log.info('backup deleted', { backup: name })
    return { deleted: name }
  })
}

function answerOf(what: string, run: () => unknown): Answer {
  try {
    return { body: JSON.stringify(run()) }
  } catch (error) {
    if (error instanceof ServiceError) throw error
    log.error(what, { fault: error })
    throw new ServiceError('internal', `${what}: ${reasonOf(error)}`)
  }
}

/** The reason for the operator. The code of a failed system call contains no path. */
function reasonOf(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException
  return code ?? message
}

export const backupHandlers: readonly BoundHandler[] = [
  task(backupRow, backup),
  switching(restoreRow, restore),
  read(listBackupsRow, list),
  read(deleteBackupRow, remove),
]
