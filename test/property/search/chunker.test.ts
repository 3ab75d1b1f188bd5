/** Laws of the chunker over generated texts. fast-check prints the seed and shrinks failures. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { createChunker } from '../../../src/engine/text/chunker.js'
import { holds } from '../../harness/property.js'

const chunker = createChunker()

const piece = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.constantFrom(
      'word ',
      'A sentence. ',
      'Another! ',
      'Wörter ',
      '今日は。',
      '😀',
      '\n',
      '\n\n',
      '\r\n',
      ' ',
      '\u3000',
      '\t',
    ),
  },
  {
    weight: 4,
    arbitrary: fc.constantFrom(
      '# Head\n',
      '\n\n## Sub\n\n',
      '- item\n',
      '  - inner\n',
      '| a | b |\n|---|---|\n',
      '```\n',
      '> quote\n',
      'T\n===\n',
      '---\n',
    ),
  },
  { weight: 4, arbitrary: fc.constantFrom('{', '}', '(', ')', '[', ']', ';', ',', '"', "'", '`', '//', '/*', '*/', '#', '=', '/', '\\') },
  { weight: 1, arbitrary: fc.string({ unit: 'binary', maxLength: 20 }) },
  {
    weight: 1,
    arbitrary: fc.tuple(fc.constantFrom('x', 'é', ' ', '中', 'f(a){b}\n', '\n'), fc.nat(400)).map(([unit, count]) => unit.repeat(count)),
  },
)
const text = fc.array(piece, { maxLength: 80 }).map((pieces) => pieces.join('').toWellFormed())
const budget = fc.constantFrom(1, 5, 30, 120, 1500)

/** The chunks as text, after checks of the invariants of every chunk. */
function chunksOf(source: string, mode: 'prose' | 'code', size: number, overlap = 0): string[] {
  const bytes = Buffer.from(source)
  const ranges = chunker.chunk(bytes, mode, size, overlap)
  const chunks: string[] = []
  let end = 0
  for (let index = 0; index < ranges.length; index += 2) {
    const [first = 0, last = 0] = ranges.subarray(index, index + 2)
    assert.ok(first < last && last > end && last <= bytes.length)
    assert.ok(overlap > 0 || first >= end)
    assert.equal(
      bytes
        .toString('utf8', Math.min(first, end), first)
        .slice(0, Math.max(0, first - end))
        .trim(),
      '',
    )
    const chunk = bytes.toString('utf8', first, last)
    assert.equal(Buffer.byteLength(chunk), last - first, 'whole characters')
    assert.match(chunk, /^\P{White_Space}(?:[^]*\P{White_Space})?$/u)
    chunks.push(chunk)
    end = last
  }
  assert.match(bytes.toString('utf8', end), /^\p{White_Space}*$/u)
  return chunks
}

const characters = (chunk: string): number => [...chunk].length
const withoutSpace = (chunk: string): string => chunk.replace(/\p{White_Space}/gu, '')

describe('chunks', () => {
  it('chunks: together they are the text but for white space, the same each time', () => {
    holds(
      fc.property(text, fc.constantFrom('prose', 'code'), budget, (source, mode, size) => {
        const chunks = chunksOf(source, mode, size)
        assert.equal(withoutSpace(chunks.join('')), withoutSpace(source))
        assert.deepEqual(chunksOf(source, mode, size), chunks)
      }),
      { numRuns: 500 },
    )
  })

  it('chunks: of prose none is over the budget, with overlaps and without', () => {
    holds(
      fc.property(text, budget, fc.constantFrom(0, 0, 20, 2000), (source, size, overlap) => {
        for (const chunk of chunksOf(source, 'prose', size, overlap)) assert.ok(characters(chunk) <= size, chunk)
      }),
      { numRuns: 500 },
    )
  })

  it('chunks: an overlap is the end of the chunk before', () => {
    const sentences = fc
      .array(fc.stringMatching(/^[A-Z][a-z ]{1,20}[a-z][.!?]$/), { minLength: 1, maxLength: 60 })
      .map((all) => all.join(' '))
    holds(
      fc.property(sentences, (source) => {
        const chunks = chunksOf(source, 'prose', 120, 50)
        let end = 0
        for (const [index, chunk] of chunks.entries()) {
          const begin = source.indexOf(chunk, index === 0 ? 0 : end - 50)
          assert.ok(begin >= 0 && begin <= end + 1)
          assert.match(chunk, /^[A-Z]/)
          end = begin + chunk.length
        }
        assert.equal(end, source.length)
      }),
    )
  })

  it('chunks: a chunk of code ends where brackets balance, and exceeds the budget only for text that they enclose', () => {
    const name = fc.stringMatching(/^[a-z]{1,8}$/)
    const string = fc.stringMatching(/^[a-z{}() [\]]{0,12}$/).map((inner) => `"${inner}"`)
    const { statement } = fc.letrec<{ statement: string; body: string }>((tie) => ({
      body: fc.array(tie('statement'), { maxLength: 4 }).map((all) => all.map((one) => `  ${one}\n`).join('')),
      statement: fc.oneof(
        { depthSize: 'small' },
        fc.tuple(name, string).map(([left, right]) => `${left} = ${right};`),
        name.map((comment) => `// ${comment} } ( {`),
        fc.tuple(name, tie('body')).map(([called, body]) => `function ${called}(a, b) {\n${body}}`),
        fc.tuple(name, tie('body')).map(([called, body]) => `${called}([\n${body}]);`),
      ),
    }))
    const program = fc.array(fc.tuple(statement, fc.constantFrom('\n', '\n\n')), { maxLength: 30 }).map((all) => all.flat().join(''))
    holds(
      fc.property(program, fc.constantFrom(60, 200), (source, size) => {
        for (const chunk of chunksOf(source, 'code', size)) {
          const structure = chunk.replace(/"[^"\n]*"|\/\/.*/g, '')
          let depth = 0
          let lowest = 0
          for (const mark of structure) {
            depth += '([{'.includes(mark) ? 1 : ')]}'.includes(mark) ? -1 : 0
            lowest = Math.min(lowest, depth)
          }
          assert.deepEqual([depth, lowest], [0, 0], chunk)
          // A chunk over the budget is one construct: its brackets balance at no earlier end of a line.
          if (characters(chunk) > size) assert.match(structure, /[([{]/)
        }
      }),
      { numRuns: 300 },
    )
  })
})
