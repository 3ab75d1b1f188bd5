/**
 * One recorded run of mixed writes against the real server, then many simulated power cuts of it. For each
 * cut the disk is rebuilt in a new directory as the cut may have left it. The real server is started on it as
 * after a reboot, and compared with the clients' knowledge at that moment. Used by power_cut.test.ts and
 * scripts/campaigns/power-cut.mjs.
 */
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { Random } from '../../harness/random.js'
import { ServerProcess } from '../../harness/server/server_process.js'
import { Ledger, type LedgerEvent } from '../load/ledger.js'
import { verifyStore } from '../load/verification.js'
import { WriteLoad } from '../load/write_load.js'
import { buildShim } from '../shim/shim_build.js'
import { DiskState } from './disk_image.js'
import { ClientEvents, type IoRecord, readIoLog } from './io_log.js'

/** 8 clients x 60 requests: about 900 documents written, some 30 MB of log. */
const REQUESTS_PER_CLIENT = 60

export interface Recording {
  readonly records: readonly IoRecord[]
  readonly acknowledged: number
  /** Files whose content differs from the fully replayed log: writes that the shim did not see. */
  readonly unseen: readonly string[]
}

/** @param flushless runs the server as if built without flushes; the cuts must then detect losses */
export async function recordRun(seed: number, flushless: boolean): Promise<Recording> {
  const scratch = mkdtempSync(path.join(tmpdir(), 'mds-recording-'))
  const directory = path.join(scratch, 'db')
  const log = path.join(scratch, 'io.log')
  mkdirSync(directory)
  try {
    const shim = {
      LD_PRELOAD: buildShim('powercut'),
      MDS_FAULT_DIR: directory,
      MDS_FAULT_LOG: log,
      ...(flushless ? { MDS_FAULT_SWALLOW_FLUSHES: '1' } : {}),
    }
    const server = await ServerProcess.start(directory, shim)
    const events = new ClientEvents(log)
    const outcome = await new WriteLoad(seed, new Ledger(), (event) => events.append(JSON.stringify(event)))
      .run(server.client, REQUESTS_PER_CLIENT)
      .finally(() => server.kill())
    events.close()
    const records = readIoLog(log)
    return { records, acknowledged: outcome.acknowledged, unseen: compareWithDisk(records, directory) }
  } finally {
    rmSync(scratch, { recursive: true, force: true })
  }
}

/**
 * Cuts `cuts` times: half of them right after an acknowledgement, the others anywhere after the first one.
 * Calls `judge` with the complaints of each.
 */
export async function cutPower(
  records: readonly IoRecord[],
  seed: number,
  cuts: number,
  judge: (cut: number, complaints: readonly string[]) => void,
): Promise<void> {
  const random = new Random(seed)
  const scratch = mkdtempSync(path.join(tmpdir(), 'mds-power-cut-'))
  const disk = new DiskState()
  const ledger = new Ledger()
  let fed = 0
  try {
    for (const position of cutPositions(records, random, cuts)) {
      for (; fed <= position; fed++) feed(records[fed]!, disk, ledger)
      const chance = { survive: random.pick([0, 0, 0.2, 0.5, 0.8, 1]), torn: random.pick([0, 0.5, 1]) }
      disk.writeAfterCut(path.join(scratch, 'db'), chance, random)
      judge(position, await complaintsAfterReboot(path.join(scratch, 'db'), ledger))
    }
  } finally {
    rmSync(scratch, { recursive: true, force: true })
  }
}

/** In ascending order, so that one pass over the log suffices. */
function cutPositions(records: readonly IoRecord[], random: Random, cuts: number): readonly number[] {
  const acknowledgements = records.flatMap((record, i) =>
    record.kind === 'client' && eventOf(record.text).kind === 'acknowledged' ? [i] : [],
  )
  const first = acknowledgements[0]
  if (first === undefined) throw new Error('the recorded run has no acknowledged write')
  const positions = Array.from({ length: cuts }, (_, i) =>
    i % 2 === 0 ? random.pick(acknowledgements) : first + random.below(records.length - first),
  )
  return positions.sort((a, b) => a - b)
}

function feed(record: IoRecord, disk: DiskState, ledger: Ledger): void {
  if (record.kind === 'client') ledger.apply(eventOf(record.text))
  else disk.feed(record)
}

function eventOf(text: string): LedgerEvent {
  return JSON.parse(text) as LedgerEvent
}

/**
 * LMDB_RESTORE=safe: with an unchanged boot id lmdb-js would trust commits that were never flushed, which it
 * would not do after a real reboot.
 */
async function complaintsAfterReboot(directory: string, ledger: Ledger): Promise<readonly string[]> {
  let server: ServerProcess
  try {
    server = await ServerProcess.start(directory, { LMDB_RESTORE: 'safe' })
  } catch (cause) {
    return [`the server does not start: ${cause instanceof Error ? cause.message : String(cause)}`]
  }
  try {
    return (await verifyStore(server.client, ledger)).complaints
  } finally {
    await server.kill()
  }
}

function compareWithDisk(records: readonly IoRecord[], directory: string): readonly string[] {
  const disk = new DiskState()
  for (const record of records) disk.feed(record)
  const replayed = new Map(disk.files())
  const unseen: string[] = []
  for (const entry of readdirSync(directory, { recursive: true, withFileTypes: true })) {
    const name = path.relative(directory, path.join(entry.parentPath, entry.name))
    if (!entry.isFile() || name.endsWith('-lock') || entry.name === 'lock.mdb') continue
    const content = replayed.get(name)
    if (content === undefined || !content.equals(readFileSync(path.join(directory, name)))) unseen.push(name)
    replayed.delete(name)
  }
  return [...unseen, ...replayed.keys()]
}
