/**
 * Guarantees on a failing disk: no request hangs, no acknowledged write is lost, and the next start succeeds.
 * After a refused commit the content of the page cache is unknown, so the process ends instead of retrying.
 * The front end's watchdog notices a flush that never returns. A few points of each kind; the campaign (`npm
 * run campaign -- io-failure`) sweeps all.
 */
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { runSeed } from '../../harness/random.js'
import type { Fault } from '../shim/fault_control.js'
import { FailureRun, type PointReport } from './io_failure_run.js'

const UNDER_LOAD: readonly Fault[] = [
  { kind: 'flush', at: 1, error: 'EIO', manner: 'clean', lasts: false },
  { kind: 'flush', at: 7, error: 'EIO', manner: 'torn', lasts: true },
  { kind: 'flush', at: 20, error: 'ENOSPC', manner: 'clean', lasts: true },
  { kind: 'write', at: 1, error: 'ENOSPC', manner: 'clean', lasts: true },
  { kind: 'write', at: 2, error: 'EIO', manner: 'clean', lasts: false },
  { kind: 'write', at: 3, error: 'EIO', manner: 'torn', lasts: false },
  { kind: 'write', at: 40, error: 'ENOSPC', manner: 'short', lasts: false },
  { kind: 'write', at: 101, error: 'EIO', manner: 'clean', lasts: true },
  { kind: 'truncate', at: 1, error: 'EIO', manner: 'clean', lasts: false },
  { kind: 'name', at: 2, error: 'ENOSPC', manner: 'clean', lasts: false },
  { kind: 'name', at: 9, error: 'EIO', manner: 'torn', lasts: false },
  // A flush of a commit. The index is derived and has a longer time limit (refused_files.test.ts).
  { kind: 'flush', at: 2, error: 'EIO', manner: 'hang', lasts: false, only: 'truth.mdb' },
]
const AT_START: readonly Fault[] = [
  { kind: 'flush', at: 1, error: 'EIO', manner: 'clean', lasts: false },
  { kind: 'write', at: 1, error: 'ENOSPC', manner: 'short', lasts: true },
  { kind: 'write', at: 2, error: 'EIO', manner: 'clean', lasts: true },
  { kind: 'write', at: 3, error: 'EIO', manner: 'torn', lasts: false },
]
const seed = runSeed()

describe(`I/O failures, MDS_TEST_SEED=${seed}`, () => {
  for (const isSealed of [false, true]) {
    describe(isSealed ? 'of a sealed collection' : 'of a collection in clear', () => {
      const run = new FailureRun(seed, isSealed)
      before(() => run.begin())
      after(async () => assert.deepEqual(await run.end(), []))

      const check = (what: string, fault: Fault, report: () => Promise<PointReport>): void => {
        const name = `${fault.manner} ${fault.error} from ${fault.kind} number ${fault.at}${fault.lasts ? ' on' : ''} ${what}`
        it(`${name}: every request is answered or its connection ended, and no acknowledged write is lost`, async () => {
          const { hung, hits, complaints } = await report()
          assert.deepEqual({ hung, met: hits > 0, complaints }, { hung: 0, met: true, complaints: [] })
        })
      }
      for (const fault of UNDER_LOAD) check('under load', fault, () => run.failUnderLoad(fault))
      for (const fault of AT_START) check('at the start', fault, () => run.failAtStart(fault))
    })
  }
})
