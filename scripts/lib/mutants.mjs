/**
 * The mutations: those of test/mutants/*.json and those that follow from rows (derived_mutants.mjs). Which
 * source each kind of entry changes and how, and whether an entry still fits the code. An entry breaks one
 * row of test/contract/coverage.json.
 */
import { readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { positionOf } from './declarations.mjs'
import { derivedMutants } from './derived_mutants.mjs'

/** Kinds of rows that must have a mutation. Of the other rows with a mutation, a seeded sample is used. */
export const REQUIRED_KINDS = new Set(['request field', 'default', 'limit', 'rule'])

/** Converts a path of the operation table to a pattern for request paths. */
const pathPattern = (path) => `^${path.replaceAll(/[:{][^/]+/g, '[^/]+')}$`

/**
 * Deletes a path such as `documents[].meta` from a JSON value, or sets it to a fixed value. It is the text of
 * a function, because it is inserted into the mutated source. `[]`: every item; `*`: every member.
 */
const SPOIL = `function spoil(value, path, as) {
  const [step, ...rest] = path
  if (value === null || typeof value !== 'object') return
  if (step === '[]' || step === '*') {
    for (const name of Object.keys(value)) {
      if (rest.length > 0) spoil(value[name], rest, as)
      else if (as === undefined) delete value[name]
      else value[name] = as
    }
  } else if (rest.length > 0) spoil(value[step], rest, as)
  else if (as !== undefined) { if (value[step] !== undefined) value[step] = as }
  else delete value[step]
}`

/** Without `as`, a required field of the request has an empty value, so that the operation runs. */
const BLANK = `function blankOf(schema) {
  switch (schema?.type) {
    case 'string': return (schema.enum ?? schema.anyOf?.map((one) => one.const))?.[0] ?? 'x'
    case 'number': case 'integer': return 1
    case 'boolean': return false
    case 'array': return []
    default: return {}
  }
}`

const stepsOf = (field) =>
  JSON.stringify(
    field
      .replaceAll('[]', '.[]')
      .split('.')
      .filter((step) => step !== ''),
  )
const literal = (value) => (value === undefined ? 'undefined' : JSON.stringify(value))

/** Operations that unit tests call without a server, by path. */
const LOOP_OPERATIONS = {
  '/health': 'health',
  '/v1/health': 'health',
  '/v1/config': 'config',
  '/v1/system/info': 'systemInfo',
  '/v1/endpoints': 'endpoints',
}

function spoiltOnLoop(operation, field, as) {
  const spoilt = `(...given) => {
    const answer = handler(...given)
    const body = JSON.parse(answer.body)
    spoil(body, ${stepsOf(field)}, ${literal(as)})
    return { ...answer, body: JSON.stringify(body) }
  }`
  return [
    {
      file: 'src/system/loop_answers.ts',
      find: 'const bind = (row: Operation, answer: SystemAnswer): BoundLoopHandler => [row, (input) => answer(state, input)]\n',
      replace: `${SPOIL}
  const bind = (row, handler) => [row, (input) => (row.name === '${operation}' ? ${spoilt} : handler)(state, input)]\n`,
    },
  ]
}

/** The changes of an entry, by the field that names its kind. Each function returns edits of sources. */
const KINDS = {
  /** A request field is not read, or always has the value of `as`. */
  input: ({ input, field, as }) => {
    const [method, path] = input.split(' ')
    const isMeant = `'http' in operation && operation.http.routes.some((route) => route.method === '${method}' && route.path === '${path}')`
    return [
      {
        file: 'src/worker/request/lane_request.ts',
        find: '  validate(operation, input)\n',
        replace: `  validate(operation, input)\n${SPOIL}\n${BLANK}
  const isRequired = ${literal(as)} === undefined && operation.input.required?.includes(${literal(field)}) === true
  if (${isMeant}) spoil(input, ${stepsOf(field)}, isRequired ? blankOf(operation.input.properties[${literal(field)}]) : ${literal(as)})\n`,
      },
    ]
  },
  /** An answer field is not written, or always has the value of `as`. */
  answer: ({ answer, field, as }) => {
    const [method, path] = answer.split(' ')
    if (path in LOOP_OPERATIONS) return spoiltOnLoop(LOOP_OPERATIONS[path], field, as)
    const isMeant = `this.method === '${method}' && new RegExp(${literal(pathPattern(path))}).test(this.path)`
    return [
      {
        file: 'src/surface/http/exchange.ts',
        find: '  answer(answer: HttpAnswer): void {\n',
        replace: `  answer(answer: HttpAnswer): void {
    ${SPOIL}
    if (${isMeant} && !answer.gzip && answer.contentType === null && answer.status < 300 && answer.status !== 204) {
      const spoilt = JSON.parse(Buffer.from(answer.body).toString())
      spoil(spoilt, ${stepsOf(field)}, ${literal(as)})
      answer = { ...answer, body: JSON.stringify(spoilt) }
    }
`,
      },
    ]
  },
  /** An answer lacks a header. */
  header: ({ header, name }) => {
    const [method, path] = header.split(' ')
    const isMeant = `this.method === '${method}' && new RegExp(${literal(pathPattern(path))}).test(this.path)`
    return [
      {
        file: 'src/surface/http/exchange.ts',
        find: '  answer(answer: HttpAnswer): void {\n',
        replace: `  answer(answer: HttpAnswer): void {
    if (${isMeant}) answer = { ...answer, headers: answer.headers.filter((_, at, all) => all[at - (at % 2)] !== '${name}') }
`,
      },
    ]
  },
  /** A route is missing. */
  route: ({ route }) => {
    const [method, path] = route.split(' ')
    const isMeant = `exchange.method === '${method}' && new RegExp(${literal(pathPattern(path))}).test(exchange.path)`
    return [
      {
        file: 'src/surface/http/front_end.ts',
        find: "    if (match.kind === 'notFound') {\n",
        replace: `    if (match.kind === 'notFound' || (${isMeant})) {\n`,
      },
    ]
  },
  /** The option of a variable is not read, so its default applies. */
  option: ({ option }) => [
    {
      file: 'src/config/config.ts',
      find: 'readOption(option as Option<unknown>, sources)',
      replace: `option.variables.includes('${option}') ? option.fallback : readOption(option as Option<unknown>, sources)`,
    },
  ],
  /** A metric is not written. */
  metric: ({ metric }) => [
    {
      file: 'src/telemetry/exposition.ts',
      find: '  return page.text()\n',
      replace: `  return page.text().split('\\n').filter((line) => !/^(?:# \\w+ )?${metric}(?:_bucket|_sum|_count)?(?:[ {]|$)/.test(line)).join('\\n')\n`,
    },
  ],
  /** A phrase is replaced that occurs once in the declaration `of`, or, without it, in the source. */
  in: ({ in: file, of, find, replace }) => [{ file, of, find, replace }],
}

export function readMutants(root) {
  const folder = join(root, 'test/mutants')
  const written = readdirSync(folder)
    .filter((name) => name.endsWith('.json'))
    .sort()
    .flatMap((name) => JSON.parse(readFileSync(join(folder, name), 'utf8')).map((entry) => ({ ...entry, list: name })))
  return [...written, ...derivedMutants(root, readRows(root), written)]
}

export function readRows(root) {
  return JSON.parse(readFileSync(join(root, 'test/contract/coverage.json'), 'utf8'))
}

export const isRequired = ({ kind, proof }) => REQUIRED_KINDS.has(kind) && typeof proof.test === 'string'

export function nameOf(entry) {
  const kind = Object.keys(KINDS).find((each) => each in entry)
  const what = [entry[kind], entry.field ?? entry.name ?? entry.find].filter((part) => part !== undefined && part !== '').join(': ')
  const becomes = entry.replace ?? (entry.as === undefined ? undefined : JSON.stringify(entry.as))
  return becomes === undefined ? `without ${what}` : `${what} -> ${becomes === '' ? 'nothing' : becomes}`
}

/**
 * @returns the mutated sources by file
 * @throws Error if the entry no longer fits the code
 */
export function mutatedSources(entry, root) {
  const kinds = Object.keys(KINDS).filter((kind) => kind in entry)
  if (kinds.length !== 1) throw new Error(`${entry.row}: an entry has exactly one of ${Object.keys(KINDS).join(', ')}`)
  const sources = new Map()
  for (const { file, of, find, replace } of KINDS[kinds[0]](entry)) {
    if (typeof find !== 'string' || typeof replace !== 'string' || find === replace) throw new Error(`${entry.row}: nothing changes`)
    const text = sources.get(file) ?? readFileSync(join(root, file), 'utf8')
    let at
    try {
      at = positionOf(text, find, of)
    } catch (error) {
      throw new Error(`${entry.row}: ${file} ${error.message}`, { cause: error })
    }
    sources.set(file, text.slice(0, at) + replace + text.slice(at + find.length))
  }
  return sources
}

/**
 * Returns messages for required rows without an entry, entries of rows that do not exist or are not proved,
 * and entries that do not fit the code.
 */
export function faultsOf(root) {
  const rows = readRows(root)
  const entries = readMutants(root)
  const proved = new Set(rows.filter(({ proof }) => typeof proof.test === 'string').map(({ id }) => id))
  const broken = new Set(entries.map(({ row }) => row))
  const lacking = rows.filter((row) => isRequired(row) && !broken.has(row.id)).map(({ id, text }) => `${id} has no mutation: ${text}`)
  const stale = entries.flatMap((entry) => {
    if (!proved.has(entry.row)) return [`${entry.list}: ${entry.row} is no row that a test proves`]
    try {
      mutatedSources(entry, root)
      return []
    } catch (error) {
      return [`${entry.list}: ${error.message}`]
    }
  })
  return [...lacking, ...stale]
}
