/**
 * Writes clients/typescript/src/generated.ts from the rows of `src/operations` and from the names in
 * clients/typescript/surface.mjs: the types of every input and answer, the methods by noun, and the route of
 * every operation. `--check` writes nothing and exits with 1 if the file is not what would be written.
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { build } from 'esbuild'
import { format, resolveConfig } from 'prettier'
import { BY_HAND, IDEMPOTENT, MAY_WRITE, NOUNS, NULL_CLEARS } from '../clients/typescript/surface.mjs'
import { ClientTypes, comment } from './lib/client_types.mjs'
import { projectRoot } from './lib/root.mjs'

const OUTPUT = join(projectRoot, 'clients', 'typescript', 'src', 'generated.ts')

async function readRows() {
  const folder = mkdtempSync(join(tmpdir(), 'mds-client-'))
  try {
    const outfile = join(folder, 'operations.mjs')
    const entry = join(projectRoot, 'src', 'operations', 'index.ts')
    await build({ entryPoints: [entry], outfile, bundle: true, format: 'esm', platform: 'node', logLevel: 'warning' })
    const { operations } = await import(pathToFileURL(outfile).href)
    return operations.filter(({ http }) => http !== undefined)
  } finally {
    rmSync(folder, { recursive: true })
  }
}

/** How a call may be repeated: see `Repeat` in src/route.ts. */
function repeatOf(row) {
  if (MAY_WRITE.includes(row.name)) return 'never'
  if (row.effect !== 'write') return 'always'
  if (IDEMPOTENT.includes(row.name)) return 'always'
  return row.cost === 'write' ? 'unlessUnknown' : 'never'
}

function answerKind({ http, contentType = 'application/json' }) {
  if (http.successStatus === 204) return 'nothing'
  if (contentType.includes('json')) return 'json'
  return contentType.startsWith('text/') ? 'text' : 'bytes'
}

const pascal = (name) => name[0].toUpperCase() + name.slice(1)

function typeOfAnswer(row, types) {
  const kind = answerKind(row)
  if (kind === 'json') return types.named(`${pascal(row.name)}Answer`, row.output, false)
  return { nothing: 'void', text: 'string', bytes: 'Uint8Array' }[kind]
}

const PARAMETERS = {
  required: 'input: $, options?: CallOptions',
  optional: 'input?: $, options?: CallOptions',
  none: 'options?: CallOptions',
}

/** Whether the input must be given, may be given, or has no fields. */
function inputKind({ input }) {
  if (Object.keys(input.properties ?? {}).length === 0) return 'none'
  return (input.required ?? []).length > 0 ? 'required' : 'optional'
}

/** Null is a value of every field that may be absent. */
function orNull({ properties, ...schema }) {
  const entries = Object.entries(properties).map(([name, field]) => {
    if (schema.required?.includes(name)) return [name, field]
    const { description, ...rest } = field
    return [name, { description, anyOf: [rest, { type: 'null' }] }]
  })
  return { ...schema, properties: Object.fromEntries(entries) }
}

function generate(rows) {
  const byName = new Map(rows.map((row) => [row.name, row]))
  const named = Object.values(NOUNS).flatMap((methods) => Object.values(methods))
  const lacking = rows.filter(({ name }) => !named.includes(name) && !BY_HAND.includes(name)).map(({ name }) => name)
  if (lacking.length > 0) throw new Error(`surface.mjs has no method for ${lacking.join(', ')}`)
  const unknown = [...named, ...BY_HAND, ...IDEMPOTENT, ...MAY_WRITE, ...NULL_CLEARS].filter((name) => !byName.has(name))
  if (unknown.length > 0) throw new Error(`surface.mjs names operations that are none: ${unknown.join(', ')}`)

  const types = new ClientTypes()
  const signatureOf = (method, row) => {
    const kind = inputKind(row)
    const input =
      kind === 'none' ? '' : types.named(`${pascal(row.name)}Input`, NULL_CLEARS.includes(row.name) ? orNull(row.input) : row.input, true)
    const route = row.http.routes[0]
    const parameters = PARAMETERS[kind].replace('$', input)
    const about = comment(`${row.description.replace(/\.$/, '')}. \`${route.method} ${route.path}\``)
    return `${about}readonly ${method}: (${parameters}) => Promise<${typeOfAnswer(row, types)}>`
  }
  const interfaces = Object.entries(NOUNS).map(
    ([noun, methods]) =>
      `export interface ${pascal(noun)}Methods {\n${Object.entries(methods)
        .map(([method, name]) => signatureOf(method, byName.get(name)))
        .join('\n')}\n}`,
  )
  for (const name of BY_HAND) {
    types.named(`${pascal(name)}Input`, byName.get(name).input, true)
    if (answerKind(byName.get(name)) === 'json') types.named(`${pascal(name)}Answer`, byName.get(name).output, false)
  }
  const routes = rows.map((row) => {
    const { method, path } = row.http.routes[0]
    const input = inputKind(row) === 'none' ? ', takesNothing: true' : ''
    const answer = answerKind(row) === 'json' ? '' : `, answer: '${answerKind(row)}'`
    return `${row.name}: { method: '${method}', path: '${path}', repeat: '${repeatOf(row)}'${answer}${input} },`
  })
  return `// Generated by scripts/generate-client.mjs from the operations of the server. Do not edit.
import type { CallOptions } from './options.js'
import type { Route } from './route.js'

${types.declarations.join('\n\n')}

${interfaces.join('\n\n')}

/** The methods of each noun, and their operations. Those written by hand are not among them. */
export interface Nouns {
${Object.keys(NOUNS)
  .map((noun) => `${noun}: ${pascal(noun)}Methods`)
  .join('\n')}
}

export const NOUNS = ${JSON.stringify(NOUNS)} as const

export const ROUTES = {
${routes.join('\n')}
} as const satisfies Record<string, Route>
`
}

const text = await format(generate(await readRows()), { ...(await resolveConfig(OUTPUT)), parser: 'typescript' })
if (!process.argv.includes('--check')) writeFileSync(OUTPUT, text)
else if (readFileSync(OUTPUT, 'utf8') !== text) {
  console.error('clients/typescript/src/generated.ts is stale: node scripts/generate-client.mjs')
  process.exitCode = 1
}
