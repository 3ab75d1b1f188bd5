/**
 * The data directory. `CURRENT` names the generation that is served, `LOCK` keeps a second process out,
 * `gen-NNNNNN/` contains the truth env and the index, `backups/` contains backups. Used in the process's main
 * thread, before any lane starts and when a restore switches generations; lanes only read which generation is
 * served. Described in docs/formats/data-directory.md.
 */
import {
  accessSync,
  closeSync,
  constants,
  existsSync,
  fsyncSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statfsSync,
  statSync,
} from 'node:fs'
import { rm } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import { failPoint } from '../../base/fail_point.js'
import { isDirectory, makeFolders } from '../../base/folders.js'
import { SPOOL_PREFIX } from '../../base/spool_files.js'
import { ASIDE_OF_ONCE_FILE, writeFlushed } from './once_file.js'

/** A refused start, with a one-line reason. */
class LayoutError extends Error {}

export interface DataDirectory {
  readonly path: string
  readonly lockPath: string
  /** Directory of the generation that `CURRENT` names. */
  readonly generationPath: string
  /**
   * Nothing in the directory can be written: the file system is mounted read-only, or the process lacks
   * permission.
   */
  readonly isReadOnly: boolean
}

const GENERATION = /^gen-\d{6}$/
const FIRST_GENERATION = 'gen-000001'
export const TRUTH_FILE = 'truth.mdb'
/** Folders of a generation that are derived from its truth env. */
const DERIVED_FOLDERS = ['index', 'vectors']
/** f_type of statfs(2): NFS, SMB, SMB2, CIFS, AFS. LMDB's locks and maps do not work there. */
const NETWORK_FILE_SYSTEMS = new Map([
  [0x6969, 'NFS'],
  [0x517b, 'SMB'],
  [0xfe534d42, 'SMB2'],
  [0xff534d42, 'CIFS'],
  [0x5346414f, 'AFS'],
])

/**
 * Creates the directory on the first start.
 * @param onlyReads the server accepts no writes, so a directory that can't be written is sufficient
 * @throws LayoutError for a path that can't be served, and for one whose store is incomplete
 */
export function openDataDirectory(configured: string, onlyReads = false): DataDirectory {
  const path = resolve(configured)
  const obstacle = isDirectory(path) ? obstacleToWrites(path) : undefined
  if (obstacle === undefined) makeDirectory(path)
  else if (!onlyReads) throw new LayoutError(`${path} can't be written (${obstacle}); --mode read (SVC_MODE=read) serves what is there`)
  const network = NETWORK_FILE_SYSTEMS.get(statfsSync(path).type >>> 0)
  if (network !== undefined) throw new LayoutError(`${path} is on ${network}; the data directory must be on a local file system`)
  if (obstacle === undefined) makeDirectory(join(path, 'backups'))
  const generation = readCurrent(path) ?? beginFirstGeneration(path, obstacle)
  const generationPath = join(path, generation)
  checkGeneration(path, generation)
  // The index is derived from the truth env. If it was removed, it is built again.
  if (obstacle === undefined) makeDirectory(join(generationPath, 'index'))
  return { path, lockPath: join(path, 'LOCK'), generationPath, isReadOnly: obstacle !== undefined }
}

/** The system's error code if nothing can be written there; undefined otherwise. */
function obstacleToWrites(path: string): string | undefined {
  try {
    accessSync(path, constants.W_OK | constants.X_OK)
    return undefined
  } catch (error) {
    return (error as NodeJS.ErrnoException).code
  }
}

function makeDirectory(path: string): void {
  try {
    makeFolders(path, 0o700)
  } catch (cause) {
    if (existsSync(path)) throw new LayoutError(`${path} is a file; the data directory must be a directory (--db, SVC_PATH)`)
    throw new LayoutError(`${path} can't be used as data directory: ${(cause as NodeJS.ErrnoException).code ?? String(cause)}`)
  }
}

/**
 * Called if `CURRENT` is missing: on a first start, or after one that ended before it had written anything.
 * Any other files belong to an existing store; guessing which generation to serve would destroy the others.
 */
function beginFirstGeneration(path: string, obstacle: string | undefined): string {
  const found = generationsIn(path).filter((name) => holdsFiles(join(path, name)))
  if (found.length > 0)
    throw new LayoutError(
      `${path}/CURRENT is missing, but ${describeGenerations(path, found)} there; write the name of the one to serve into CURRENT, or move what is there away to begin with an empty store`,
    )
  if (obstacle !== undefined) throw new LayoutError(`${path} holds no data directory, and none can be made there (${obstacle})`)
  makeFolders(join(path, FIRST_GENERATION, 'index'), 0o700)
  return writeCurrent(path, FIRST_GENERATION)
}

/**
 * An index is derived from a truth env, so an index without a truth env means that the truth env was lost.
 */
function checkGeneration(path: string, generation: string): void {
  const folder = join(path, generation)
  if (!isDirectory(folder)) {
    const others = generationsIn(path).filter((name) => holdsFiles(join(path, name)))
    const found = others.length === 0 ? 'there is no other' : `${describeGenerations(path, others)} there`
    throw new LayoutError(`${path}/CURRENT names ${generation}, which is not there; ${found}; ${restoreAdvice(folder)}`)
  }
  const truth = statSync(join(folder, TRUTH_FILE), { throwIfNoEntry: false })
  if (truth !== undefined && !truth.isFile()) throw new LayoutError(`${folder}/${TRUTH_FILE} is no file; ${restoreAdvice(folder)}`)
  if (truth !== undefined && truth.size > 0) return
  const wasServed = generation !== FIRST_GENERATION || DERIVED_FOLDERS.some((name) => holdsFiles(join(folder, name)))
  if (wasServed)
    throw new LayoutError(
      `${folder}/${TRUTH_FILE} is ${truth === undefined ? 'missing' : 'empty'}, and what was made from it is there; ${restoreAdvice(folder)}`,
    )
}

/** Advice for a store that can't be served, for the line that refuses the start. */
export function restoreAdvice(generationPath: string): string {
  return `to go back to a backup, move CURRENT and ${basename(generationPath)} out of ${dirname(generationPath)}, start again, and restore it (mds restore NAME)`
}

function generationsIn(path: string): readonly string[] {
  return readdirSync(path)
    .filter((name) => GENERATION.test(name))
    .sort()
}

function describeGenerations(path: string, names: readonly string[]): string {
  const described = names.map((name) => {
    const truth = statSync(join(path, name, TRUTH_FILE), { throwIfNoEntry: false })
    return `${name} (${truth === undefined ? `no ${TRUTH_FILE}` : `${TRUTH_FILE} of ${truth.size} bytes, written ${truth.mtime.toISOString()}`})`
  })
  return `${described.join(' and ')} ${names.length === 1 ? 'is' : 'are'}`
}

/** Whether the path contains any file, at any depth. */
function holdsFiles(path: string): boolean {
  const found = statSync(path, { throwIfNoEntry: false })
  if (found === undefined) return false
  return !found.isDirectory() || readdirSync(path).some((name) => holdsFiles(join(path, name)))
}

/**
 * Removes what an unfinished restore, export or switch has left: every generation but the served one, and
 * temporary files. To be called once the directory is locked, before any lane starts.
 */
export function sweepDataDirectory({ path, generationPath }: DataDirectory): void {
  const served = basename(generationPath)
  for (const name of readdirSync(path)) {
    const isLeft =
      (GENERATION.test(name) && name !== served) || name === 'CURRENT.tmp' || name.startsWith(SPOOL_PREFIX) || ASIDE_OF_ONCE_FILE.test(name)
    if (isLeft) rmSync(join(path, name), { recursive: true, force: true })
  }
}

/** Creates the empty directory of the next generation. @returns its name */
export function beginGeneration(configured: string): string {
  const current = currentGeneration(configured)
  const name = `gen-${String(Number(basename(current).slice(4)) + 1).padStart(6, '0')}`
  const path = generationPath(configured, name)
  rmSync(path, { recursive: true, force: true })
  makeFolders(join(path, 'index'), 0o700)
  return name
}

export function generationPath(configured: string, name: string): string {
  return join(resolve(configured), name)
}

/** Makes the generation the served one, for every later start. Its files must be on disk. */
function serveGeneration(configured: string, name: string): void {
  const path = resolve(configured)
  for (const folder of [join(path, name, 'index'), join(path, name)]) flushDirectory(folder)
  writeCurrent(path, name)
}

/** Directory of the served generation, for a lane of a process that has opened the data directory. */
export function currentGeneration(configured: string): string {
  const path = resolve(configured)
  const generation = readCurrent(path)
  if (generation === undefined) throw new LayoutError(`${path} holds no data directory`)
  return join(path, generation)
}

/** For the front end, which switches generations (src/dispatch/generation_switch.ts). */
export function generationsOf(configured: string): {
  served(): string
  serve(generation: string): void
  remove(generation: string): Promise<void>
} {
  return {
    served: () => basename(currentGeneration(configured)),
    serve: (generation) => serveGeneration(configured, generation),
    remove: (generation) => rm(generationPath(configured, generation), { recursive: true, force: true }),
  }
}

function readCurrent(path: string): string | undefined {
  let text: string
  try {
    text = readFileSync(join(path, 'CURRENT'), 'utf8').trim()
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw new LayoutError(`${path}/CURRENT can't be read: ${String(cause)}`)
  }
  if (!GENERATION.test(text)) {
    const found = generationsIn(path)
    const advice = found.length === 0 ? '' : `: ${describeGenerations(path, found)} there; write the name of the one to serve into it`
    throw new LayoutError(`${path}/CURRENT does not name a generation${advice}`)
  }
  return text
}

/** Atomic and durable: writes a temporary file, flushes it, renames it, and flushes the directory. */
function writeCurrent(path: string, generation: string): string {
  const aside = join(path, 'CURRENT.tmp')
  try {
    writeFlushed(aside, 'w', `${generation}\n`)
    failPoint('current.written')
    renameSync(aside, join(path, 'CURRENT'))
  } catch (error) {
    rmSync(aside, { force: true })
    throw error
  }
  failPoint('current.renamed')
  flushDirectory(path)
  flushDirectory(dirname(path))
  return generation
}

export function flushDirectory(path: string): void {
  const directory = openSync(path, 'r')
  fsyncSync(directory)
  closeSync(directory)
}
