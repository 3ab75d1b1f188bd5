/**
 * Fuzzes the native parsers and the readers of the index env and of vector files, under AddressSanitizer and
 * UBSan.
 * Usage: node scripts/campaigns/fuzz.mjs [SECONDS_PER_TARGET=600].
 * Inputs that widen the coverage are kept in build-fuzz/corpus and seed the next run. A crash leaves its
 * input there and ends the campaign. Needs clang with its fuzzer runtime.
 */
import { spawnSync } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { filesUnder } from '../lib/fingerprint.mjs'
import { projectRoot } from '../lib/root.mjs'

const TARGETS = filesUnder(projectRoot, 'native/test')
  .flatMap((file) => /\/(fuzz_\w+)\.cc$/.exec(file)?.[1] ?? [])
  .map((name) => `mds_${name}`)
const FOLDER = 'build-asan'
/** The corpus is outside the build tree, so it survives a rebuild. */
const CORPUS = 'build-fuzz/corpus'
/**
 * Larger inputs find nothing more and take longer. A target repeats an input to the size of a stored
 * segment's chunk.
 */
const INPUT_BYTES_MAX = 16_384
const SKIPPED = 77

const seconds = Number(process.argv[2] ?? 600)
if (spawnSync('clang++', ['--version'], { stdio: 'ignore' }).status !== 0) {
  console.log('skipped: fuzzing needs clang: apt-get install clang libclang-rt-14-dev (or the same of your distribution)')
  process.exit(SKIPPED)
}

function run(command, args) {
  const { status, signal } = spawnSync(command, args, { cwd: projectRoot, stdio: 'inherit' })
  if (status !== 0) {
    console.error(`${command} ended with ${status ?? signal}`)
    process.exit(1)
  }
}

run(process.execPath, ['scripts/build-native.mjs', '--fuzz'])
for (const target of TARGETS) {
  const corpus = join(CORPUS, target)
  mkdirSync(join(projectRoot, corpus), { recursive: true })
  const limits = [
    `-max_total_time=${seconds}`,
    `-max_len=${INPUT_BYTES_MAX}`,
    '-timeout=20',
    '-rss_limit_mb=4096',
    '-print_final_stats=1',
    '-verbosity=0',
  ]
  run(join(projectRoot, FOLDER, 'native', 'test', target), [...limits, `-artifact_prefix=${CORPUS}/`, corpus])
}
