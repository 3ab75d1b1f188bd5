/**
 * The data directory: `CURRENT` names the generation that is served, `LOCK` keeps a second process out, `gen-NNNNNN/` holds the truth env and the index, `backups/` what was backed up.
 * In the process's main thread, before any lane and when a restore switches generations; a lane asks for the generation that is served. Described in docs/formats/data-directory.md.
 */
import {
  closeSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  statfsSync,
  writeSync,
} from 'node:fs'
import { rm } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import { failPoint } from '../fail_point.js'
import { ASIDE_OF_ONCE_FILE } from './once_file.js'
import { SPOOL_PREFIX } from './spool.js'

/** A start that is refused, with the one line that says why. */
export class LayoutError extends Error {}

export interface DataDirectory {
  readonly path: string
  readonly lockPath: string
  /** Directory of the generation that `CURRENT` names. */
  readonly generationPath: string
}

const GENERATION = /^gen-\d{6}$/
const FIRST_GENERATION = 'gen-000001'
/** f_type of statfs(2): NFS, SMB, SMB2, CIFS, 9P (v9fs), AFS. LMDB's locks and maps do not work there. */
const NETWORK_FILE_SYSTEMS = new Map([
  [0x6969, 'NFS'],
  [0x517b, 'SMB'],
  [0xfe534d42, 'SMB2'],
  [0xff534d42, 'CIFS'],
  [0x5346414f, 'AFS'],
])

/** Creates the directory on the first start. @throws LayoutError for a path that can't be served. */
export function openDataDirectory(configured: string): DataDirectory {
  const path = resolve(configured)
  try {
    mkdirSync(path, { recursive: true, mode: 0o700 })
  } catch (cause) {
    throw new LayoutError(`${path} can't be used as data directory: ${(cause as NodeJS.ErrnoException).code ?? String(cause)}`)
  }
  if (!statSync(path).isDirectory()) throw new LayoutError(`${path} is a file; the data directory must be a directory (--db, SVC_PATH)`)
  const network = NETWORK_FILE_SYSTEMS.get(statfsSync(path).type >>> 0)
  if (network !== undefined) throw new LayoutError(`${path} lies on ${network}; the data directory must be on a local file system`)
  for (const folder of ['backups', join(FIRST_GENERATION, 'index')]) {
    if (folder === 'backups' || readCurrent(path) === undefined) mkdirSync(join(path, folder), { recursive: true, mode: 0o700 })
  }
  const generation = readCurrent(path) ?? writeCurrent(path, FIRST_GENERATION)
  const generationPath = join(path, generation)
  if (!isDirectory(generationPath)) throw new LayoutError(`${path}/CURRENT names ${generation}, which is not there`)
  return { path, lockPath: join(path, 'LOCK'), generationPath }
}

/** Removes what an unfinished restore, export or switch has left: everything but the generation that is served. Once the directory is locked, before any lane. */
export function sweepDataDirectory({ path, generationPath }: DataDirectory): void {
  const served = basename(generationPath)
  for (const name of readdirSync(path)) {
    const isLeft =
      (GENERATION.test(name) && name !== served) || name === 'CURRENT.tmp' || name.startsWith(SPOOL_PREFIX) || ASIDE_OF_ONCE_FILE.test(name)
    if (isLeft) rmSync(join(path, name), { recursive: true, force: true })
  }
}

/** Makes the directory of the generation behind the served one, empty. @returns its name */
export function beginGeneration(configured: string): string {
  const current = currentGeneration(configured)
  const name = `gen-${String(Number(basename(current).slice(4)) + 1).padStart(6, '0')}`
  const path = generationPath(configured, name)
  rmSync(path, { recursive: true, force: true })
  mkdirSync(join(path, 'index'), { recursive: true, mode: 0o700 })
  return name
}

export function generationPath(configured: string, name: string): string {
  return join(resolve(configured), name)
}

/** From here on the generation is the one that is served, for every start to come. Its files are on disk. */
function serveGeneration(configured: string, name: string): void {
  const path = resolve(configured)
  for (const folder of [join(path, name, 'index'), join(path, name)]) flushDirectory(folder)
  writeCurrent(path, name)
}

/** Directory of the generation that is served, for a lane of a process that has opened the data directory. */
export function currentGeneration(configured: string): string {
  const path = resolve(configured)
  const generation = readCurrent(path)
  if (generation === undefined) throw new LayoutError(`${path} holds no data directory`)
  return join(path, generation)
}

/** For the front end, which switches them: src/dispatch/generation_switch.ts. */
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
  if (!GENERATION.test(text)) throw new LayoutError(`${path}/CURRENT does not name a generation`)
  return text
}

/** Atomic and durable: written aside, flushed, renamed, and the directory flushed. */
function writeCurrent(path: string, generation: string): string {
  const aside = join(path, 'CURRENT.tmp')
  try {
    const file = openSync(aside, 'w', 0o600)
    writeSync(file, `${generation}\n`)
    fsyncSync(file)
    closeSync(file)
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

function flushDirectory(path: string): void {
  const directory = openSync(path, 'r')
  fsyncSync(directory)
  closeSync(directory)
}

function isDirectory(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false
}
