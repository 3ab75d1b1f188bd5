/**
 * The scan of a body before it is parsed: it accepts exactly what JSON.parse accepts, it keeps only fields
 * that the operation knows, and it counts what the parser would build.
 */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import fc from 'fast-check'
import { ANY, type JsonBounds, JsonScanner, type KnownMembers } from '../../../src/engine/json_scan.js'
import { laneOperations } from '../../../src/operations/index.js'
import type { Schema } from '../../../src/operations/row/json_schema.js'
import { knownMembers } from '../../../src/worker/request/input.js'
import { holds } from '../../harness/property.js'

const NONE: JsonBounds = { depth: 1_000, containers: 2 ** 31, values: 2 ** 31, shapes: 2 ** 31 }
const ALL = new JsonScanner(ANY, NONE)
const NAMES = ['a', 'b', 'meta', '', 'ä"\\\n', '__proto__', 'x'.repeat(40)]

const name = fc.oneof(fc.constantFrom(...NAMES), fc.string({ unit: fc.constantFrom('"', '\\', 'a', 'ü', '\n', '🙂', '\ud800') }))
const { value } = fc.letrec((tie) => ({
  value: fc.oneof(
    { depthSize: 'medium' },
    name,
    fc.double({ noNaN: true, noDefaultInfinity: true }),
    fc.constantFrom(null, true, false, 0, -0.5, 1e300),
    fc.array(tie('value'), { maxLength: 4 }),
    fc.dictionary(name, tie('value'), { maxKeys: 5, noNullPrototype: true }),
  ),
}))
const { tree } = fc.letrec<{ tree: KnownMembers }>((tie) => ({
  tree: fc.oneof(
    { depthSize: 'medium' },
    fc.constant(ANY),
    fc.record({ kind: fc.constant('list' as const), items: tie('tree') }),
    fc.record({
      kind: fc.constant('object' as const),
      members: fc.uniqueArray(fc.tuple(fc.constantFrom(...NAMES), tie('tree')), { selector: ([one]) => one, maxLength: 3 }),
      rest: fc.option(tie('tree'), { freq: 1 }),
    }),
  ),
}))

/** JSON of the value in a foreign writer's style: spaces anywhere, characters escaped or not. */
function written(one: unknown, next: () => number): string {
  const space = (): string => ['', '', '', ' ', '\n\t', ' \r\n'][next() % 6] as string
  const text = (of: string): string => {
    const plain = JSON.stringify(of)
    if (next() % 3 > 0) return plain
    return plain.replaceAll('a', String.raw`\u0061`).replaceAll('/', String.raw`\/`)
  }
  if (typeof one === 'string') return text(one)
  if (typeof one !== 'object' || one === null) return JSON.stringify(one)
  if (Array.isArray(one)) return `[${space()}${one.map((item) => written(item, next) + space()).join(`,${space()}`)}]`
  const members = Object.entries(one).map(([key, item]) => `${space()}${text(key)}${space()}:${space()}${written(item, next)}${space()}`)
  return `{${space()}${members.join(',')}}`
}

const random = fc.infiniteStream(fc.nat({ max: 1_000 })).map((stream) => () => stream.next().value as number)

function known(one: unknown, node: KnownMembers): unknown {
  if (typeof one !== 'object' || one === null || node.kind === 'any') return one
  if (Array.isArray(one)) return node.kind === 'list' ? one.map((item) => known(item, node.items)) : one
  if (node.kind !== 'object') return one
  const members = new Map(node.members)
  const kept = Object.entries(one).flatMap(([key, item]) => {
    const child = members.get(key) ?? node.rest
    return child === null ? [] : [[key, known(item, child)] as const]
  })
  return Object.fromEntries(kept)
}

it('only known members remain, in JSON of the same length, and a second pass changes nothing', () => {
  holds(
    fc.property(value, tree, random, (one, node, next) => {
      const text = Buffer.from(` ${written(one, next)} `)
      const scanner = new JsonScanner(node, NONE)
      assert.equal(scanner.scan(text), 'good')
      // Compared with the parsed value, not the generated one: -0 becomes 0, and a lone surrogate in a name
      // becomes another character.
      assert.deepEqual(JSON.parse(text.toString()), known(JSON.parse(JSON.stringify(one)), node))
      const before = Buffer.from(text)
      assert.equal(scanner.scan(text), 'good')
      assert.ok(before.equals(text))
    }),
    { numRuns: 3_000 },
  )
})

it('it takes what JSON.parse takes, and nothing else', () => {
  const isJson = (text: string): boolean => {
    try {
      JSON.parse(text)
      return true
    } catch {
      return false
    }
  }
  const check = (text: string): void => assert.equal(ALL.scan(Buffer.from(text)) === 'good', isJson(text), JSON.stringify(text))
  const edit = fc.record({
    at: fc.nat(),
    byte: fc.constantFrom(...'{}[]",:\\0123456789.eE+-tfnu \n\u0001\ud800ab'),
    isInserted: fc.boolean(),
  })
  fc.assert(
    fc.property(value, random, fc.array(edit, { maxLength: 3 }), (one, next, edits) => {
      let text = written(one, next)
      for (const { at, byte, isInserted } of edits) {
        const position = at % (text.length + 1)
        text = text.slice(0, position) + byte + text.slice(isInserted ? position : position + 1)
      }
      check(text)
    }),
    { numRuns: 5_000 },
  )
  const odd = [
    '',
    ' ',
    '01',
    '-',
    '-0',
    '1.',
    '.5',
    '1e',
    '1e+',
    '1E5',
    '"\\u12',
    '"\\u12g4"',
    '"\\x"',
    '"\\',
    '"',
    'tru',
    'true1',
    '[1,]',
    '{"a":1,}',
    '{,}',
    '[',
    '{"a"',
    '{"a":',
    '\ufeff{}',
    '"\t"',
    '"12345678\u0001"',
    '{"a":1}x',
    '[1 2]',
    '{a:1}',
    "'a'",
  ]
  odd.forEach(check)
})

it('a member that comes again, and members with escaped names, are those that JSON.parse sees', () => {
  const scanner = new JsonScanner({ kind: 'object', members: [['key', ANY]], rest: null }, NONE)
  const left = (text: string): unknown => {
    const bytes = Buffer.from(text)
    assert.equal(scanner.scan(bytes), 'good')
    return JSON.parse(bytes.toString())
  }
  assert.deepEqual(left('{"junk":[{"key":1}],"key":1,"x":{},"key":2,"y":"}"}'), { key: 2 })
  assert.deepEqual(left(String.raw`{"\u006bey":1,"kez":2,"ke\u0079 ":3}`), { key: 1 })
  assert.deepEqual(left('{"x":1,"y":2}'), {})
  assert.deepEqual(left(`{"${String.raw`\u006b`.repeat(500)}":1}`), {})
})

it('the scan counts objects and lists, values, beginnings of objects, and the depth', () => {
  const bounds = { depth: 8, containers: 100, values: 1_000, shapes: 50 }
  const scanner = new JsonScanner({ kind: 'object', members: [['a', ANY]], rest: null }, bounds)
  const verdict = (text: string): string => scanner.scan(Buffer.from(text))
  const many = (count: number, item: (at: number) => string): string => Array.from({ length: count }, (_, at) => item(at)).join(',')
  assert.equal(verdict(`{"a":[${many(98, () => '{}')}]}`), 'good')
  assert.equal(verdict(`{"a":[${many(99, () => '{}')}]}`), 'containers')
  assert.equal(verdict(`{"a":[${many(998, () => '1')}]}`), 'good')
  assert.equal(verdict(`{"a":[${many(999, () => '"1"')}]}`), 'values')
  // One shape is that of the member itself.
  assert.equal(verdict(`{"a":{${many(49, (at) => `"${at}":1`)}}}`), 'good')
  assert.equal(verdict(`{"a":{${many(50, (at) => `"${at}":1`)}}}`), 'shapes')
  assert.equal(verdict(`{"a":[${many(40, () => '{"x":1,"y":2}')}]}`), 'good', 'the same names in the same order count once')
  assert.equal(verdict(`{"a":[${many(40, (at) => `{"${at % 6}":1,"${at % 7}":2}`)}]}`), 'good')
  assert.equal(verdict(`{"a":[${many(90, (at) => `{"${at % 6}":1,"${at % 11}":2}`)}]}`), 'shapes', 'each order of names counts')
  assert.equal(verdict(`{"junk":[${many(5_000, (at) => `{"${at}":[]}`)}]}`), 'good', 'what is cut out does not count')
  assert.equal(verdict(`{"a":${'['.repeat(7)}${']'.repeat(7)}}`), 'good')
  assert.equal(verdict(`{"junk":${'['.repeat(8)}${']'.repeat(8)}}`), 'depth')
})

it('a stop word ends it', () => {
  const control = new Int32Array(new SharedArrayBuffer(16))
  const text = Buffer.from(`[${'1,'.repeat(100_000)}1]`)
  const stop = { control, byteOffset: 8 }
  assert.equal(ALL.scan(text, stop), 'good')
  Atomics.store(control, 2, 1)
  assert.equal(ALL.scan(text, stop), 'stopped')
})

it('no member that a schema names is unknown', () => {
  const check = (schema: Schema, node: KnownMembers, path: string): void => {
    if (node.kind === 'any') return
    if (node.kind === 'list') {
      check(schema.items ?? {}, node.items, `${path}[]`)
      return
    }
    const item = schema.type === 'object' ? schema : (schema.anyOf?.[0] ?? {})
    assert.deepEqual(
      node.members.map(([one]) => one),
      Object.keys(item.properties ?? {}),
      path,
    )
    assert.equal(node.rest === null, item.additionalProperties === undefined, path)
    for (const [one, child] of node.members) check(item.properties?.[one] ?? {}, child, `${path}.${one}`)
    if (node.rest !== null) check(item.additionalProperties ?? {}, node.rest, `${path}.*`)
  }
  let objects = 0
  for (const { name: operation, input } of laneOperations) {
    const node = knownMembers(input)
    if (node.kind === 'object') objects += 1
    check(input, node, operation)
  }
  assert.ok(objects > 50)
})
