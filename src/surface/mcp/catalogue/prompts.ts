/**
 * Prompts of MCP: texts that a user chooses, and which ask the model to work with the server. Those about a
 * collection contain what the caller may see of it. Thread of MCP.
 */
import { MCP_ANSWER_TOKENS_DEFAULT } from '../../../limits/surfaces.js'
import { factOf } from '../../../wire/answer.js'
import { type Argument, argument, required } from './arguments/argument.js'
import { type Arguments, badArgument, readArguments } from './arguments/argument_values.js'
import type { CallContext } from './call.js'
import { isRefusal, jsonOf, refusalError } from './results/answers.js'
import { cutToTokens } from './results/token_budget.js'
import { UNTRUSTED_NOTICE } from './texts.js'

/** Documents that a prompt shows the beginnings of, where nothing or more is asked for. */
const PROMPT_DOCUMENTS_DEFAULT = 20
const PROMPT_DOCUMENTS_MAX = 100
/** Characters of such a beginning. */
const PROMPT_EXCERPT_CHARS = 400
/** Metadata keys and values of each that a prompt shows. */
const PROMPT_META_KEYS_MAX = 50
const PROMPT_META_VALUES_MAX = 10

/** A prompt has at most two parts that come from documents. */
const PART_TOKENS_MAX = MCP_ANSWER_TOKENS_DEFAULT / 2

interface Prompt {
  readonly name: string
  readonly title: string
  readonly description: string
  readonly arguments: readonly Argument[]
  readonly text: (given: Arguments, context: CallContext) => Promise<string> | string
}

const IMPORT_SOURCES = ['wordpress', 'url', 'file', 'api', 'scraping'] as const

const collection = required(argument('collection', 'string', 'Name of the collection.'))

const PROMPTS: readonly Prompt[] = [
  {
    name: 'analyze-collection',
    title: 'Analyze a collection',
    description: 'Describes what a collection contains, from its metadata and its newest documents.',
    arguments: [collection],
    text: async ({ collection: name }, context) => {
      const [meta, newest] = await Promise.all([metaOf(name, context), beginningsOf(name, PROMPT_DOCUMENTS_DEFAULT, context)])
      return [
        `Analyze the collection "${String(name)}" of the document database: what it is about, how it is organised, and what is missing or inconsistent.`,
        `Its metadata keys, with some of their values:\n${meta}`,
        `Its newest documents:\n${newest}`,
        UNTRUSTED_NOTICE,
        'Call aggregate for counts, and search_documents with `fields` for more documents. End with three suggestions.',
      ].join('\n\n')
    },
  },
  {
    name: 'search-help',
    title: 'Choose a search',
    description: 'Explains which search tool fits a use case, and with which arguments.',
    arguments: [required(argument('use_case', 'string', 'What is to be found.'))],
    text: ({ use_case: useCase }) =>
      [
        `I want to find this in the document database: ${String(useCase)}`,
        'Choose among these tools, and say why:',
        '- search_documents: exact metadata, sorted and paginated, without a query\n- full_text_search: words, phrases, AND, OR, NOT and wild*cards\n- semantic_search: meaning, needs embedded documents (vector_stats tells)\n- hybrid_search: words and meaning at once\n- cross_search: meaning, over several collections\n- aggregate: counts instead of documents',
        'get_meta_keys lists what filter_meta can name. Use `fields` for an overview before you read whole documents. Then run the search.',
      ].join('\n\n'),
  },
  {
    name: 'summarize-collection',
    title: 'Summarize a collection',
    description: 'Summarizes the newest documents of a collection.',
    arguments: [collection, argument('limit', 'integer', 'Number of documents.', { fallback: PROMPT_DOCUMENTS_DEFAULT })],
    text: async ({ collection: name, limit = PROMPT_DOCUMENTS_DEFAULT }, context) => {
      const count = Math.min(Math.max(1, Number(limit)), PROMPT_DOCUMENTS_MAX)
      return [
        `Summarize the collection "${String(name)}" of the document database in a few paragraphs, by topic.`,
        `The beginnings of its newest documents:\n${await beginningsOf(name, count, context)}`,
        UNTRUSTED_NOTICE,
        'Name the key of each document that you refer to. Call get_document where a beginning does not suffice.',
      ].join('\n\n')
    },
  },
  {
    name: 'import-guide',
    title: 'Import documents',
    description: 'Explains how to bring documents from a source into the database.',
    arguments: [required(argument('source', 'string', 'Where the documents come from.', { known: IMPORT_SOURCES }))],
    text: ({ source }) => {
      const known = IMPORT_SOURCES.find((each) => each === source)
      if (known === undefined) throw badArgument(`invalid argument source: one of ${IMPORT_SOURCES.join(', ')} expected`)
      return [
        `Guide me through importing documents into the document database. ${IMPORTS[known]}`,
        'A document has a collection, a key that is unique in it, a language, Markdown text, and metadata: each key has a list of strings. Agree on keys and metadata with me first, and write one document with add_document as a trial. Then use add_documents_batch, with at most 500 documents a call, and report what failed.',
      ].join('\n\n')
    },
  },
  {
    name: 'rag-pipeline',
    title: 'Answer from a collection',
    description: 'Sets up retrieval-augmented answers from a collection.',
    arguments: [collection, argument('model', 'string', 'Language model that answers.')],
    text: async ({ collection: name, model }, context) =>
      [
        `Answer my questions from the collection "${String(name)}" of the document database${typeof model === 'string' ? `, as the model ${model}` : ''}.`,
        `Its metadata keys, with some of their values:\n${await metaOf(name, context)}`,
        'For each question: search with hybrid_search (retrieval_mode "chunk" where it is offered), narrow with filter_meta, read the best documents with get_document if passages do not suffice, and answer from them alone. Name the keys of your sources. Say so if the collection has no answer.',
        UNTRUSTED_NOTICE,
      ].join('\n\n'),
  },
]

const IMPORTS: Readonly<Record<(typeof IMPORT_SOURCES)[number], string>> = {
  wordpress:
    'The source is a WordPress site: read its posts from /wp-json/wp/v2/posts, turn the HTML into Markdown, and keep slug, categories, tags and date as metadata.',
  url: 'The source is web pages: fetch each one, keep its main text as Markdown and its address as metadata `source_url`.',
  file: 'The source is files: derive keys from their paths, and metadata from their frontmatter. On the machine of the server, `mds import` does this for whole folders.',
  api: 'The source is an API: page through it, derive keys from the ids, and keep the fields to filter by as metadata.',
  scraping:
    'The source is scraped pages: keep `source_url`, `scraped_at` and `scraper` as metadata, and write a page again under the same key when it has changed.',
}

/** As `prompts/list` shows them. */
export const LISTED_PROMPTS: readonly object[] = PROMPTS.map(({ name, title, description, arguments: known }) => ({
  name,
  title,
  description,
  arguments: known.map((one) => ({ name: one.name, description: describe(one), required: one.isRequired })),
}))

function describe({ description, known }: Argument): string {
  return known === undefined ? description : `${description} One of: ${known.join(', ')}.`
}

/** @throws CatalogueError for an unknown prompt, bad arguments, a collection that the caller may not read */
export async function getPrompt(name: string, args: Arguments, context: CallContext): Promise<object> {
  const prompt = PROMPTS.find((each) => each.name === name)
  if (prompt === undefined) throw badArgument(`unknown prompt: ${name.slice(0, 100)}`)
  const text = await prompt.text(readArguments(prompt.arguments, args), context)
  return { description: prompt.description, messages: [{ role: 'user', content: { type: 'text', text } }] }
}

/** Names of arguments of a prompt, and their values where they are known. */
export function argumentOf(prompt: unknown, name: unknown): Argument | undefined {
  return PROMPTS.find((each) => each.name === prompt)?.arguments.find((one) => one.name === name)
}

async function metaOf(collectionName: unknown, { ask }: CallContext): Promise<string> {
  const answer = await ask('metaKeys', { collection: collectionName })
  if (isRefusal(answer)) throw refusalError(answer)
  const { meta } = jsonOf(answer) as { readonly meta: Readonly<Record<string, readonly string[]>> }
  const keys = Object.entries(meta).slice(0, PROMPT_META_KEYS_MAX)
  if (keys.length === 0) return '(none)'
  const lines = keys.map(([key, values]) => `- ${key}: ${values.slice(0, PROMPT_META_VALUES_MAX).join(', ')}`)
  return cutToTokens(lines, PART_TOKENS_MAX).join('\n')
}

async function beginningsOf(collectionName: unknown, limit: number, { ask }: CallContext): Promise<string> {
  const answer = await ask('search', { collection: collectionName, sort: 'updatedAt', asc: false, limit })
  if (isRefusal(answer)) throw refusalError(answer)
  const documents = jsonOf(answer) as readonly { readonly key: string; readonly lang: string; readonly contentMd: string }[]
  if (documents.length === 0) return '(none)'
  const total = factOf(answer.facts, 'total') ?? String(documents.length)
  const shown = documents.map(({ key, lang, contentMd }) => `### ${key} (${lang})\n${contentMd.slice(0, PROMPT_EXCERPT_CHARS)}`)
  const kept = cutToTokens(shown, PART_TOKENS_MAX)
  return `${kept.join('\n\n')}\n\n(${kept.length} of ${total} documents)`
}
