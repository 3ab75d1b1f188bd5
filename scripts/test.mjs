/**
 * `npm test`: runs the compiled test files of a tier in ordered groups, in `deep` the native tests after
 * them. Prints a table of times and one summary line over all runners.
 *
 * `npm test -- quick` runs a part that meets everything of the service once, and `npm test -- deep` what
 * takes longest: properties to the end of their runs, kills, faults, bounds that many requests meet, native
 * tests. `.ci/run` runs the standard tier and `deep`. Other arguments select files of every tier by a part of
 * their path: `npm test -- unit` or `npm test -- contract/fulltext`.
 * `--again`, which .ci/run passes, runs each failed file twice more, alone: green both times, it counts as
 * passed and is listed as unstable; more than three unstable files are a failure. `--root` and
 * `--file-ms-max` are for the test of this runner.
 * Native tests need GoogleTest; without it they count as one skipped test. Groups run one after the other:
 * tests of one group may share the two cores, but a fault test must not share them with a contract test.
 */
import { spawn, spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import '../dist/test/harness/process/owned_processes.js'
import { bundleWhereChanged } from './lib/bundle.mjs'
import { seconds } from './lib/child.mjs'
import { filesUnder } from './lib/fingerprint.mjs'
import { projectRoot } from './lib/root.mjs'
import { firstOutput, judgeAgain, OUTPUT_CHARACTERS_MAX, runFiles, sourceOf, UNSTABLE_FILES_MAX } from './lib/test_files.mjs'

/**
 * Ordered by how early a failure is worth knowing. `concurrency`: files run at once; on two cores a part of
 * them waits. `fileMsMax`: time limit of a file, so that a hang becomes a failure.
 */
const GROUPS = [
  { name: 'unit', concurrency: 4, fileMsMax: 120_000 },
  { name: 'golden', concurrency: 2, fileMsMax: 120_000 },
  { name: 'property', concurrency: 3, fileMsMax: 300_000 },
  { name: 'contract', concurrency: 3, fileMsMax: 300_000 },
  { name: 'replay', concurrency: 1, fileMsMax: 600_000 },
  { name: 'fault', concurrency: 2, fileMsMax: 900_000 },
]

/**
 * Groups of each tier. Without an argument, the tier is `standard`. A file `*.deep.test.ts` of any group is
 * of `deep`.
 */
const TIERS = {
  quick: ['unit', 'golden', 'contract'],
  standard: ['unit', 'golden', 'property', 'contract'],
  deep: ['property', 'replay', 'fault', 'native'],
}
/** Of the group `contract`, the tier `quick` has the files that meet every part of the service once. */
const QUICK_CONTRACT = [
  'access/access',
  'documents/batch',
  'coverage',
  'documents/documents',
  'surfaces/every_protocol',
  'fulltext/fulltext',
  'documents/listing',
  'server/operations',
  'documents/revisions',
  'server/system',
  'vectors/vector_search',
]

/** The slowest files are listed at the end, slowest first. */
const SLOW_FILES_SHOWN = 15

const { values: flags, positionals: patterns } = parseArgs({
  allowPositionals: true,
  options: { again: { type: 'boolean' }, root: { type: 'string' }, 'file-ms-max': { type: 'string' } },
})
const root = flags.root === undefined ? projectRoot : resolve(flags.root)
const tier = Object.keys(TIERS).find((name) => name === patterns[0])
if (tier !== undefined) patterns.shift()
const groupsOfTier = TIERS[tier ?? 'standard']
// Read by test/harness/property.ts.
if (tier === 'deep') process.env.MDS_TEST_DEPTH = 'deep'

const isSelected = (file) => patterns.some((pattern) => file.includes(pattern))
const isQuick = (group, file) => group !== 'contract' || QUICK_CONTRACT.some((each) => file.endsWith(`/contract/${each}.test.js`))

function isOfTier(group, file) {
  if (file.endsWith('.deep.test.js')) return tier === 'deep'
  return groupsOfTier.includes(group) && (tier !== 'quick' || isQuick(group, file))
}

function filesOf({ name }) {
  return filesUnder(root, `dist/test/${name}`)
    .filter((file) => file.endsWith('.test.js') && (patterns.length > 0 ? isSelected(file) : isOfTier(name, file)))
    .map((file) => join(root, file))
}

/**
 * ctest prints `98% tests passed, 1 tests failed out of 50`. Any other output, for example of a failed build,
 * counts as one failed test.
 */
async function runNative() {
  const startMs = Date.now()
  const tally = (passed, failed, skipped, failures = []) => ({
    name: 'native',
    passed,
    failed,
    skipped,
    failures,
    startMs,
    endMs: Date.now(),
  })
  if (!hasGoogleTest()) {
    console.log('native tests skipped: GoogleTest is not installed (apt-get install libgtest-dev)')
    return tally(0, 0, 1)
  }
  let output = ''
  const code = await new Promise((resolve) => {
    const child = spawn(process.execPath, [join(projectRoot, 'scripts', 'build-native.mjs'), '--tests'], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    child.stdout.on('data', (chunk) => {
      output += chunk
      process.stdout.write(chunk)
    })
    child.on('error', (error) => resolve(error.message))
    child.on('close', resolve)
  })
  const counts = /(\d+) tests? failed out of (\d+)/.exec(output)
  const failed = counts === null || (code !== 0 && counts[1] === '0') ? 1 : Number(counts[1])
  const passed = counts === null ? 0 : Number(counts[2]) - Number(counts[1])
  return tally(passed, failed, 0, failed > 0 ? [`native: exit ${code}`] : [])
}

function hasGoogleTest() {
  const compiler = process.env.CXX ?? 'c++'
  return (
    spawnSync(compiler, ['-E', '-x', 'c++', '-'], { input: '#include <gtest/gtest.h>', stdio: ['pipe', 'ignore', 'ignore'] }).status === 0
  )
}

/** The tests of a group, counted over its files. */
function tallyOf({ name, startMs, endMs }, results) {
  const sum = (field) => results.reduce((total, result) => total + result[field], 0)
  const failures = results.flatMap((result) => result.failures)
  return { name, passed: sum('passed'), failed: sum('failed'), skipped: sum('skipped'), failures, startMs, endMs }
}

/**
 * Contract files that need nothing but the default configuration share one server. A single file starts its
 * own, and so does one that runs again.
 */
async function runContract(group, files) {
  if (files.length === 1 || tier === 'deep' || flags.root !== undefined) return { results: await runFiles(root, group, files), shared: [] }
  const { SHARED_VARIABLE, startSharedServer } = await import('../dist/test/harness/server/shared_server.js')
  const startMs = Date.now()
  const failedBy = (text) => [{ name: 'shared', passed: 0, failed: 1, skipped: 0, failures: [text], startMs, endMs: Date.now() }]
  let started
  try {
    started = await startSharedServer()
  } catch (error) {
    // Each file starts its own.
    return { results: await runFiles(root, group, files), shared: failedBy(`the server that contract files share: ${error.message}`) }
  }
  const { server, text } = started
  process.env[SHARED_VARIABLE] = text
  let code
  let results
  try {
    results = await runFiles(root, group, files)
  } finally {
    delete process.env[SHARED_VARIABLE]
    code = await server.stop()
  }
  if (code === 0) return { results, shared: [] }
  const output = server.output().slice(-OUTPUT_CHARACTERS_MAX)
  return { results, shared: failedBy(`the server that contract files share ended with ${code}; its output:\n${output}`) }
}

async function runAll() {
  // Scratch files of the test of this runner start none of our programs.
  if (flags.root === undefined) await bundleWhereChanged(root)
  const ran = []
  const first = []
  const shared = []
  for (const group of GROUPS) {
    const files = filesOf(group)
    if (files.length === 0) continue
    const startMs = Date.now()
    const limit = flags['file-ms-max'] === undefined ? {} : { fileMsMax: Number(flags['file-ms-max']) }
    const limited = { ...group, ...limit }
    if (group.name === 'contract') {
      const { results, shared: failed } = await runContract(limited, files)
      first.push(...results)
      shared.push(...failed)
    } else first.push(...(await runFiles(root, limited, files)))
    ran.push({ name: group.name, startMs, endMs: Date.now() })
  }
  const hasNativeTests = existsSync(join(root, 'native', 'test', 'CMakeLists.txt'))
  const wantsNative = patterns.length === 0 ? groupsOfTier.includes('native') : patterns.includes('native')
  const native = hasNativeTests && wantsNative ? [await runNative()] : []
  const { results, unstable } = flags.again === true ? await judgeAgain(root, first) : { results: first, unstable: [] }
  const groups = ran.map((group) =>
    tallyOf(
      group,
      results.filter((result) => result.group.name === group.name),
    ),
  )
  return { tallies: [...groups, ...shared, ...native], results, unstable }
}

function report({ tallies, results, unstable }) {
  console.log('\ngroup       passed  failed  skipped      time')
  for (const tally of tallies) {
    const numbers = [tally.passed, tally.failed, tally.skipped].map((n, i) => String(n).padStart([7, 8, 9][i])).join('')
    console.log(tally.name.padEnd(11) + numbers + seconds(tally.startMs, tally.endMs).padStart(10))
  }
  console.log('\nslowest files')
  for (const { file, ms } of [...results].sort((a, b) => b.ms - a.ms).slice(0, SLOW_FILES_SHOWN))
    console.log(`${(ms / 1000).toFixed(1).padStart(8)} s  ${sourceOf(root, file)}`)
  console.log()
  for (const result of unstable) console.log(firstOutput(root, result))
  if (unstable.length > UNSTABLE_FILES_MAX) console.log(`${unstable.length} files are unstable, more than ${UNSTABLE_FILES_MAX}`)
  for (const failure of tallies.flatMap((tally) => tally.failures)) console.log(`failed: ${failure}`)
  const sum = (field) => tallies.reduce((total, tally) => total + tally[field], 0)
  const [passed, failed, skipped] = [sum('passed'), sum('failed'), sum('skipped')]
  console.log(`\n${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`)
  process.exitCode = failed > 0 || passed === 0 ? 1 : 0
}

report(await runAll())
