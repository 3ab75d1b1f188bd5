/** `scripts/test.mjs` itself, over scratch test files that fail in every way a file can. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import { projectFolder } from '../../../src/base/installation.js'
import { spawn } from '../../harness/process/owned_processes.js'
import { untilAsked } from '../../harness/process/until.js'

const RUNNER = join(projectFolder(), 'scripts', 'test.mjs')
/** A start of node on a loaded machine takes seconds, and each file is one. */
const FILE_MS_MAX = 15_000

const HEAD = `import { after, before, describe, it } from 'node:test'\nimport { existsSync, writeFileSync } from 'node:fs'\n`
/** True in the first run of a file. */
const FIRST = `const mark = import.meta.filename + '.ran'\nconst isFirst = !existsSync(mark)\nwriteFileSync(mark, '')\n`
const FILES = {
  green: `it('is green', () => {})`,
  always: `it('is red', () => { throw new Error('always') })`,
  once: `${FIRST}it('is green', () => {})\nit('is red once', () => { if (isFirst) throw new Error('the reason') })`,
  said: `${FIRST}it('fails', () => { if (isFirst) { console.log('what it said'); throw new Error('the reason') } })`,
  hook: `${FIRST}describe('suite', () => { before(() => { if (isFirst) throw new Error('in a hook') })\nit('is green', () => {}) })`,
  end: `${FIRST}describe('suite', () => { after(() => { if (isFirst) throw new Error('at the end') })\nit('is green', () => {}) })`,
  crash: `${FIRST}if (isFirst) process.kill(process.pid, 'SIGKILL')\nit('is green', () => {})`,
  exit: `${FIRST}if (isFirst) process.exit(3)\nit('is green', () => {})`,
  late: `${FIRST}it('is green', () => {})\nif (isFirst) setTimeout(() => { throw new Error('late') }, 50)`,
  hang: `${FIRST}it('hangs once', async () => { if (isFirst) await new Promise((resolve) => setTimeout(resolve, 600_000)) })`,
  twice: `it('is red in the first two runs', () => { const marks = ['.a', '.b'].map((end) => import.meta.filename + end)
    const next = marks.find((path) => !existsSync(path)); if (next !== undefined) { writeFileSync(next, ''); throw new Error('twice') } })`,
} as const

interface Outcome {
  readonly code: number | null
  readonly output: string
  readonly last: string
}

function scratch(t: TestContext, files: Readonly<Record<string, string>>): string {
  const root = mkdtempSync(join(tmpdir(), 'mds-runner-'))
  t.after(() => rmSync(root, { recursive: true, force: true }))
  mkdirSync(join(root, 'dist', 'test', 'unit'), { recursive: true })
  writeFileSync(join(root, 'package.json'), '{"type":"module"}')
  for (const [name, text] of Object.entries(files)) writeFileSync(join(root, 'dist', 'test', 'unit', `${name}.test.js`), HEAD + text)
  return root
}

/** Without the variable, the runner would take itself for a file of this run. */
function start(root: string, ...flags: readonly string[]): ReturnType<typeof spawn> {
  const env = { ...process.env, NODE_TEST_CONTEXT: undefined }
  return spawn(process.execPath, [RUNNER, '--root', root, ...flags], { env, stdio: ['ignore', 'pipe', 'pipe'] })
}

async function outcome(t: TestContext, names: readonly (keyof typeof FILES)[], ...flags: readonly string[]): Promise<Outcome> {
  return await ended(start(scratch(t, Object.fromEntries(names.map((name) => [name, FILES[name]]))), ...flags))
}

async function ended(child: ReturnType<typeof spawn>): Promise<Outcome> {
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream?.setEncoding('utf8').on('data', (text: string) => (output += text))
  const [code] = (await once(child, 'close')) as [number | null]
  return { code, output, last: output.trimEnd().split('\n').at(-1) ?? '' }
}

const unstableIn = ({ output }: Outcome): readonly (string | undefined)[] =>
  [...output.matchAll(/^unstable: test\/unit\/(.*)\.test\.ts$/gm)].map(([, name]) => name)

describe('the test runner', { concurrency: 2 }, () => {
  it('reports a failure as it is, without --again', async (t) => {
    const run = await outcome(t, ['green', 'once'])
    assert.deepEqual([run.code, run.last, unstableIn(run)], [1, '2 passed, 1 failed', []])
    assert.match(run.output, /^failed: unit: is red once \(dist\/test\/unit\/once\.test\.js:\d+\)\n\s+Error: the reason/m)
  })

  it('runs faults and files named deep in the tier deep only, and by their names', async (t) => {
    const root = scratch(t, { green: FILES.green, 'slow.deep': FILES.green })
    mkdirSync(join(root, 'dist', 'test', 'fault'))
    writeFileSync(join(root, 'dist', 'test', 'fault', 'kill.test.js'), HEAD + FILES.green)
    const passedOf = async (...args: readonly string[]): Promise<string | undefined> => (await ended(start(root, ...args))).last
    assert.equal(await passedOf(), '1 passed, 0 failed')
    assert.equal(await passedOf('quick'), '1 passed, 0 failed')
    assert.equal(await passedOf('deep'), '2 passed, 0 failed')
    assert.equal(await passedOf('fault'), '1 passed, 0 failed')
  })

  it('counts a file as passed that is green twice afterwards, and lists it with what it said first', async (t) => {
    const run = await outcome(t, ['green', 'once', 'said'], '--again')
    assert.deepEqual([run.code, run.last, unstableIn(run)], [0, '4 passed, 0 failed', ['once', 'said']])
    assert.match(run.output, /^unstable: test\/unit\/said\.test\.ts\n {4}unit: fails .*\n\s+Error: the reason/m)
    assert.match(run.output, /^ {4}what it said$/m)
    assert.doesNotMatch(run.output, /^failed: /m)
  })

  it('fails where a file fails always, or once more', async (t) => {
    const run = await outcome(t, ['always', 'once', 'twice'], '--again')
    assert.deepEqual([run.code, run.last, unstableIn(run)], [1, '2 passed, 2 failed', ['once']])
    assert.match(run.output, /^failed: unit: is red \(/m)
    assert.match(run.output, /^failed: unit: is red in the first two runs \(/m)
  })

  it('sees a file that failed by a hook or by its exit code', async (t) => {
    const run = await outcome(t, ['hook', 'end', 'exit'], '--again')
    assert.deepEqual([run.code, run.last, unstableIn(run)], [0, '3 passed, 0 failed', ['end', 'exit', 'hook']])
  })

  it('sees a file that failed by a signal, after its last test, or by its time limit', async (t) => {
    const run = await outcome(t, ['crash', 'hang', 'late'], '--again', '--file-ms-max', String(FILE_MS_MAX))
    assert.deepEqual([run.code, run.last, unstableIn(run)], [0, '3 passed, 0 failed', ['crash', 'hang', 'late']])
  })

  it('takes more than three unstable files for a failure', async (t) => {
    const run = await outcome(t, ['crash', 'exit', 'green', 'hook', 'once'], '--again')
    assert.equal(run.code, 1)
    assert.match(run.last, /^\d+ passed, [1-9]\d* failed$/)
    assert.deepEqual(unstableIn(run), ['crash', 'exit', 'hook', 'once'])
    assert.match(run.output, /^4 files are unstable, more than 3$/m)
  })

  it('leaves no test file behind when it is killed', async (t) => {
    const root = scratch(t, { endless: `writeFileSync(import.meta.filename + '.pid', String(process.pid))\nsetInterval(() => {}, 1000)` })
    const path = join(root, 'dist', 'test', 'unit', 'endless.test.js.pid')
    const runner = start(root)
    await untilAsked(
      async () => await Promise.resolve(existsSync(path) && readFileSync(path, 'utf8') !== ''),
      (isThere) => isThere,
    )
    const pid = Number(readFileSync(path, 'utf8'))
    process.kill(pid, 0)
    runner.kill('SIGKILL')
    await untilAsked(
      async () => await Promise.resolve(existsSync(`/proc/${pid}`)),
      (isThere) => !isThere,
    )
  })
})
