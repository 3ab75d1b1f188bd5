/** The time of the chunker on hostile texts: the largest document of one mark, for each known mark. */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { createChunker } from '../../../src/engine/text/chunker.js'
import { DOCUMENT_BYTES_MAX } from '../../../src/limits/documents.js'

const chunker = createChunker()

it('chunks: the largest document of one mark takes a few seconds at most, whatever the mark', () => {
  const whole = ['{', '[{]}', '"', '\n', 'x', '. ', '- a\n']
  const quarter = [
    '(',
    '}',
    "'",
    '`',
    '/',
    '/*',
    '//',
    '<!--',
    '#',
    '\\',
    'a=/[',
    ' ',
    '\u00a0',
    '中',
    '。',
    '.',
    '! ',
    '# a\n',
    '|a|\n',
  ].concat(['```\n', '> \n', 'a |\n|-|\n', 'a{\n', 'f(a){b}', ';', "'''", ' # ', '---\n', '\ta\n\n'])
  const sizes = [
    ...whole.map((mark) => [mark, DOCUMENT_BYTES_MAX] as const),
    ...quarter.map((mark) => [mark, DOCUMENT_BYTES_MAX / 4] as const),
  ]
  for (const [mark, bytes] of sizes) {
    const text = Buffer.from(mark.repeat(bytes / Buffer.byteLength(mark)))
    for (const mode of ['prose', 'code'] as const) {
      const begin = process.cpuUsage()
      chunker.chunk(text, mode, 1500, 0)
      const { user, system } = process.cpuUsage(begin)
      // Linear work takes a tenth of this; quadratic work would take hours.
      assert.ok(user + system < 8e6, `${mode} ${JSON.stringify(mark)}: ${(user + system) / 1e6} s`)
    }
  }
})
