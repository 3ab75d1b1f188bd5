/**
 * Log lines for commands that change many records at once, written when the changes are on disk. Write lane
 * only.
 */
import type { Command } from '../../domain/commands.js'
import { log } from '../../telemetry/log.js'
import type { CommitAnswer } from '../request/handler.js'

/** @param answer the answer that the client receives */
export function logCommand(command: Command, { code, body }: CommitAnswer): void {
  if (command.kind !== 'deleteCollection' && command.kind !== 'rotate') return
  if (code !== undefined) return
  const answered = JSON.parse(Buffer.from(body).toString()) as { readonly deletedCount?: number; readonly id?: string }
  if (command.kind === 'deleteCollection') {
    log.info('collection deleted', { collection: command.collection, documents: answered.deletedCount ?? 0 })
  } else {
    log.info('key rotation requested', { job: answered.id ?? '', collection: command.collection ?? '' })
  }
}
