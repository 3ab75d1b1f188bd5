/**
 * Records in test/proved.json what a green .ci/run has proved in full, as a content hash of the sources of
 * each proof. While the hash is unchanged, .ci/run repeats only a rotating eighth of the proof.
 *   proofs.mjs stands PROOF     exit code 0 if the sources are those that were proved, else 1
 *   proofs.mjs turn             prints the current eighth, 1 to 8; it changes with each commit and each day
 *   proofs.mjs record PROOF...  writes the hashes; only .ci/run calls it, after its last step has passed
 */
import { spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { hashOf } from './lib/fingerprint.mjs'
import { projectRoot } from './lib/root.mjs'

const RECORD = join(projectRoot, 'test', 'proved.json')
const TURNS = 8
const MS_PER_DAY = 86_400_000
const NATIVE = ['native/engine', 'native/binding', 'native/test', 'CMakeLists.txt', 'scripts/build-native.mjs', '.ci/run']
/** Packages whose sources or headers are part of the engine or of the store. */
const PACKAGES = ['lmdb', 'usearch', 'zstd-napi']

const PROOFS = {
  /** ASan and UBSan, TSan, fuzzers: the native tests do not depend on TypeScript. */
  native: NATIVE,
  /** The sweep of I/O failures, 5 % of its points. */
  durability: [
    ...NATIVE,
    'src/store',
    'src/consumers',
    'src/worker',
    'src/wire',
    'src/programs/lane.ts',
    'src/chore.ts',
    'src/services.ts',
    'src/supervisor.ts',
    'src/server.ts',
    'src/main.ts',
    'scripts/lib/bundle.mjs',
    'test/fault',
  ],
}

function hashOfProof(name) {
  const paths = PROOFS[name]
  if (paths === undefined) throw new Error(`unknown proof ${name}; there are ${Object.keys(PROOFS).join(', ')}`)
  const locked = JSON.parse(readFileSync(join(projectRoot, 'package-lock.json'), 'utf8')).packages
  return hashOf(projectRoot, paths, PACKAGES.map((each) => `${each} ${locked[`node_modules/${each}`].version}`).join('\0'))
}

function readRecord() {
  try {
    return JSON.parse(readFileSync(RECORD, 'utf8'))
  } catch {
    return {} // Absent or damaged: nothing counts as proved.
  }
}

/**
 * Combines commits and days: the number of commits does not change in a shallow checkout, and the day does
 * not change between several runs on one day.
 */
function turn() {
  const commits = Number(spawnSync('git', ['rev-list', '--count', 'HEAD'], { cwd: projectRoot, encoding: 'utf8' }).stdout) || 0
  return ((commits + Math.floor(Date.now() / MS_PER_DAY)) % TURNS) + 1
}

const [command, ...names] = process.argv.slice(2)
if (command === 'stands') {
  process.exitCode = readRecord()[names[0]] === hashOfProof(names[0]) ? 0 : 1
} else if (command === 'turn') {
  console.log(turn())
} else if (command === 'record') {
  const record = { ...readRecord(), ...Object.fromEntries(names.map((name) => [name, hashOfProof(name)])) }
  writeFileSync(RECORD, `${JSON.stringify(record, null, 2)}\n`)
} else {
  console.error('usage: proofs.mjs stands PROOF | turn | record PROOF...')
  process.exitCode = 1
}
