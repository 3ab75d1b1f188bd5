/**
 * The process of `mds doctor`. It reads a store that no server has open, and reports damage of pages, of
 * rows, and of the relations between rows. Damaged LMDB pages can end the process that reads them, so the
 * parent (src/cli/doctor.ts) is a separate process. The last message tells the parent how far this one came.
 * Nothing in the store is changed.
 */
import { closeSync, existsSync, openSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { ConfigError, loadConfig } from '../config/config.js'
import { checkTruth, lockFile, openEngine, reserveLmdbLineBuffer } from '../engine/search/native_engine.js'
import { MIB } from '../limits/units.js'
import * as sealing from '../store/collections/sealing_change.js'
import type { Finding } from '../store/comparison/findings.js'
import { StoreComparison } from '../store/comparison/store_comparison.js'
import type { Environment } from '../store/environment.js'
import { DamagedFormat, openEnvironment, UnknownFormat } from '../store/environment.js'
import { openDataDirectory, TRUTH_FILE } from '../store/files/layout.js'
import { keyringOf } from '../store/sealing/server_keyring.js'

/**
 * Rows, and bytes of their values, between two messages of the process in which `mds doctor` reads a store.
 * If the process dies, its position in the store is known to this precision.
 */
const DOCTOR_SLICE_ROWS = 20_000
const DOCTOR_SLICE_BYTES = 64 * MIB

export interface DoctorRequest {
  readonly path: string
  /** A previous check was ended by a signal, so the leaf pages are read to find the damaged one. */
  readonly readsLeaves: boolean
}

/** Every message except `stage` is the last one. */
export type DoctorMessage =
  | { readonly kind: 'stage'; readonly stage: string }
  | { readonly kind: 'refused'; readonly reason: string }
  | { readonly kind: 'damaged'; readonly reason: string }
  | { readonly kind: 'done'; readonly rows: number; readonly total: number; readonly summary: string; readonly listed: readonly Finding[] }

/** The store cannot be examined, which implies nothing about its contents. */
class Refused extends Error {}

process.once('message', (request: DoctorRequest) => {
  process.send?.(examine(request) satisfies DoctorMessage, undefined, undefined, () => process.exit(0))
})
process.once('disconnect', () => process.exit(1))

function examine(request: DoctorRequest): DoctorMessage {
  try {
    const environment = open(request)
    const comparison = new StoreComparison({
      rowsMax: DOCTOR_SLICE_ROWS,
      bytesMax: DOCTOR_SLICE_BYTES,
      documentRowsMax: Infinity,
      documentBytesMax: Infinity,
      comparesContents: true,
      isTallyKept: true,
    })
    compare(environment, comparison)
    const { total, summary, listed } = comparison.findings
    return { kind: 'done', rows: comparison.rows, total, summary, listed }
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    return { kind: error instanceof Refused || error instanceof ConfigError ? 'refused' : 'damaged', reason }
  }
}

/** @throws Refused; any other error is damage */
function open({ path, readsLeaves }: DoctorRequest): Environment {
  // Only the store at the path and the keys of the configuration are used.
  const config = loadConfig(['--db', path], process.env)
  const directory = resolve(config.path)
  if (!existsSync(join(directory, 'CURRENT')) && !existsSync(join(directory, 'gen-000001')))
    throw new Refused(`${directory} holds no data directory`)
  const { generationPath, lockPath, isReadOnly } = openDataDirectory(directory, true)
  lock(directory, lockPath, isReadOnly)
  reserveLmdbLineBuffer()
  say('pages')
  const truth = join(generationPath, TRUTH_FILE)
  if (!existsSync(truth)) throw new Refused(`${truth} is not there: the store was never started`)
  // A file that LMDB cannot open ends the process inside lmdb-js (3.5.6).
  for (const name of [truth, `${truth}-lock`]) if (existsSync(name)) closeSync(openSync(name, isReadOnly ? 'r' : 'r+'))
  if (!checkTruth(truth, readsLeaves))
    throw new Refused(`${truth} was not closed cleanly: the machine went down while it was written; start it once`)
  const environment = openTables(generationPath, keyringOf(config, openEngine()))
  requireKeys(environment)
  return environment
}

function lock(directory: string, lockPath: string, isReadOnly: boolean): void {
  try {
    lockFile(lockPath, isReadOnly)
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    throw new Refused(reason === 'locked' ? `${directory} is in use by another process` : reason)
  }
}

function openTables(generationPath: string, keyring: Parameters<typeof openEnvironment>[1]): Environment {
  try {
    return openEnvironment(generationPath, keyring, undefined, true)
  } catch (error) {
    // The store was made by an older or a newer version.
    if (error instanceof UnknownFormat && !(error instanceof DamagedFormat)) throw new Refused(error.message)
    throw error
  }
}

function requireKeys(environment: Environment): void {
  try {
    sealing.readSealing(environment)
  } catch (error) {
    if (error instanceof sealing.SealingRefused) throw new Refused(error.message)
    throw error
  }
}

function compare(environment: Environment, comparison: StoreComparison): void {
  for (let isMore = true, stage = ''; isMore;) {
    if (stage !== comparison.stage) say((stage = comparison.stage))
    environment.root.resetReadTxn()
    try {
      isMore = comparison.step(environment)
    } catch (error) {
      // LMDB's error for pages that it cannot traverse.
      isMore = comparison.skip(error instanceof Error ? error.message : String(error))
    }
  }
}

function say(stage: string): void {
  process.send?.({ kind: 'stage', stage } satisfies DoctorMessage)
}
