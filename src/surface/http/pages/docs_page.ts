/**
 * Builds the reference page: HTML from the table of operations, self-contained (no CDN, no other file). Built
 * once, on the front-end thread. All text is escaped here. The policy allows only the page's own style and
 * script.
 */
import { createHash } from 'node:crypto'
import { INTERFACE_VERSION } from '../../../base/version.js'
import { CATALOGUE } from '../../../errors.js'
import type { HttpRoute } from '../../../operations/row/http_form.js'
import type { Schema } from '../../../operations/row/json_schema.js'
import type { Operation } from '../../../operations/row/operation.js'
import { DOCS_SCRIPT, DOCS_STYLE } from './docs_assets.js'
import { errorsOf, exampleInput, propertiesOf } from './openapi.js'

/** Levels of untitled nested objects that one table shows. */
const NESTED_MAX = 3

const hashOf = (text: string): string => `'sha256-${createHash('sha256').update(text).digest('base64')}'`

export function docsPolicy(): string {
  return [
    "default-src 'none'",
    `style-src ${hashOf(DOCS_STYLE)}`,
    `script-src ${hashOf(DOCS_SCRIPT)}`,
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ')
}

function routesOf(row: Operation): readonly HttpRoute[] {
  return row.http?.routes ?? []
}

/** @param rows those without an HTTP form are left out */
export function buildDocsPage(rows: readonly Operation[]): string {
  const operations = rows.filter(({ http }) => http !== undefined)
  const groups = [...new Set(operations.map((row) => row.group))]
  const types = new Map<string, Schema>()
  const navigation = groups.map((group) => {
    const links = operations.filter((row) => row.group === group).flatMap((row) => routesOf(row).map((route) => renderLink(row, route)))
    return `<div class="group"><h2>${escapeHtml(group)}</h2>${links.join('')}</div>`
  })
  const sections = groups.map((group) => {
    const ofGroup = operations.filter((row) => row.group === group)
    return `<div class="group"><h2>${escapeHtml(group)}</h2>${ofGroup.map((row) => renderOperation(row, types)).join('\n')}</div>`
  })
  const typeSections = renderTypes(types)
  const typeLinks = [...types.keys()].sort().map((name) => `<a href="#type-${name}" data-find="${name.toLowerCase()}">${name}</a>`)
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>Markdown Document Service: reference</title><style>${DOCS_STYLE}</style></head>
<body><nav aria-label="Operations"><div class="head"><input id="find" type="search" placeholder="Search: path, field, word" aria-label="Search operations" autocomplete="off">
<button id="menu" type="button" aria-expanded="false" aria-controls="links">Menu</button></div>
<div id="links">${navigation.join('')}<div class="group"><h2>Types</h2>${typeLinks.join('')}</div><p id="none" class="dim" hidden>Nothing found.</p></div></nav>
<main><h1>Markdown Document Service</h1>
<p>Interface version ${INTERFACE_VERSION}. Requests and answers are JSON; unknown fields are ignored, and null means the same as leaving a field out.
Errors have the form <code>{"error": "..."}</code>. The same as an OpenAPI 3.1 document: <a href="/openapi.json">/openapi.json</a>.</p>
${sections.join('\n')}
<div class="group"><h2>Types</h2>${typeSections}</div>
</main><script>${DOCS_SCRIPT}</script></body></html>
`
}

function renderLink(row: Operation, { method, path }: HttpRoute): string {
  return `<a href="#${row.name}" data-find="${escapeHtml(wordsOf(row))}"><span class="method ${method}">${method}</span> <span>${escapeHtml(path)}</span></a>`
}

/** Returns the text that the search field matches, in lower case. */
function wordsOf(row: Operation): string {
  const routes = routesOf(row).map(({ method, path }) => `${method} ${path}`)
  return [...routes, row.name, row.description, row.group, ...Object.keys(propertiesOf(row.input))].join(' ').toLowerCase()
}

function renderOperation(row: Operation, types: Map<string, Schema>): string {
  const routes = routesOf(row).map(({ method, path }) => `<span class="method ${method}">${method}</span> <code>${escapeHtml(path)}</code>`)
  const [route] = routesOf(row)
  const isJson = row.contentType === undefined
  return `<section id="${row.name}" data-find="${escapeHtml(wordsOf(row))}"><h3>${routes.join(' ')}</h3><p>${renderText(row.description)}</p>
${renderFields('Request', row.input, types)}${route === undefined ? '' : renderExample(row, route)}
${isJson ? renderFields('Answer', row.output, types) : ''}${renderErrors(row)}</section>`
}

/** Renders each type together with the types that it refers to: `types` grows during the iteration. */
function renderTypes(types: Map<string, Schema>): string {
  const shown: string[] = []
  for (const [name, schema] of types) {
    const table = renderFields('Field', untitled(schema), types)
    const meaning = schema.description === undefined ? '' : `<p>${renderText(schema.description)}</p>`
    shown.push(`<section id="type-${name}" data-find="${name.toLowerCase()}"><h3><code>${name}</code></h3>${meaning}${table}</section>`)
  }
  return shown.sort().join('\n')
}

function untitled({ title: _, ...rest }: Schema): Schema {
  return rest
}

/**
 * Fields of an object without a title are listed in the table of its parent, prefixed by the parent's name.
 */
interface Row {
  readonly name: string
  readonly schema: Schema
  readonly required: boolean
  readonly depth: number
}

function rowsOf(schema: Schema, prefix: string, depth: number): Row[] {
  const { required = [] } = schema
  return Object.entries(propertiesOf(schema)).flatMap(([field, of]) => {
    const inner = innerOf(of)
    const row: Row = { name: `${prefix}${field}`, schema: of, required: required.includes(field), depth }
    if (inner === undefined || inner.schema.title !== undefined || depth >= NESTED_MAX) return [row]
    return [row, ...rowsOf(inner.schema, `${prefix}${field}${inner.mark}.`, depth + 1)]
  })
}

/** Returns the object schema of a field: its own, or that of the items of a list or map. */
function innerOf(schema: Schema): { readonly schema: Schema; readonly mark: string } | undefined {
  const { items, additionalProperties, anyOf } = schema
  const inside = items ?? additionalProperties
  if (inside !== undefined && schema.title === undefined) {
    const deeper = innerOf(inside)
    return deeper === undefined ? undefined : { schema: deeper.schema, mark: `${items === undefined ? '.*' : '[]'}${deeper.mark}` }
  }
  if (schema.properties !== undefined || schema.title !== undefined) return { schema, mark: '' }
  return anyOf?.map(innerOf).find((found) => found !== undefined)
}

function renderFields(title: string, schema: Schema, types: Map<string, Schema>): string {
  const { type, items } = schema
  const list = type === 'array' && items !== undefined
  if (list && items.title !== undefined) return `<p>${title}: ${renderType(schema, types)}</p>`
  const rows = rowsOf(list ? items : schema, '', 0).map(({ name, schema: field, required, depth }) => {
    const { description = '', default: standard } = field
    const mark = title === 'Request' && required && depth === 0 ? ' <span class="required">required</span>' : ''
    const fallback = standard === undefined ? '' : ` <span class="dim">Default <code>${escapeHtml(JSON.stringify(standard))}</code>.</span>`
    return `<tr class="depth${depth}"><td><code>${escapeHtml(name)}</code>${mark}</td><td class="dim">${renderType(field, types)}</td><td>${renderText(description)}${fallback}</td></tr>`
  })
  if (rows.length === 0) return type === 'object' && schema.additionalProperties !== undefined ? `<p>${renderType(schema, types)}</p>` : ''
  const heading = list ? `${title}: a list, in which each item has` : title
  return `<div class="scroll"><table><thead><tr><th scope="col">${heading}</th><th scope="col">Type</th><th scope="col">Meaning</th></tr></thead><tbody>${rows.join('')}</tbody></table></div>`
}

/** Returns the type as HTML. A type with a title is a link to its table, and is added to `types`. */
function renderType(schema: Schema, types: Map<string, Schema>): string {
  const { type, items, additionalProperties, title, anyOf, enum: values } = schema
  if (title !== undefined) {
    types.set(title, types.get(title) ?? namedBy(schema))
    return `<a href="#type-${title}">${title}</a>`
  }
  if (values !== undefined) return values.map((value) => `<code>${escapeHtml(value)}</code>`).join(' ')
  if (type === 'array') return `list of ${renderType(items ?? {}, types)}`
  if (type === 'object' && additionalProperties !== undefined) return `map to ${renderType(additionalProperties, types)}`
  const branches = (anyOf ?? []).filter((branch) => Object.keys(branch).length > 0)
  if (branches.length > 0) return branches.map((branch) => renderType(branch, types)).join(' or ')
  return escapeHtml(typeof type === 'object' ? type.join(' or ') : (type ?? 'any'))
}

/**
 * Returns the schema of a title. If its `anyOf` has one branch besides unconstrained ones, that is merged in.
 */
function namedBy(schema: Schema): Schema {
  const [only, ...others] = (schema.anyOf ?? []).filter((branch) => Object.keys(branch).length > 0)
  return only !== undefined && others.length === 0 ? { ...schema, ...only } : schema
}

function renderExample(row: Operation, { method, path: template }: HttpRoute): string {
  const whole = exampleInput(row.input)
  const path = template.replaceAll(/:(\w+)/g, (_, name: string) => textOf(whole[name]))
  const example = Object.fromEntries(Object.entries(whole).filter(([name]) => !template.includes(`/:${name}`)))
  const hasInput = Object.keys(example).length > 0
  const texts = Object.entries(example).flatMap(([name, value]): [string, string][] =>
    typeof value === 'object' ? [] : [[name, String(value)]],
  )
  const query = new URLSearchParams(texts).toString()
  const body = JSON.stringify(example, null, 2)
  const url = method === 'GET' && hasInput ? `${path}?${query}` : path
  const send =
    method === 'GET' || !hasInput ? '' : ` -H 'content-type: application/json' -d '${JSON.stringify(example).replaceAll("'", "'\\''")}'`
  const verb = method === 'GET' ? '' : ` -X ${method}`
  const curl = `curl${verb} '{base_url}${url}'${send}`
  const input = method === 'GET' ? query : body
  return `<pre><button class="copy" type="button">copy</button><code class="curl">${escapeHtml(curl)}</code></pre>
<details data-method="${method}" data-path="${escapeHtml(path)}"><summary>Try it</summary>
<textarea aria-label="${method === 'GET' ? 'Query string' : 'Request body'} of ${escapeHtml(path)}" spellcheck="false">${hasInput ? escapeHtml(input) : ''}</textarea>
<p><button class="send" type="button">Send</button></p><pre class="answer" hidden></pre></details>`
}

function textOf(value: unknown): string {
  return encodeURIComponent(typeof value === 'string' ? value : JSON.stringify(value))
}

function renderErrors(row: Operation): string {
  const [route] = routesOf(row)
  const texts = (route === undefined ? [] : errorsOf(row, route)).map(
    (code) => `<code>${CATALOGUE[code].http}</code> ${escapeHtml(CATALOGUE[code].text)}`,
  )
  return texts.length === 0 ? '' : `<p class="dim">Errors: ${texts.join(' &middot; ')}</p>`
}

/** Escapes the text and renders backquoted parts as code. */
function renderText(text: string): string {
  return escapeHtml(text).replaceAll(/`([^`]+)`/g, '<code>$1</code>')
}

function escapeHtml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;').replaceAll("'", '&#39;')
}
