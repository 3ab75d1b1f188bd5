/** Resources of MCP: state of the server, documents, and searches by metadata. Thread of MCP. */
import { MCP_ANSWER_TOKENS_DEFAULT } from '../../../limits/surfaces.js'
import { factOf } from '../../../wire/answer.js'
import { textOf } from '../../../wire/answer.js'
import type { CallContext } from './call.js'
import { CatalogueError, RESOURCE_NOT_FOUND } from './catalogue_error.js'
import { readResourceUri, type ResourceUri } from './resource_uri.js'
import { isRefusal, jsonOf, refusalError } from './results/answers.js'
import { shownAnswer, wantedParts } from './results/shown_documents.js'
import { boundedText } from './results/tool_result.js'
import { UNTRUSTED_NOTICE } from './texts.js'

/** Documents of a search resource that names no limit. */
const SEARCH_RESOURCE_LIMIT = 10

const JSON_TYPE = 'application/json'
const MARKDOWN_TYPE = 'text/markdown'
/** A resource has no arguments: it shows what a search tool shows by default. */
const NOTHING_ASKED = {}
const DOCUMENTS = { answers: 'documents' } as const

export const RESOURCES: readonly object[] = [
  {
    uri: 'mddb://health',
    name: 'health',
    title: 'Health of the server',
    description: 'Whether the server can be used, and what limits it.',
    mimeType: JSON_TYPE,
  },
  {
    uri: 'mddb://stats',
    name: 'stats',
    title: 'Statistics of the server',
    description: 'Collections with their numbers of documents and revisions. Needs the rights of an administrator.',
    mimeType: JSON_TYPE,
  },
]

export const RESOURCE_TEMPLATES: readonly object[] = [
  {
    uriTemplate: 'mddb://{collection}/{key}?lang={lang}',
    name: 'document',
    title: 'Document',
    description: 'The Markdown text of a document. Names are percent-encoded.',
    mimeType: MARKDOWN_TYPE,
  },
  {
    uriTemplate: 'mddb-search://{collection}?meta.{key}={value}&limit=10',
    name: 'search',
    title: 'Documents by metadata',
    description:
      'Documents of a collection with the given metadata. `meta.KEY` may be repeated: values of one key are alternatives. `limit`, `offset` and `sort` are optional.',
    mimeType: JSON_TYPE,
  },
]

interface Contents {
  readonly contents: readonly object[]
}

/** @throws CatalogueError RESOURCE_NOT_FOUND, or another one for a refusal */
export async function readResource(uri: string, context: CallContext): Promise<Contents> {
  const named = readResourceUri(uri)
  if (named === null) throw notFound(uri)
  switch (named.kind) {
    case 'health': {
      // Answers of an unhealthy server are refusals with the same body.
      const answer = await context.ask('health', {})
      return contents(uri, JSON_TYPE, textOf(answer))
    }
    case 'stats':
      return contents(uri, JSON_TYPE, textOf(await asked(uri, context, 'stats', {})))
    case 'document':
      return await readDocument(uri, named, context)
    case 'search':
      return await readSearch(uri, named, context)
  }
}

async function readDocument(
  uri: string,
  { collection, key, lang }: Extract<ResourceUri, { kind: 'document' }>,
  context: CallContext,
): Promise<Contents> {
  const { contentMd } = jsonOf(await asked(uri, context, 'get', { collection, key, lang })) as { readonly contentMd: string }
  return contents(uri, MARKDOWN_TYPE, contentMd, true)
}

async function readSearch(
  uri: string,
  { collection, parameters }: Extract<ResourceUri, { kind: 'search' }>,
  context: CallContext,
): Promise<Contents> {
  const wanted = new Map<string, string[]>()
  const page: Record<string, unknown> = { limit: SEARCH_RESOURCE_LIMIT }
  for (const [name, value] of parameters) {
    if (name.startsWith('meta.')) {
      const key = name.slice('meta.'.length)
      wanted.set(key, [...(wanted.get(key) ?? []), value])
    } else if (name === 'sort') page.sort = value
    else if (name === 'limit' || name === 'offset') page[name] = /^\d{1,9}$/.test(value) ? Number(value) : value
  }
  // From entries: a key such as `__proto__` would be lost, or found where nothing was set.
  const filterMeta = Object.fromEntries(wanted)
  const answer = await asked(uri, context, 'search', { collection, filterMeta, ...wantedParts(NOTHING_ASKED), ...page })
  const found = shownAnswer(jsonOf(answer), NOTHING_ASKED, Number(factOf(answer.facts, 'total') ?? 0))
  return contents(uri, JSON_TYPE, boundedText(found, DOCUMENTS, MCP_ANSWER_TOKENS_DEFAULT).text, true)
}

async function asked(
  uri: string,
  { ask }: CallContext,
  operation: string,
  input: object,
): Promise<Awaited<ReturnType<CallContext['ask']>>> {
  const answer = await ask(operation, input)
  if (!isRefusal(answer)) return answer
  if (answer.code === 'notFound') throw notFound(uri)
  throw refusalError(answer)
}

/** The text itself stays what it is, so the notice is beside it. */
function contents(uri: string, mimeType: string, text: string, isUntrusted = false): Contents {
  return { contents: [{ uri, mimeType, text, ...(isUntrusted ? { _meta: { 'mddb/notice': UNTRUSTED_NOTICE } } : {}) }] }
}

function notFound(uri: string): CatalogueError {
  return new CatalogueError(RESOURCE_NOT_FOUND, 'resource not found', { uri })
}
