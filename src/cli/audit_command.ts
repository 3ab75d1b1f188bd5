/**
 * `mds audit verify`: checks the files of an audit log on this machine, without a server. Whoever keeps the
 * printed batch and hash of its end can have a later run check that the log still contains it.
 */
import { type KnownHead, verifyLog } from '../audit/verification.js'
import { CommandError, say } from './terminal.js'

/**
 * @param contains `BATCH:HASH` as printed by an earlier run
 * @returns the exit code: 1 if anything is wrong
 */
export function verifyAudit(folder: string, contains?: string): number {
  const { files, batches, events, dropped, head, isEnded, findings, total } = checked(folder, contains)
  for (const finding of findings) say(`${finding}\n`)
  if (total > findings.length) say(`${total - findings.length} further findings\n`)
  if (dropped > 0) say(`the log says that ${dropped} events were lost before they reached it\n`)
  const end = isEnded ? 'ends with a shutdown' : 'ends without a shutdown: the server runs, was killed, or the end was cut off at a seal'
  say(`${files} files, ${batches} batches, ${events} events; ${end}\n`)
  say(`end ${head.batch}:${head.hash}\n`)
  say(total === 0 ? 'whole: the chain is unbroken\n' : `damaged: ${total} finding${total === 1 ? '' : 's'}\n`)
  return total === 0 ? 0 : 1
}

function checked(folder: string, contains: string | undefined): ReturnType<typeof verifyLog> {
  const known = contains === undefined ? undefined : knownHead(contains)
  let verification: ReturnType<typeof verifyLog>
  try {
    verification = verifyLog(folder, known)
  } catch (error) {
    throw new CommandError((error as Error).message)
  }
  if (verification.files === 0) throw new CommandError(`${folder} has no files of an audit log`)
  return verification
}

function knownHead(text: string): KnownHead {
  const match = /^(\d{1,15}):([0-9a-f]{64})$/.exec(text)
  if (match === null) throw new CommandError('--contains needs BATCH:HASH, as an earlier run has printed it after "end"')
  return { batch: Number(match[1]), hash: match[2] ?? '' }
}
