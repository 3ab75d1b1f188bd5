/**
 * Template variables: the result equals that of a simple reference implementation for any names, values and
 * texts. The deadline and the limit on answers end the work before anything is built.
 */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import fc from 'fast-check'
import { Template } from '../../../src/domain/documents/template.js'
import { ServiceError } from '../../../src/errors.js'
import { ANSWER_BYTES_MAX } from '../../../src/limits/documents.js'
import { escapeContent, unescapeContent } from '../../../src/store/body.js'
import { ByteWriter } from '../../../src/store/rows/byte_writer.js'
import { holds } from '../../harness/property.js'

const NEVER = (): void => undefined

function filled(content: string, env: readonly (readonly [string, string])[]): string {
  const out = new ByteWriter().begin()
  new Template(env).fill(escapeContent(content), out, NEVER)
  return unescapeContent(out.view())
}

/** Reads from front to end; of the variables that end first the longest applies. */
function expected(content: string, env: ReadonlyMap<string, string>): string {
  let made = ''
  let begin = 0
  for (let end = 0; end <= content.length; end++) {
    const text = content.slice(begin, end)
    const ending = [...env].filter(([name]) => name !== '' && text.endsWith(`%%${name}%%`))
    const [longest] = ending.sort(([one], [other]) => other.length - one.length)
    if (longest === undefined) continue
    made += text.slice(0, text.length - longest[0].length - 4) + longest[1]
    begin = end
  }
  return made + content.slice(begin)
}

const piece = fc.constantFrom(
  '%',
  '%%',
  '%%%',
  'a',
  'b',
  '%%a%%',
  '%%b%%',
  '\n',
  '"',
  '\\',
  '\\n',
  'ä',
  '🙂',
  '\u0000',
  '\ud83d',
  'x'.repeat(200),
)
const name = fc.array(piece, { maxLength: 4 }).map((pieces) => pieces.join(''))
const content = fc
  .array(
    fc.oneof(
      piece,
      name.map((one) => `%%${one}%%`),
    ),
    { maxLength: 12 },
  )
  .map((pieces) => pieces.join(''))

it('every variable is replaced, as a slow reading of the rule replaces it', () => {
  holds(
    fc.property(content, fc.dictionary(name, name, { maxKeys: 5 }), fc.boolean(), (text, env, isUsed) => {
      const names = Object.keys(env)
      const whole = isUsed ? text + names.map((one) => `%%${one}%%%`).join('') : text
      // Text escaped in parts and text escaped as a whole differ only in the form of lone surrogates.
      assert.equal(filled(whole, Object.entries(env)), expected(whole, new Map(Object.entries(env))))
    }),
    { numRuns: 5_000 },
  )
})

it('names and texts made to be hard take a bounded time', () => {
  const long = '%'.repeat(4_000)
  const env = Array.from({ length: 250 }, (_, at) => [`${long}${String.fromCharCode(97 + (at % 26))}${at}`, 'x'] as const)
  const begin = process.cpuUsage()
  assert.equal(filled('%'.repeat(4_000_000), env), '%'.repeat(4_000_000))
  const { user, system } = process.cpuUsage(begin)
  assert.ok(user + system < 6e6, `${(user + system) / 1e6} s`)
})

it('an answer above the bound is refused before any of it is built', () => {
  const out = new ByteWriter().begin()
  const content = escapeContent('%%a%%'.repeat(100_000))
  const before = process.memoryUsage().arrayBuffers
  const fill = (valueBytes: number): void => new Template([['a', 'v'.repeat(valueBytes)]]).fill(content, out, NEVER)
  assert.throws(
    () => fill(Math.ceil(ANSWER_BYTES_MAX / 100_000)),
    (error) =>
      error instanceof ServiceError && error.isInvalidInput && /^answer too large: \d+ bytes with what env puts in$/.test(error.message),
  )
  assert.equal(out.length, 0)
  assert.ok(process.memoryUsage().arrayBuffers - before < 4e6)
  fill(100)
  assert.equal(out.length, 100 * 100_000)
})

it('the deadline ends it', () => {
  const stop = (): void => {
    throw new Error('deadline')
  }
  assert.throws(() => new Template([['a', 'b']]).fill(escapeContent('%%a%%'.repeat(100_000)), new ByteWriter().begin(), stop), /deadline/)
})
