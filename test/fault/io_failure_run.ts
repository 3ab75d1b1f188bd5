/**
 * One point of the I/O failure sweep: the n-th write or flush of a running server fails, once or from then on, under a mixed write load. Whatever the server does about it (answer 503, die),
 * each client must get an answer or the end of its connection in time, and what was acknowledged must be there when the disk works again. Used by io_failure.test.ts and
 * scripts/campaign-io-failure.mjs.
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { Ledger } from './ledger.js'
import { ServerProcess } from './server_process.js'
import { buildShim } from './shim_build.js'
import { verifyStore } from './verification.js'
import { WriteLoad, type LoadOutcome } from './write_load.js'

export interface FailurePoint {
  readonly operation: 'fdatasync' | 'pwrite' | 'writev' | 'fsync'
  /** Which call fails, counted from the moment the load has warmed up; from 1. */
  readonly at: number
  readonly errno: 'EIO' | 'ENOSPC' | 'HANG'
  /** Whether all later calls fail too. */
  readonly lasts: boolean
}

export interface FailureReport {
  readonly outcome: LoadOutcome
  /** Whether the server ended itself, which it must after a failed flush: it may not go on with a page cache that it no longer knows. */
  readonly serverEnded: boolean
  readonly complaints: readonly string[]
}

const WARM_UP_REQUESTS = 5
const REQUESTS_PER_CLIENT = 60

export async function runFailure(seed: number, point: FailurePoint): Promise<FailureReport> {
  const scratch = mkdtempSync(path.join(tmpdir(), 'mds-io-failure-'))
  const directory = path.join(scratch, 'db')
  const arm = path.join(scratch, 'armed')
  mkdirSync(directory)
  const ledger = new Ledger()
  const load = new WriteLoad(seed, ledger)
  try {
    const failing = await ServerProcess.start(directory, {
      LD_PRELOAD: buildShim('iofail'),
      MDS_FAULT_DIR: directory,
      MDS_FAULT_ARM: arm,
      MDS_FAULT_OP: point.operation,
      MDS_FAULT_AT: String(point.at),
      MDS_FAULT_ERRNO: point.errno,
      ...(point.lasts ? { MDS_FAULT_LASTS: '1' } : {}),
    })
    let outcome: LoadOutcome
    let serverEnded: boolean
    try {
      await load.run(failing.client, WARM_UP_REQUESTS)
      writeFileSync(arm, '')
      outcome = await load.run(failing.client, REQUESTS_PER_CLIENT)
      serverEnded = failing.ended
    } finally {
      await failing.kill()
    }
    const recovered = await ServerProcess.start(directory)
    const { complaints } = await verifyStore(recovered.client, ledger).finally(() => recovered.kill())
    return { outcome, serverEnded, complaints }
  } finally {
    rmSync(scratch, { recursive: true, force: true })
  }
}
