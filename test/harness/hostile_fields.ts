/**
 * Values that no store accepts, one after another in each field of each operation. The fast tier takes some
 * of them for each field, each time others; the deep tier takes all.
 */
import { operations } from '../../src/operations/index.js'
import type { Schema } from '../../src/operations/row/json_schema.js'
import type { Operation } from '../../src/operations/row/operation.js'
import { exampleInput } from '../../src/surface/http/pages/openapi.js'

/** Requests in flight at once. */
const TOGETHER = 8
/** Maximum length in a path or a query string, whose size is limited. */
const URL_TEXT_MAX = 3_000

export interface HostileField {
  readonly what: string
  readonly method: string
  readonly path: string
  readonly body: Readonly<Record<string, unknown>> | undefined
}

interface Asked {
  /** Operations that are not asked. */
  readonly leftOut: ReadonlySet<string>
  readonly valuesOf: (schema: Schema) => readonly unknown[]
  /** Values of one field; undefined: all. */
  readonly valuesMax?: number
}

/** Sends every request by `ask`, some at once. @returns their number */
export async function askEach(asked: Asked, ask: (sent: HostileField) => Promise<void>): Promise<number> {
  const source = requests(asked)
  let count = 0
  await Promise.all(
    Array.from({ length: TOGETHER }, async () => {
      for (const sent of source) {
        await ask(sent)
        count++
      }
    }),
  )
  return count
}

function* requests({ leftOut, valuesOf, valuesMax = Number.MAX_SAFE_INTEGER }: Asked): Generator<HostileField> {
  let next = 0
  for (const row of operations) {
    if (leftOut.has(row.name)) continue
    const example = exampleInput(row.input)
    for (const [name, schema] of Object.entries(row.input.properties ?? {})) {
      const values = valuesOf(schema)
      for (let taken = 0; taken < Math.min(valuesMax, values.length); taken++) {
        const at = next++ % values.length
        const sent = requestOf(row, { ...example, [name]: values[at] })
        if (sent !== undefined) yield { ...sent, what: `${row.name} ${name} #${at}` }
      }
    }
  }
}

function requestOf(row: Operation, input: Readonly<Record<string, unknown>>): Omit<HostileField, 'what'> | undefined {
  const route = row.http?.routes[0]
  if (route === undefined) return undefined
  const rest = { ...input }
  const path = route.path.replaceAll(/:(\w+)/g, (_, name: string) => {
    const value = String(rest[name])
    delete rest[name]
    return encodeURIComponent(value.isWellFormed() ? value : value.toWellFormed())
  })
  // An empty path segment selects another route.
  if (path.includes('//') || path.endsWith('/')) return undefined
  if (route.method !== 'GET') return { method: route.method, path, body: rest }
  const query = new URLSearchParams(
    Object.entries(rest).map(([name, value]): [string, string] => [name, typeof value === 'string' ? value : JSON.stringify(value)]),
  )
  const url = `${path}?${query.toString()}`
  return url.length > URL_TEXT_MAX ? undefined : { method: 'GET', path: url, body: undefined }
}

const TEXTS = [
  '',
  '\0',
  'a\0b',
  'x'.repeat(1_978),
  'İ'.repeat(1_000),
  'x'.repeat(100_000),
  '\ud800',
  '__proto__',
  'constructor',
  '|',
  '.',
  '..',
]
const NUMBERS = [-1, 0, 1.5, 1e300, -1e300, 2 ** 53, 2 ** 32]

/** Values of the type of the field. */
export function hostileValues({ type, anyOf }: Schema): readonly unknown[] {
  if (type === 'string') return TEXTS
  if (type === 'integer' || type === 'number') return NUMBERS
  if (type === 'array') return [[], [''], ['\0'], ['\ud800'], ['x'.repeat(100_000)], [['x']]]
  if (type === 'object') return [{}, { '': '' }, { __proto__: 'x' }, { constructor: ['x'] }, { 'a\0b': ['c\0d'] }]
  return anyOf === undefined ? [] : TEXTS
}
