/**
 * Malicious and random query texts: every text is answered or refused with a 400, and the time is linear in
 * its length.
 */
import assert from 'node:assert/strict'
import { performance } from 'node:perf_hooks'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { BOOLEAN, type Dialect, EXPRESSION } from '../../../src/domain/query/query_dialect.js'
import { parseQuery } from '../../../src/domain/query/query_mode.js'
import { parseTree } from '../../../src/domain/query/query_parser.js'
import type { SyntaxNode } from '../../../src/domain/query/query_tree.js'
import { ServiceError } from '../../../src/errors.js'
import { QUERY_BYTES_MAX } from '../../../src/limits/search.js'
import { holds } from '../../harness/property.js'
import { printQuery } from '../../harness/query_printer.js'

const PIECES = [
  'AND',
  'OR',
  'NOT',
  '+',
  '-',
  '(',
  ')',
  '"',
  '\\',
  '~',
  '*',
  '?',
  ' ',
  '\n',
  '\0',
  'rust',
  'wal',
  'é',
  '字',
  '😀',
  '\ud800',
  '1',
]

const queryText = fc.oneof(
  fc.string({ unit: 'binary', maxLength: QUERY_BYTES_MAX / 4 }),
  fc.array(fc.constantFrom(...PIECES), { maxLength: QUERY_BYTES_MAX / 4 }).map((pieces) => pieces.join('')),
  fc
    .tuple(fc.constantFrom(...PIECES), fc.constantFrom(...PIECES), fc.nat(QUERY_BYTES_MAX / 8))
    .map(([one, two, times]) => (one + two).repeat(times)),
)

describe('query parser, any text', () => {
  for (const mode of ['simple', 'boolean', 'phrase', 'wildcard', 'proximity', 'expression']) {
    it(`mode ${mode} answers with a tree or a 400`, () => {
      holds(
        fc.property(queryText, (text) => {
          try {
            assert.equal(parseQuery(text, mode).mode, mode)
          } catch (error) {
            assert.ok(error instanceof ServiceError && error.isInvalidInput, String(error))
          }
        }),
        { numRuns: 500 },
      )
    })
  }

  it('mode auto refuses nothing', () => {
    holds(
      fc.property(queryText, (text) => {
        assert.ok(['simple', 'boolean', 'phrase', 'wildcard', 'proximity'].includes(parseQuery(text, 'auto').mode))
      }),
      { numRuns: 500 },
    )
  })

  it('takes time in proportion to the length of the text', () => {
    // A text 16 times as long may take 16 times as long; a quadratic scan would take 256 times. The best of
    // several runs counts, repeated if the machine was busy.
    for (const piece of ['(', '"', '-', '+-', '\\"', '"a"', 'a ', 'NOT ', '"a"~', 'a"', '*?', '( ) ']) {
      const [short, long] = [piece.repeat(2000 / piece.length), piece.repeat(32_000 / piece.length)]
      fastestMs(short)
      let ratio = Infinity
      for (let attempt = 0; attempt < 8 && ratio >= 80; attempt++) ratio = fastestMs(long) / Math.max(fastestMs(short), 0.01)
      assert.ok(ratio < 80, `${JSON.stringify(piece)}: 16 times the text took ${ratio.toFixed(0)} times as long`)
    }
  })
})

function fastestMs(text: string): number {
  let fastest = Infinity
  for (let round = 0; round < 7; round++) {
    const started = performance.now()
    for (const mode of ['auto', 'boolean', 'phrase']) {
      try {
        parseQuery(text, mode)
      } catch (error) {
        assert.ok(error instanceof ServiceError)
      }
    }
    fastest = Math.min(fastest, performance.now() - started)
  }
  return fastest
}

/** Words without a special meaning. */
const word = fc.constantFrom('rust', 'wal', 'C++', 'foo-bar', 'é', '字', 'a::b', 'it`s', '1.5')

const record = <Fields extends object>(fields: { [Name in keyof Fields]: fc.Arbitrary<Fields[Name]> }) =>
  fc.record(fields, { noNullPrototype: true })

/**
 * Trees as the parser makes them: no operator with one child, no double negation, marks only in dialects that
 * have them.
 */
function trees(dialect: Dialect): fc.Arbitrary<SyntaxNode> {
  return fc.letrec<{ tree: SyntaxNode; positive: SyntaxNode }>((tie) => {
    const leaf: fc.Arbitrary<SyntaxNode> = fc.oneof(
      word.map((text): SyntaxNode => ({ kind: 'word', text })),
      fc.string({ unit: 'grapheme', maxLength: 12 }).map((text): SyntaxNode => ({ kind: 'phrase', text })),
      record({ kind: fc.constant('near' as const), text: fc.string({ maxLength: 12 }), distance: fc.integer({ min: 1, max: 100_000 }) }),
      record({ kind: fc.constant('fuzzy' as const), text: word, edits: fc.nat(2) }),
      fc.constantFrom('conf*', '*', 't?st', '*-?').map((text): SyntaxNode => ({ kind: 'pattern', text })),
    )
    const several = fc.array(tie('tree'), { minLength: 2, maxLength: 4 })
    const plain = fc.array(tie('positive'), { maxLength: 3 })
    const inner: fc.Arbitrary<SyntaxNode>[] = [
      record({ kind: fc.constantFrom('and' as const, 'or' as const), children: several }),
      ...(dialect.fields
        ? [
            record({
              kind: fc.constant('field' as const),
              name: fc.constantFrom('title', 'meta.tags'),
              child: tie('positive').filter(({ kind }) => kind !== 'field'),
            }),
          ]
        : []),
      ...(dialect.marks
        ? [
            record({ kind: fc.constant('marked' as const), required: plain, optional: plain, excluded: plain }).filter(
              ({ required, excluded }) => required.length + excluded.length > 0,
            ),
          ]
        : []),
    ]
    return {
      positive: fc.oneof({ depthSize: 'small', withCrossShrink: true }, leaf, ...inner),
      tree: fc.oneof(
        { weight: 5, arbitrary: tie('positive') },
        { weight: 1, arbitrary: tie('positive').map((child): SyntaxNode => ({ kind: 'not', child })) },
      ),
    }
  }).tree
}

describe('query printer', () => {
  for (const [name, dialect] of Object.entries({ BOOLEAN, EXPRESSION })) {
    it(`${name}: a printed tree parses to the same tree`, () => {
      holds(
        fc.property(trees(dialect), (tree) => {
          assert.deepEqual(parseTree(printQuery(tree), dialect), tree)
        }),
        { numRuns: 1000 },
      )
    })
  }
})

it('marks that cancel each other leave the words beside them optional, also once printed', () => {
  for (const text of ['a -NOT b', '"" (((x)"")-NOT"") ""', '--x y', 'NOT -x y']) {
    const tree = parseTree(text, BOOLEAN)
    assert.deepEqual(parseTree(printQuery(tree), BOOLEAN), tree, text)
  }
  assert.deepEqual(parseTree('a -NOT b', BOOLEAN), parseTree('a --b', BOOLEAN))
})
