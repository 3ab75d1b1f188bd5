/**
 * Diffs: applied by a strict reader of the unified format they turn one text into the other. Diffs marked as
 * minimal are as short as the longest common subsequence permits. Adversarial texts take a bounded time.
 */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import fc from 'fast-check'
import { DIFF_EDITS_MAX } from '../../../src/domain/diff/line_diff.js'
import { metadataDiff } from '../../../src/domain/diff/metadata_diff.js'
import { type UnifiedDiff, writeUnifiedDiff } from '../../../src/domain/diff/unified_diff.js'
import { escapeContent, unescapeContent } from '../../../src/store/body.js'
import { ByteWriter } from '../../../src/store/rows/byte_writer.js'
import { holds } from '../../harness/property.js'

function unifiedDiff(
  from: string,
  a: string,
  to: string,
  b: string,
  poll: () => void = () => undefined,
): UnifiedDiff & { readonly text: string } {
  const out = new ByteWriter().begin()
  const counts = writeUnifiedDiff(out, from, escapeContent(a), to, escapeContent(b), poll)
  return { ...counts, text: unescapeContent(out.view()) }
}

/** Applies a diff and checks every line of the format: counts, positions, context. */
function carryOut(a: string, diff: string): string {
  if (diff === '') return a
  const old = a.match(/[^\n]*\n|[^\n]+$/g) ?? []
  const lines = diff.split('\n')
  assert.equal(lines.pop(), '', 'a diff ends with a line end')
  assert.deepEqual(lines.slice(0, 2), ['--- old', '+++ new'])
  const made: string[] = []
  let at = 0
  for (let line = 2; line < lines.length;) {
    const hunk = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@$/.exec(lines[line++] ?? '')
    assert.ok(hunk, `a hunk is expected: ${lines[line - 1]}`)
    const [oldCount, newCount] = [Number(hunk[2] ?? 1), Number(hunk[4] ?? 1)]
    const oldBegin = Number(hunk[1]) - (oldCount === 0 ? 0 : 1)
    assert.ok(oldBegin >= at)
    while (at < oldBegin) made.push(old[at++] as string)
    assert.equal(made.length, Number(hunk[3]) - (newCount === 0 ? 0 : 1))
    const [oldEnd, newEnd] = [at + oldCount, made.length + newCount]
    while (line < lines.length && !lines[line]?.startsWith('@@')) {
      const [mark, text] = [lines[line]?.[0], lines[line]?.slice(1)]
      line++
      const hasEnd = lines[line] !== '\\ No newline at end of file'
      if (!hasEnd) line++
      const whole = hasEnd ? `${text}\n` : `${text}`
      if (mark !== '+') assert.equal(old[at++], whole)
      if (mark !== '-') made.push(whole)
      assert.ok(mark === ' ' || mark === '+' || mark === '-')
    }
    assert.deepEqual([at, made.length], [oldEnd, newEnd])
  }
  return [...made, ...old.slice(at)].join('')
}

function commonLines(a: readonly string[], b: readonly string[]): number {
  let row = new Array<number>(b.length + 1).fill(0)
  for (const one of a) {
    const next = [0]
    b.forEach((other, j) => next.push(one === other ? (row[j] as number) + 1 : Math.max(row[j + 1] as number, next[j] as number)))
    row = next
  }
  return row[b.length] as number
}

const line = fc.constantFrom('', 'a', 'b', 'c', '-x', '+x', ' x', '@@ -1 +1 @@', '\\ No', 'ä\r')
const text = fc.tuple(fc.array(line, { maxLength: 25 }), fc.constantFrom('', '\n')).map(([lines, end]) => lines.join('\n') + end)

test('a diff carried out gives the other text, and the shortest is as short as can be', () => {
  holds(
    fc.property(text, text, (a, b) => {
      const diff = unifiedDiff('old', a, 'new', b)
      assert.equal(carryOut(a, diff.text), b)
      assert.equal(diff.text === '', a === b)
      const [aLines, bLines] = [a, b].map((whole) => whole.match(/[^\n]*\n|[^\n]+$/g) ?? []) as unknown as [string[], string[]]
      assert.ok(diff.isMinimal)
      const common = commonLines(aLines, bLines)
      assert.deepEqual([diff.removed, diff.added], [aLines.length - common, bLines.length - common])
    }),
    { numRuns: 3000 },
  )
})

/**
 * Seconds of processor time, and the maximum growth of the used old heap in bytes at the polls of the
 * deadline.
 */
function costOf(run: (poll: () => void) => void): { readonly seconds: number; readonly heapBytes: number } {
  const before = process.memoryUsage().heapUsed
  let heapBytes = 0
  let polls = 0
  const begin = process.cpuUsage()
  run(() => {
    if (polls++ % 16 === 0) heapBytes = Math.max(heapBytes, process.memoryUsage().heapUsed - before)
  })
  const { user, system } = process.cpuUsage(begin)
  return { seconds: (user + system) / 1e6, heapBytes }
}

test('texts in which many lines differ: the diff is right, and the shortest up to the bound on lines that differ', () => {
  const numbers = fc.integer({ min: 1, max: 1e9 }).map((seed) => {
    let state = seed
    return (below: number): number => {
      state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0
      return Math.floor((state / 2 ** 32) * below)
    }
  })
  fc.assert(
    fc.property(numbers, fc.constantFrom(3, 50, 100_000), (next, kinds) => {
      const lines = (count: number): string[] => Array.from({ length: count }, () => `line ${next(kinds)}`)
      const a = lines(3 * DIFF_EDITS_MAX)
      const b = a.flatMap((one) => (next(4) === 0 ? [] : next(4) === 0 ? [`new ${next(1e6)}`, one] : [one]))
      const [one, two] = [`${a.join('\n')}\n`, b.join('\n')]
      const diff = unifiedDiff('old', one, 'new', two)
      assert.equal(carryOut(one, diff.text), two)
    }),
    { numRuns: 15 },
  )
  const a = Array.from({ length: 3 * DIFF_EDITS_MAX }, (_, at) => `line ${at}`)
  const replaced = (every: number): string => a.map((one, at) => (at % every === 0 ? 'new' : one)).join('\n')
  // A replaced line counts as two differing lines.
  const few = unifiedDiff('old', a.join('\n'), 'new', replaced(7))
  assert.deepEqual([few.isMinimal, few.added], [true, Math.ceil(a.length / 7)])
  const many = unifiedDiff('old', a.join('\n'), 'new', replaced(2))
  assert.equal(many.isMinimal, false)
  assert.ok(many.added >= a.length - 2, 'all is replaced between the first change and the last')
  assert.equal(carryOut(a.join('\n'), many.text), replaced(2))
})

test('beyond 8 MiB or 262 144 lines between the changes all counts as replaced, up to them the diff is minimal', () => {
  // Few lines differ, but the first and the last do: all lines in between are compared.
  const isMinimal = (lines: number, line: string): boolean => {
    const same = `${line}\n`.repeat(lines - 2)
    const diff = unifiedDiff('old', `a\n${same}a`, 'new', `b\n${same}b`)
    assert.equal(diff.added, diff.isMinimal ? 2 : lines)
    return diff.isMinimal
  }
  assert.deepEqual([isMinimal(131_072, 'x'), isMinimal(131_073, 'x')], [true, false])
  // A line end is escaped, so a line of 1 022 bytes takes 1 024.
  assert.deepEqual([isMinimal(4096, 'x'.repeat(1022)), isMinimal(4100, 'x'.repeat(1022))], [true, false])
})

test('texts made to be hard take a bounded time, and heap that does not grow with them', () => {
  const repeated = (lines: readonly string[], count: number): string =>
    Array.from({ length: count }, (_, at) => lines[at % lines.length]).join('\n')
  const cases: readonly (readonly [string, string])[] = [
    // Nothing in common; the same lines in other orders; unique lines, reversed; one line repeated.
    [repeated(['a'], 500_000), repeated(['b'], 500_000)],
    [repeated(['a', 'b', 'b'], 60_000), repeated(['b', 'a', 'a', 'a'], 60_000)],
    [Array.from({ length: 100_000 }, (_, at) => at).join('\n'), Array.from({ length: 100_000 }, (_, at) => 100_000 - at).join('\n')],
    [repeated([''], 4_000_000), repeated(['', 'x'], 3_000_000)],
    [repeated(['a'], 8_000_000), repeated(['b'], 8_000_000)],
    ['x'.repeat(16_000_000), 'y'.repeat(16_000_000)],
    ['\\'.repeat(1_000_000), `${'\\'.repeat(999_998)}\n`],
  ]
  for (const [a, b] of cases) {
    const [one, two] = [escapeContent(a), escapeContent(b)]
    const out = new ByteWriter().begin()
    const { seconds, heapBytes } = costOf((poll) => writeUnifiedDiff(out, 'old', one, 'new', two, poll))
    assert.ok(seconds < 4, `${seconds} s`)
    assert.ok(heapBytes < 150e6, `${heapBytes} B`)
    if (a.length < 8_000_000) assert.equal(carryOut(a, unescapeContent(out.view())), b)
  }
})

test('the deadline ends a diff wherever it is', () => {
  const a = `${Array.from({ length: 60_000 }, (_, at) => `a${at % 7}`).join('\n')}\n`
  // Far from the time limit of the search, so that every run polls as often.
  const b = `${Array.from({ length: 60_000 }, (_, at) => (at % 200 === 9 ? `b${at}` : `a${at % 7}`)).join('\n')}\n`
  let polls = 0
  unifiedDiff('old', a, 'new', b, () => polls++)
  assert.ok(polls > 20, `${polls}`)
  for (let last = 1; last < polls; last += Math.ceil(polls / 20)) {
    let at = 0
    const stop = (): void => {
      if (++at === last) throw new Error('deadline')
    }
    assert.throws(() => unifiedDiff('old', a, 'new', b, stop), /deadline/)
    assert.equal(at, last)
  }
})

const folder = mkdtempSync(join(tmpdir(), 'mds-diff-'))
after(() => rmSync(folder, { recursive: true }))

test('git apply takes a diff as it is', (context) => {
  if (spawnSync('git', ['--version']).status !== 0) {
    context.skip('git is not here: the format is checked by our own reader only')
    return
  }
  holds(
    fc.property(text, text, (a, b) => {
      fc.pre(a !== b && a !== '' && b !== '')
      writeFileSync(join(folder, 'file'), a)
      const patch = unifiedDiff('a/file', a, 'b/file', b).text
      const { status, stderr } = spawnSync('git', ['apply', '--whitespace=nowarn', '-'], { cwd: folder, input: patch, encoding: 'utf8' })
      assert.equal(status, 0, stderr)
      assert.equal(readFileSync(join(folder, 'file'), 'utf8'), b)
    }),
    { numRuns: 40 },
  )
})

test('metadata: applying the added, removed and changed values to the old metadata gives the new', () => {
  const meta = fc.dictionary(fc.constantFrom('a', 'b', 'toString', 'constructor'), fc.array(fc.constantFrom('1', '2'), { maxLength: 2 }))
  holds(
    fc.property(meta, meta, (from, to) => {
      const { added, removed, changed } = metadataDiff(from, to)
      const kept = Object.entries(from).filter(([key]) => !Object.hasOwn(removed, key))
      const made = [
        ...kept.map(([key, values]) => [key, Object.hasOwn(changed, key) ? changed[key]?.to : values]),
        ...Object.entries(added),
      ]
      assert.deepEqual(new Map(made as [string, unknown][]), new Map([...made.map(([key]) => [key as string, to[key as string]] as const)]))
      assert.deepEqual(made.map(([key]) => key).sort(), Object.keys(to).sort())
      for (const [key, change] of Object.entries(changed)) assert.deepEqual([change.from, from[key]], [from[key], change.from])
    }),
  )
})
