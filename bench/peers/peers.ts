/**
 * The peer programs of the benches, prepared once in .cache/bench: a Python environment with packages from
 * PyPI (PostgreSQL, Tantivy, ir_measures), the Lucene programs built with Maven, and the Tantivy program
 * built with Cargo. If a peer cannot be prepared, the bench reports it and continues without that peer.
 * `MDS_BENCH_PYTHON` names an interpreter that already has the packages.
 */
import { execFileSync, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { PROJECT_ROOT } from '../../test/fault/shim/shim_build.js'
import { sharedPath } from '../data/corpora.js'
import type { Measurement } from '../measure/report.js'

export const CACHE = path.join(PROJECT_ROOT, '.cache/bench')
export type PeerRows = readonly Measurement[]

const PYTHON_PACKAGES = ['pgserver', 'psycopg2-binary', 'tantivy', 'ir_measures', 'numpy', 'faiss-cpu', 'hnswlib']
/** Time limit of a peer's whole run, which takes minutes, not hours. */
const PEER_MS_MAX = 900_000
const PEER_OUTPUT_BYTES_MAX = 16 << 20

/** The interpreter with the peers' packages, or null where they cannot be installed. */
export function peerPython(): string | null {
  const given = process.env['MDS_BENCH_PYTHON']
  if (given !== undefined) return given
  const venv = path.join(CACHE, 'python')
  const python = path.join(venv, 'bin/python')
  if (existsSync(path.join(venv, 'ready'))) return python
  try {
    execFileSync('python3', ['-m', 'venv', venv], { stdio: 'pipe' })
    execFileSync(python, ['-m', 'pip', '-q', 'install', ...PYTHON_PACKAGES], { stdio: 'pipe' })
    execFileSync('touch', [path.join(venv, 'ready')])
    return python
  } catch (cause) {
    return absent('Python peers', cause)
  }
}

/** The class path of the Lucene aid, or null where it cannot be built. */
export function luceneClassPath(): string | null {
  const folder = path.join(CACHE, 'lucene')
  const classPath = `${folder}/target/classes:${folder}/target/lib/*`
  if (existsSync(path.join(folder, 'target/lib'))) return classPath
  try {
    mkdirSync(folder, { recursive: true })
    // Without the mode: the shared folder is read-only, and the copy would be, too.
    execFileSync('cp', ['-r', '--no-preserve=mode', `${sharedPath('peers/lucene')}/.`, folder])
    execFileSync('mvn', ['-q', 'package', 'dependency:copy-dependencies', '-DoutputDirectory=target/lib'], { cwd: folder, stdio: 'pipe' })
    return classPath
  } catch (cause) {
    return absent('Lucene', cause)
  }
}

/** The class path of the project's own Lucene peer (bench/peers/lucene), or null where it cannot be built. */
export function lucenePeerClassPath(): string | null {
  const folder = path.join(CACHE, 'lucene-peer')
  const classPath = `${folder}/target/classes:${folder}/target/lib/*`
  const source = path.join(PROJECT_ROOT, 'bench/peers/lucene')
  if (isCurrent(folder, source) && existsSync(path.join(folder, 'target/lib'))) return classPath
  try {
    console.log('building the Lucene peer with Maven')
    rmSync(folder, { recursive: true, force: true })
    cpSync(source, folder, { recursive: true })
    execFileSync('mvn', ['-q', 'package', 'dependency:copy-dependencies', '-DoutputDirectory=target/lib'], { cwd: folder, stdio: 'pipe' })
    markCurrent(folder, source)
    return classPath
  } catch (cause) {
    return absent('Lucene', cause)
  }
}

/**
 * The Tantivy peer (bench/peers/tantivy), compiled in release mode, or null if Rust is not installed. Cargo
 * decides whether anything must be rebuilt, and shows its progress.
 */
export function tantivyPeer(): string | null {
  const folder = path.join(CACHE, 'tantivy')
  const manifest = path.join(PROJECT_ROOT, 'bench/peers/tantivy/Cargo.toml')
  const options = ['build', '--release', '--locked', '--manifest-path', manifest, '--target-dir', folder]
  try {
    if (!existsSync(path.join(folder, 'release'))) console.log('building the Tantivy peer, about two minutes')
    execFileSync('cargo', options, { stdio: ['ignore', 'ignore', 'inherit'] })
    return path.join(folder, 'release/tantivy-peer')
  } catch (cause) {
    return absent('Tantivy', cause)
  }
}

/** The engine's own bench program (native/bench). */
export function engineBenchProgram(): string {
  execFileSync(process.execPath, [path.join(PROJECT_ROOT, 'scripts/build-native.mjs'), '--bench'], { stdio: 'inherit' })
  return path.join(PROJECT_ROOT, 'build-bench/native/bench/mds_search_bench')
}

/** The vector engine's own bench program. */
export function vectorBenchProgram(): string {
  return path.join(path.dirname(engineBenchProgram()), 'mds_vector_bench')
}

/** Hash of the files below a folder, names included. If it differs, the build output is stale. */
export function sourceHash(folder: string): string {
  const hash = createHash('sha256')
  for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' }).sort()) {
    const file = path.join(folder, name)
    if (statSync(file).isFile()) hash.update(name).update(readFileSync(file))
  }
  return hash.digest('hex')
}

function isCurrent(made: string, source: string): boolean {
  const mark = path.join(made, 'SOURCE')
  return existsSync(mark) && readFileSync(mark, 'utf8') === sourceHash(source)
}

function markCurrent(made: string, source: string): void {
  writeFileSync(path.join(made, 'SOURCE'), sourceHash(source))
}

/** A Python aid of the shared folder, as a copy, because some aids write beside themselves. */
export function peerScript(name: string): string {
  const target = path.join(CACHE, path.basename(name))
  mkdirSync(CACHE, { recursive: true })
  cpSync(sharedPath(name), target)
  return target
}

/**
 * Runs a peer to its end and returns its JSON lines. Null if it fails.
 * @param cores for taskset: `0` pins it to one core
 */
export function runPeer(name: string, cores: string, command: string, args: readonly string[]): PeerRows | null {
  const run = spawnSync('taskset', ['-c', cores, command, ...args], {
    encoding: 'utf8',
    timeout: PEER_MS_MAX,
    maxBuffer: PEER_OUTPUT_BYTES_MAX,
  })
  if (run.status !== 0) return absent(name, run.error ?? new Error(run.stderr.slice(-500)))
  return run.stdout
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line) as Measurement)
}

function absent(what: string, cause: unknown): null {
  console.log(`PEER ABSENT: ${what}: ${cause instanceof Error ? cause.message : String(cause)}`)
  return null
}
