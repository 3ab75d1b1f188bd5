/**
 * Runs compiled test files with node's runner, each in a process of its own, and counts tests by file. With
 * `judgeAgain`, files that failed get another chance: alone, twice.
 */
import { relative } from 'node:path'
import { run } from 'node:test'
import { spec } from 'node:test/reporters'
import { inspect } from 'node:util'

const REASON_LINES_MAX = 40
/** What is kept of the output of a file: enough for the lines of a server that did not start. */
export const OUTPUT_CHARACTERS_MAX = 8000
/** Runs after the first one, all of which must be green. */
const RUNS_AGAIN = 2
/** More unstable files than this are a failure: instability is then the rule. */
export const UNSTABLE_FILES_MAX = 3
/** Where more files failed, they have a cause in common, and none is run again. */
export const FILES_AGAIN_MAX = 8

/**
 * Counts tests, not suites, and lists the failures. A file that ends before its first test, or by its time
 * limit, counts as one failed test.
 * @param root paths are shown relative to it
 * @returns results in the order of the files
 */
export async function runFiles(root, group, files) {
  const results = new Map(files.map((file) => [file, { group, file, passed: 0, failed: 0, skipped: 0, failures: [], ms: 0, output: '' }]))
  const stream = run({ files, concurrency: group.concurrency, timeout: group.fileMsMax })
  const count = (field) => (event) => {
    const result = results.get(event.file)
    if (result === undefined) throw new Error(`an event of no file of this run: ${inspect(event)}`)
    if (event.nesting === 0) result.ms += event.details.duration_ms
    if (event.details.type === 'suite') {
      // A suite fails with its tests. It fails alone if a hook throws, which no test reports.
      if (field !== 'failed' || event.details.error?.failureType === 'subtestsFailed') return
    }
    if (event.skip !== undefined || event.todo !== undefined) result.skipped += 1
    else result[field] += 1
    if (field === 'failed' && event.todo === undefined) result.failures.push(`${group.name}: ${event.name}${reason(root, event)}`)
  }
  const keep = ({ file, message }) => {
    const result = results.get(file)
    if (result !== undefined) result.output = (result.output + message).slice(-OUTPUT_CHARACTERS_MAX)
  }
  stream.on('test:pass', count('passed')).on('test:fail', count('failed'))
  stream.on('test:stdout', keep).on('test:stderr', keep)
  await new Promise((resolve, reject) => {
    stream.on('error', reject)
    const shown = stream.compose(new spec())
    shown.on('data', (chunk) => process.stdout.write(chunk))
    shown.on('end', resolve)
    shown.on('error', reject)
  })
  return [...results.values()]
}

/**
 * Runs each failed file twice more, alone. A file that is green both times counts as it did then, unless more
 * than UNSTABLE_FILES_MAX are: then all count as they did first.
 * @returns all results in their order, and the first results of the unstable files
 */
export async function judgeAgain(root, results) {
  const failed = results.filter((result) => result.failed > 0)
  if (failed.length > FILES_AGAIN_MAX) {
    console.log(`\n${failed.length} files failed, more than ${FILES_AGAIN_MAX}: none is run again`)
    return { results, unstable: [] }
  }
  const unstable = new Map()
  for (const first of failed) {
    console.log(`\nagain, alone: ${sourceOf(root, first.file)}`)
    const green = await greenAgain(root, first)
    if (green !== undefined) unstable.set(first, green)
  }
  const judged = unstable.size > UNSTABLE_FILES_MAX ? results : results.map((result) => unstable.get(result) ?? result)
  return { results: judged, unstable: [...unstable.keys()] }
}

/** @returns the result of the last run, undefined after one that was not green */
async function greenAgain(root, { group, file }) {
  let last
  for (let round = 0; round < RUNS_AGAIN; round++) {
    ;[last] = await runFiles(root, { ...group, concurrency: 1 }, [file])
    if (last.failed > 0 || last.passed + last.skipped === 0) return undefined
  }
  return last
}

/** What an unstable file said when it failed: its failures, then the end of its output, indented. */
export function firstOutput(root, { file, failures, output }) {
  const said = output.trim() === '' ? [] : ['its output:', ...output.trimEnd().split('\n')]
  const lines = [...failures, ...said].flatMap((text) => text.split('\n'))
  return `unstable: ${sourceOf(root, file)}\n${lines.map((line) => `    ${line}`).join('\n')}`
}

/** `test/unit/x.test.ts` for its compiled file. */
export function sourceOf(root, file) {
  return relative(root, file)
    .replace(/^dist\//, '')
    .replace(/\.js$/, '.ts')
}

/**
 * The position of a test and the reason of its failure, indented, so that the last lines of a long log
 * suffice.
 */
function reason(root, event) {
  const error = event.details.error
  const cause = error?.cause ?? error
  const lines = inspect(cause, { depth: 4, maxStringLength: 2000 }).split('\n').slice(0, REASON_LINES_MAX)
  return ` (${relative(root, event.file)}:${event.line})\n${lines.map((line) => `    ${line}`).join('\n')}`
}
