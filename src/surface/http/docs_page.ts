/**
 * The reference page: HTML from the table of operations, complete in itself (no CDN, no other file). Built once, on the front-end thread. Every text is escaped here;
 * the policy below allows the page's own style and script and nothing else.
 */
import { createHash } from 'node:crypto'
import { CATALOGUE } from '../../errors.js'
import type { Schema } from '../../operations/json_schema.js'
import type { HttpRoute, Operation } from '../../operations/operation.js'
import { INTERFACE_VERSION } from '../../version.js'
import { DOCS_SCRIPT, DOCS_STYLE } from './docs_assets.js'
import { errorsOf, exampleInput, propertiesOf, requiredOf } from './openapi.js'

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

export function buildDocsPage(operations: readonly Operation[]): string {
  const groups = [...new Set(operations.map((row) => row.group))]
  const navigation = groups.map((group) => {
    const links = operations
      .filter((row) => row.group === group)
      .map((row) => `<a href="#${row.name}">${escapeHtml(row.http[0]?.path ?? row.name)}</a>`)
    return `<h2>${escapeHtml(group)}</h2>${links.join('')}`
  })
  const sections = groups.map((group) => {
    const rows = operations.filter((row) => row.group === group)
    return `<h2>${escapeHtml(group)}</h2>${rows.map(renderOperation).join('\n')}`
  })
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>Markdown Document Service: reference</title><style>${DOCS_STYLE}</style></head>
<body><nav aria-label="Operations">${navigation.join('')}</nav>
<main><h1>Markdown Document Service</h1>
<p>Interface version ${INTERFACE_VERSION}. Requests and answers are JSON; unknown fields are ignored, and null means the same as leaving a field out.
Errors have the form <code>{"error": "..."}</code>. The same as an OpenAPI 3.1 document: <a href="/openapi.json">/openapi.json</a>.</p>
${sections.join('\n')}
</main><script>${DOCS_SCRIPT}</script></body></html>
`
}

function renderOperation(row: Operation): string {
  const routes = row.http.map(({ method, path }) => `<span class="method ${method}">${method}</span> <code>${escapeHtml(path)}</code>`)
  const route = row.http[0]
  const isJson = row.contentType === undefined
  return `<section id="${row.name}"><h3>${routes.join(' ')}</h3><p>${renderText(row.description)}</p>
${renderFields('Request', row.input)}${route === undefined ? '' : renderExample(row, route)}
${isJson ? renderFields('Answer', row.output) : ''}${renderErrors(row)}</section>`
}

function renderFields(title: string, schema: Schema): string {
  const { type, items } = schema
  const list = type === 'array' && items !== undefined
  const properties = Object.entries(propertiesOf(list ? items : schema))
  if (properties.length === 0) return ''
  const required = requiredOf(list ? items : schema)
  const rows = properties.map(([name, field]) => {
    const { description = '', default: standard } = field
    const mark = title === 'Request' && required.includes(name) ? ' <span class="required">required</span>' : ''
    const fallback = standard === undefined ? '' : ` <span class="dim">Default <code>${escapeHtml(JSON.stringify(standard))}</code>.</span>`
    return `<tr><td><code>${escapeHtml(name)}</code>${mark}</td><td class="dim">${escapeHtml(typeOf(field))}</td><td>${renderText(description)}${fallback}</td></tr>`
  })
  const heading = list ? `${title}: a list, in which each item has` : title
  return `<div class="scroll"><table><thead><tr><th scope="col">${heading}</th><th scope="col">Type</th><th scope="col">Meaning</th></tr></thead><tbody>${rows.join('')}</tbody></table></div>`
}

function typeOf(schema: Schema): string {
  const { type, items, additionalProperties, title, anyOf } = schema
  if (title !== undefined) return title
  if (type === 'array') return `list of ${typeOf(items ?? {})}`
  if (type === 'object' && additionalProperties !== undefined) return `map to ${typeOf(additionalProperties)}`
  const known = anyOf?.[0]?.enum
  if (known !== undefined) return known.join(', ')
  return typeof type === 'object' ? type.join(' or ') : (type ?? 'any')
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
  const hasBody = row.http.some(({ method }) => method !== 'GET') && Object.keys(propertiesOf(row.input)).length > 0
  const texts = errorsOf(row, hasBody).map((code) => `<code>${CATALOGUE[code].http}</code> ${escapeHtml(CATALOGUE[code].text)}`)
  return texts.length === 0 ? '' : `<p class="dim">Errors: ${texts.join(' &middot; ')}</p>`
}

/** Escaped text in which `code` marks stand for code. */
function renderText(text: string): string {
  return escapeHtml(text).replaceAll(/`([^`]+)`/g, '<code>$1</code>')
}

function escapeHtml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;').replaceAll("'", '&#39;')
}
