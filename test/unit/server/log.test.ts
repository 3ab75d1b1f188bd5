/** Lines of the log: their permitted contents and their form. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { describe, it } from 'node:test'
import type { LogFields } from '../../../src/telemetry/log.js'
import { LOG_TEXT_CHARS_MAX, textLine } from '../../../src/telemetry/log.js'
import { spawn } from '../../harness/process/owned_processes.js'

/** Many times the capacity of a pipe and its reader. */
const LINES = 10_000
// Ends a logger that waits for each line, so that the test fails soon.
const LOGGING_MS_MAX = 5_000

const line = (message: string, fields: LogFields = {}): string =>
  textLine('warn', message, fields).slice('2026-01-01T00:00:00.000Z '.length)

describe('lines of the log', () => {
  it('log: message, fields, and the reason last', () => {
    assert.equal(
      line('not moved', { collection: 'c d', bytes: 7, reason: new Error('no') }),
      'warn not moved collection="c d" bytes=7: no\n',
    )
    assert.equal(line('x', { job: '', path: 'a=b', status: true }), 'warn x job="" path="a=b" status=true\n')
    assert.equal(line('x', { reason: new Error('outer', { cause: new Error('inner') }) }), 'warn x: outer: inner\n')
  })

  it('log: nothing ends a line but its end, and nothing reaches a terminal', () => {
    const controls = Array.from({ length: 0x3000 }, (_, code) => String.fromCharCode(code)).filter((c) =>
      /[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_C}]/u.test(c),
    )
    for (const control of controls) {
      for (const text of [line(`a${control}b`), line('m', { collection: `a${control}b` }), line('m', { reason: `a${control}b` })]) {
        assert.equal(text.indexOf('\n'), text.length - 1)
        assert.ok(!text.slice(0, -1).includes(control), JSON.stringify(text))
      }
    }
    assert.ok(controls.length > 70)
  })

  it('log: a text that could not be parsed is not quoted, addresses and headers lose their credentials', () => {
    const broken = ['secret', '{"a": secret}', `{"contentMd":"secret" "x"}`, `${' '.repeat(300)}secret"${' '.repeat(300)}`, '"secret']
    for (const text of broken) {
      const reason = (() => {
        try {
          return JSON.parse(text) as unknown
        } catch (error) {
          return error
        }
      })()
      assert.doesNotMatch(line('m', { reason }), /secret/)
      assert.doesNotMatch(line('m', { fault: reason }), /secret/)
    }
    assert.equal(line('m', { reason: 'GET https://user:secret@host/x failed' }), 'warn m: GET https://***@host/x failed\n')
    assert.equal(line('m', { reason: 'GET https://user:sec@ret@host/x failed' }), 'warn m: GET https://***@host/x failed\n')
    assert.equal(line('m', { reason: 'authorization: Bearer se-cr.et==' }), 'warn m: authorization: Bearer ***\n')
  })

  it('log: while the output is not read, lines are dropped without a wait for each, and their number is logged afterwards', async () => {
    const program = `
      import { log } from ${JSON.stringify(new URL('../../../src/telemetry/log.js', import.meta.url).href)}
      process.stdout
      const begun = performance.now()
      for (let line = 0; line < ${LINES} && performance.now() - begun < ${LOGGING_MS_MAX}; line++) log.info('line', { bytes: line })
      process.stderr.write(String(performance.now() - begun))
      process.stdin.once('data', () => log.info('read again'))`
    const child = spawn(process.execPath, ['--input-type=module', '-e', program], { stdio: 'pipe' })
    const [ms] = (await once(child.stderr, 'data')) as [Buffer]
    const output = text(child.stdout)
    // Makes space for the next line.
    child.stdout.once('data', () => child.stdin.end('now'))
    const lines = (await output).trimEnd().split('\n')
    const lost = Number(/warn (\d+) lines were lost/.exec(lines.at(-2) ?? '')?.[1])
    assert.equal(lines.length - 2 + lost, LINES)
    assert.match(lines.at(-1) ?? '', /info read again$/)
    assert.ok(lost > 100, `${lost} lines lost`)
    // A wait for each would be 50 ms times the number of lines.
    assert.ok(Number(ms) < lost * 5, `${String(ms)} ms for ${lost} lines`)
  })

  it('log: texts are bounded, and a fault shows where it was thrown', () => {
    assert.ok(line('m', { reason: 'x'.repeat(10_000_000) }).length < LOG_TEXT_CHARS_MAX + 100)
    assert.match(line('m', { fault: new Error('broken') }), /^warn m stack="at .*log\.test.*: broken\n$/)
  })
})
