/**
 * Query languages: the detected mode of a text, the tree of a boolean query, and the error position of a
 * malformed one. Rules: docs/decisions/search/query-syntax.md.
 */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { BOOLEAN, EXPRESSION } from '../../../src/domain/query/query_dialect.js'
import { parseQuery } from '../../../src/domain/query/query_mode.js'
import { parseTree } from '../../../src/domain/query/query_parser.js'
import type { SyntaxNode } from '../../../src/domain/query/query_tree.js'
import { ServiceError } from '../../../src/errors.js'

/** A tree as one line: plain words, phrases in quotes, operators in prefix form. */
function print(node: SyntaxNode): string {
  switch (node.kind) {
    case 'word':
      return node.text
    case 'fuzzy':
      return `${node.text}~${node.edits}`
    case 'pattern':
      return `/${node.text}/`
    case 'near':
      return `"${node.text}"~${node.distance}`
    case 'field':
      return `${node.name}:${print(node.child)}`
    case 'phrase':
      return `"${node.text}"`
    case 'not':
      return `not(${print(node.child)})`
    case 'and':
    case 'or':
      return `${node.kind}(${node.children.map(print).join(' ')})`
    case 'marked': {
      const parts = [
        node.required.map((child) => `+${print(child)}`),
        node.optional.map(print),
        node.excluded.map((child) => `-${print(child)}`),
      ]
      return `[${parts.flat().join(' ')}]`
    }
  }
}

function refusal(run: () => unknown): string {
  try {
    run()
  } catch (error) {
    assert.ok(error instanceof ServiceError, String(error))
    assert.equal(error.isInvalidInput, true)
    return error.message
  }
  return assert.fail('was accepted')
}

const TREES: readonly (readonly [query: string, tree: string])[] = [
  ['rust', 'rust'],
  ['rust AND wal', 'and(rust wal)'],
  ['rust OR wal', 'or(rust wal)'],
  ['rust NOT wal', 'and(rust not(wal))'],
  ['rust AND NOT wal', 'and(rust not(wal))'],
  ['a b OR c', 'or(and(a b) c)'],
  ['a AND b OR c AND d', 'or(and(a b) and(c d))'],
  ['a AND (b OR c)', 'and(a or(b c))'],
  ['((a))', 'a'],
  ['NOT NOT a', 'a'],
  ['NOT -a', '[a]'],
  ['--a', '[a]'],
  ['+a -b c', '[+a c -b]'],
  ['a -b', '[a -b]'],
  ['a NOT b -c', '[a -b -c]'],
  ['+a b AND c', 'and([+a b] c)'],
  ['+(a b) -"c d"', '[+and(a b) -"c d"]'],
  ['-(a OR b) c', '[c -or(a b)]'],
  ['NOT +a', '[-a]'],
  ['"a b" c', 'and("a b" c)'],
  ['a"b c"d', 'and(a "b c" d)'],
  [String.raw`"say \"hi\" \\ there" x`, String.raw`and("say "hi" \ there" x)`],
  [String.raw`"a\b"`, String.raw`"a\b"`],
  ['a and not b or c', 'or(and(a not(b)) c)'],
  ['ANDROID ORB NOTE', 'and(ANDROID ORB NOTE)'],
  ['foo-bar C++ a - b -> c', 'and(foo-bar C++ a - b -> c)'],
  ['foo(bar)', 'and(foo bar)'],
  ['a\u3000AND\nb', 'and(a b)'],
  ['""', '""'],
  ['"a b"~3 c', 'and("a b"~3 c)'],
  ['"a b"~', '"a b"~5'],
  ['"a b"~99999999999', '"a b"~100000'],
  ['rust~1 wall~ go~9', 'and(rust~1 wall~2 go~2)'],
  ['~/bin a~b ~2', 'and(~/bin a~b ~2)'],
  ['conf* OR te?t', 'or(/conf*/ /te?t/)'],
  ['-*foo bar', '[bar -/*foo/]'],
  ['title:rust', 'title:rust'],
]

/** Queries that the expression dialect parses differently. */
const EXPRESSIONS: readonly (readonly [query: string, tree: string])[] = [
  ['+a -b c', 'and(a not(b) c)'],
  ['--a', 'a'],
  ['- a', 'and(- a)'],
  ['a or b and not c', 'or(a and(b not(c)))'],
  ['title:rust', 'title:rust'],
  ['title:"a b" meta.tags:x', 'and(title:"a b" meta.tags:x)'],
  ['title:(a OR b~1) c*', 'and(title:or(a b~1) /c*/)'],
  ['NOT title:a b', 'and(not(title:a) b)'],
  ['title:content:a', 'content:a'],
  ['http://x std::y 12:30 a: b', 'and(http://x std::y 12:30 a: b)'],
  ['title:-a', 'title:-a'],
]

const REFUSALS: readonly (readonly [query: string, text: string])[] = [
  ['', 'empty query expression'],
  ['   ', 'empty query expression'],
  ['a "b', 'unclosed quote at character 3'],
  ['😀 "b', 'unclosed quote at character 3'],
  [String.raw`"a\"`, 'unclosed quote at character 1'],
  ['(a', `expected ')' at character 3`],
  ['(a OR (b)', `expected ')' at character 10`],
  ['a)', `unexpected token ')' at character 2`],
  ['()', `unexpected token ')' at character 2`],
  ['a AND', 'unexpected token end of query at character 6'],
  ['AND a', "unexpected token 'AND' at character 1"],
  ['a OR OR b', "unexpected token 'OR' at character 6"],
  ['a AND (NOT )', `unexpected token ')' at character 12`],
  ['NOT', 'unexpected token end of query at character 4'],
  ['or', "unexpected token 'or' at character 1"],
  ['('.repeat(65) + 'a' + ')'.repeat(65), 'query nested deeper than 64 parentheses at character 65'],
]

describe('boolean query', () => {
  for (const [query, tree] of TREES) it(`${JSON.stringify(query)} is ${tree}`, () => assert.equal(print(parseTree(query, BOOLEAN)), tree))

  for (const [query, text] of REFUSALS) {
    it(`${JSON.stringify(query).slice(0, 40)} is refused: ${text}`, () =>
      assert.equal(
        refusal(() => parseTree(query, BOOLEAN)),
        text,
      ))
  }

  for (const [query, tree] of EXPRESSIONS)
    it(`expression ${JSON.stringify(query)} is ${tree}`, () => assert.equal(print(parseTree(query, EXPRESSION)), tree))

  it('takes parentheses 64 deep, any number of them side by side', () => {
    assert.equal(print(parseTree('('.repeat(64) + 'a' + ')'.repeat(64), BOOLEAN)), 'a')
    assert.equal(print(parseTree('(a) '.repeat(1000), BOOLEAN)).length, 'and()'.length + 1999)
  })

  it('takes a chain of negations of any length', () => assert.equal(print(parseTree('NOT '.repeat(1001) + 'a', BOOLEAN)), 'not(a)'))
})

const AUTO_MODES: readonly (readonly [query: string, mode: string])[] = [
  ['markdown search', 'simple'],
  ['"markdown search"', 'phrase'],
  ['  "markdown search" ', 'phrase'],
  [String.raw`"a \" b"`, 'phrase'],
  ['rust AND wal', 'boolean'],
  ['rust OR wal', 'boolean'],
  ['NOT wal', 'boolean'],
  ['+rust wal', 'boolean'],
  ['rust -wal', 'boolean'],
  ['"markdown search" engine', 'boolean'],
  ['"a b" "c d"', 'boolean'],
  ['rust and wal', 'simple'],
  ['"markdown search"~3', 'proximity'],
  ['"markdown search"~3 x', 'boolean'],
  ['mark* d?wn', 'wildcard'],
  ['mark* OR rust', 'boolean'],
  ['**bold** *words*', 'simple'],
  ['a * b ? c', 'simple'],
  ['why??', 'simple'],
  ['foo-bar', 'simple'],
  ['C++ a - b', 'simple'],
  ['main(argc)', 'simple'],
  ['what is rust?', 'simple'],
  ['5" disk', 'simple'],
  ['(rust AND wal', 'simple'],
  ['rock AND', 'simple'],
  // Pasted text.
  ['https://example.org/search?q=foo&page=2#top', 'simple'],
  ['see http://a.example/x?y -and so on', 'simple'],
  ['/srv/a/b?c/d', 'simple'],
  ['~/notes/a*b', 'simple'],
  ['2*2=4', 'simple'],
  ['2*2', 'simple'],
  ['git commit -m message', 'simple'],
  ['git commit -m "fix the lexer"', 'boolean'],
  ['ls -1', 'simple'],
  ['tar -x -verbose', 'simple'],
  ['find . -name lexer', 'simple'],
  ['npm run build --watch', 'simple'],
  ['if (a[i] == b || !c) { x += -y; }', 'simple'],
  ['std::cout << "x" << *p++;', 'simple'],
  ['>=1.2 <2.0 -beta', 'simple'],
  ['^1.2.3 || ~2.1', 'simple'],
  ['Error: "x" at run (/srv/app/index.js:12:5)', 'simple'],
  ['def f(*args, **kwargs)', 'simple'],
  ['pass **kwargs on', 'simple'],
  ['SELECT * FROM t WHERE a = 1 AND NOT b', 'simple'],
  ['print("hello")', 'simple'],
  ['john.doe@example.org', 'simple'],
  ['clients MUST NOT retry', 'simple'],
  ['do NOT run this', 'simple'],
  ['DO NOT DISTURB', 'simple'],
  // Operators beside words that have a joint.
  ['TCP/IP -udp', 'boolean'],
  ['C++ AND std::sort', 'boolean'],
  ['R&D NOT budget', 'boolean'],
  ['john@example.org AND invoice', 'boolean'],
  ['jaguar -car -animal', 'boolean'],
  ['"jaguar engine" -"car show"', 'boolean'],
  ['-(car OR animal) jaguar', 'boolean'],
  ['+rust -c wal', 'boolean'],
  ['rust -日本 -車', 'boolean'],
  ['東京 NOT 京都', 'boolean'],
  ['"https://example.org/a?b=c" -draft', 'boolean'],
  ['log.t?t conf-fi*', 'wildcard'],
]

describe('query mode', () => {
  for (const [query, mode] of AUTO_MODES) {
    it(`auto reads ${JSON.stringify(query)} as ${mode}`, () => {
      assert.equal(parseQuery(query, 'auto').mode, mode)
      assert.equal(parseQuery(query, undefined).mode, mode)
    })
  }

  it('auto leaves the distance of a proximity query out of its words', () => {
    assert.deepEqual(parseQuery('"markdown search"~3 x)', 'auto'), { mode: 'simple', text: '"markdown search"  x)', edits: 0 })
  })

  it('takes a mode that was asked for at its word', () => {
    assert.equal(parseQuery('a AND b', 'simple').mode, 'simple')
    assert.deepEqual(parseQuery('a b', 'phrase'), { mode: 'phrase', phrases: ['a b'] })
    assert.deepEqual(parseQuery('"a b" c "d e"', 'phrase'), { mode: 'phrase', phrases: ['a b', ' c ', 'd e'] })
    assert.deepEqual(parseQuery('what? now', 'wildcard'), {
      mode: 'wildcard',
      words: [
        { isPattern: true, text: 'what?' },
        { isPattern: false, text: 'now' },
      ],
    })
    assert.deepEqual(parseQuery('a b "c d"~2', 'proximity', { fuzzy: 0, distance: 7 }), {
      mode: 'proximity',
      groups: [
        { text: 'a b ', distance: 7 },
        { text: 'c d', distance: 2 },
      ],
    })
    assert.equal(
      refusal(() => parseQuery('"a b"~3', 'phrase')),
      `unexpected token '~' at character 6`,
    )
    assert.equal(
      refusal(() => parseQuery('"a b', 'phrase')),
      'unclosed quote at character 1',
    )
    assert.equal(
      refusal(() => parseQuery('(a', 'boolean')),
      `expected ')' at character 3`,
    )
  })

  it('refuses modes that do not exist', () => {
    assert.equal(
      refusal(() => parseQuery('a', 'fancy')),
      'unknown mode: fancy',
    )
  })
})
