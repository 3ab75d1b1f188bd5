/**
 * `npm test`: runs every compiled test file in ordered groups, then the native tests. Prints a table of times
 * and one summary line over all runners.
 *
 * Arguments select files by a part of their path: `npm test -- unit` or `npm test -- contract/fulltext`.
 * Files named `*.long.test.ts` take minutes and run only with TEST_LONG=1. Native tests need GoogleTest;
 * without it they count as one skipped test. Groups run one after the other: tests of one group may share the
 * two cores, but a fault test must not share them with a contract test.
 */
import { spawn, spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join, relative } from 'node:path'
import { run } from 'node:test'
import { spec } from 'node:test/reporters'
import { inspect } from 'node:util'
import '../dist/test/harness/owned_processes.js'
import { bundleWhereChanged } from './lib/bundle.mjs'
import { seconds } from './lib/child.mjs'
import { filesUnder } from './lib/fingerprint.mjs'
import { projectRoot } from './lib/root.mjs'

/**
 * Ordered by how early a failure is worth knowing. `concurrency`: files run at once. `fileMsMax`: time limit
 * of a file, so that a hang becomes a failure.
 */
const GROUPS = [
  { name: 'unit', concurrency: 2, fileMsMax: 120_000 },
  { name: 'golden', concurrency: 2, fileMsMax: 120_000 },
  { name: 'property', concurrency: 2, fileMsMax: 300_000 },
  { name: 'contract', concurrency: 2, fileMsMax: 300_000 },
  { name: 'replay', concurrency: 1, fileMsMax: 600_000 },
  { name: 'fault', concurrency: 2, fileMsMax: 900_000 },
]

const REASON_LINES_MAX = 40
/** The slowest files are listed at the end, slowest first. */
const SLOW_FILES_SHOWN = 15

const patterns = process.argv.slice(2)
const long = process.env.TEST_LONG === '1'

function filesOf(group) {
  return filesUnder(projectRoot, `dist/test/${group.name}`)
    .filter((file) => file.endsWith('.test.js') && (long || !file.endsWith('.long.test.js')))
    .filter((file) => patterns.length === 0 || patterns.some((pattern) => file.includes(pattern)))
    .map((file) => join(projectRoot, file))
}

/**
 * Counts tests, not suites, and lists the failures. A file that exits before its first test counts as one
 * failed test.
 */
async function runGroup(group, files) {
  const tally = { name: group.name, passed: 0, failed: 0, skipped: 0, failures: [], fileMs: new Map(), startMs: Date.now() }
  const stream = run({ files, concurrency: group.concurrency, timeout: group.fileMsMax })
  const count = (field) => (event) => {
    const fileMs = event.nesting === 0 ? event.details.duration_ms : 0
    if (event.file !== undefined) tally.fileMs.set(event.file, (tally.fileMs.get(event.file) ?? 0) + fileMs)
    if (event.details.type === 'suite') {
      // A suite fails with its tests. It fails alone if a hook throws, which no test reports.
      if (field !== 'failed' || event.details.error?.failureType === 'subtestsFailed') return
    }
    if (event.skip !== undefined || event.todo !== undefined) tally.skipped += 1
    else tally[field] += 1
    if (field === 'failed' && event.todo === undefined) tally.failures.push(`${group.name}: ${event.name}${reason(event)}`)
  }
  stream.on('test:pass', count('passed'))
  stream.on('test:fail', count('failed'))
  await new Promise((resolve, reject) => {
    stream.on('error', reject)
    const shown = stream.compose(new spec())
    shown.on('data', (chunk) => process.stdout.write(chunk))
    shown.on('end', resolve)
    shown.on('error', reject)
  })
  return { ...tally, elapsed: seconds(tally.startMs) }
}

/**
 * The position of a test and the reason of its failure, indented, so that the last lines of a long log
 * suffice.
 */
function reason(event) {
  const error = event.details.error
  const cause = error?.cause ?? error
  const lines = inspect(cause, { depth: 4, maxStringLength: 2000 }).split('\n').slice(0, REASON_LINES_MAX)
  const position = event.file === undefined ? '' : ` (${relative(projectRoot, event.file)}:${event.line})`
  return `${position}\n${lines.map((line) => `    ${line}`).join('\n')}`
}

/**
 * ctest prints `98% tests passed, 1 tests failed out of 50`. Any other output, for example of a failed build,
 * counts as one failed test.
 */
async function runNative() {
  const tally = { name: 'native', passed: 0, failed: 0, skipped: 0, failures: [], fileMs: new Map(), startMs: Date.now() }
  if (!hasGoogleTest()) {
    console.log('native tests skipped: GoogleTest is not installed (apt-get install libgtest-dev)')
    return { ...tally, skipped: 1, elapsed: seconds(tally.startMs) }
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
  return { ...tally, passed, failed, failures: failed > 0 ? [`native: exit ${code}`] : [], elapsed: seconds(tally.startMs) }
}

function hasGoogleTest() {
  const compiler = process.env.CXX ?? 'c++'
  return (
    spawnSync(compiler, ['-E', '-x', 'c++', '-'], { input: '#include <gtest/gtest.h>', stdio: ['pipe', 'ignore', 'ignore'] }).status === 0
  )
}

async function runAll() {
  await bundleWhereChanged(projectRoot)
  const tallies = []
  for (const group of GROUPS) {
    const files = filesOf(group)
    if (files.length > 0) tallies.push(await runGroup(group, files))
  }
  const hasNativeTests = existsSync(join(projectRoot, 'native', 'test', 'CMakeLists.txt'))
  if (hasNativeTests && (patterns.length === 0 || patterns.includes('native'))) tallies.push(await runNative())
  return tallies
}

function report(tallies) {
  console.log('\ngroup       passed  failed  skipped      time')
  for (const tally of tallies) {
    const numbers = [tally.passed, tally.failed, tally.skipped].map((n, i) => String(n).padStart([7, 8, 9][i])).join('')
    console.log(tally.name.padEnd(11) + numbers + tally.elapsed.padStart(10))
  }
  const files = tallies.flatMap((tally) => [...tally.fileMs]).sort(([, a], [, b]) => b - a)
  console.log('\nslowest files')
  for (const [file, ms] of files.slice(0, SLOW_FILES_SHOWN)) {
    console.log(
      `${(ms / 1000).toFixed(1).padStart(8)} s  ${relative(projectRoot, file)
        .replace(/^dist\//, '')
        .replace(/\.js$/, '.ts')}`,
    )
  }
  console.log()
  for (const failure of tallies.flatMap((tally) => tally.failures)) console.log(`failed: ${failure}`)
  const sum = (field) => tallies.reduce((total, tally) => total + tally[field], 0)
  const [passed, failed, skipped] = [sum('passed'), sum('failed'), sum('skipped')]
  console.log(`\n${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`)
  process.exitCode = failed > 0 || passed === 0 ? 1 : 0
}

report(await runAll())
