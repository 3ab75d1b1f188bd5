/**
 * Known facts about providers and models: defaults, dimensions, and the prefixes that a model expects before
 * a text. Sources: the providers' references and the models' cards. A changed prefix changes the vectors;
 * then `ROLE_SCHEME` must be incremented, which changes every variant. Pure data.
 */

export const PROVIDER_NAMES = ['openai', 'ollama', 'voyage', 'cohere', 'local'] as const
export type ProviderName = (typeof PROVIDER_NAMES)[number]

interface ProviderDefaults {
  readonly model: string
  readonly dimensions: number
  /** Without a trailing slash. Empty: no requests are sent. */
  readonly apiUrl: string
  readonly needsKey: boolean
}

export const PROVIDER_DEFAULTS: Readonly<Record<ProviderName, ProviderDefaults>> = {
  openai: { model: 'text-embedding-3-small', dimensions: 1536, apiUrl: 'https://api.openai.com/v1', needsKey: true },
  ollama: { model: 'nomic-embed-text', dimensions: 768, apiUrl: 'http://localhost:11434', needsKey: false },
  voyage: { model: 'voyage-3', dimensions: 1024, apiUrl: 'https://api.voyageai.com/v1', needsKey: true },
  cohere: { model: 'embed-english-v3.0', dimensions: 1024, apiUrl: 'https://api.cohere.ai/v1', needsKey: true },
  local: { model: 'static', dimensions: 256, apiUrl: '', needsKey: false },
}

/** Version of the prefixes below; part of every variant. */
export const ROLE_SCHEME = 1

/** Ollama models that are detected when nothing is configured. The first available one is used. */
export const PREFERRED_OLLAMA_MODELS = ['nomic-embed-text', 'mxbai-embed-large', 'snowflake-arctic-embed', 'bge-m3', 'all-minilm'] as const

export interface ModelFacts {
  readonly dimensions?: number
  /** The model was trained for truncated vectors: the API's parameter for fewer dimensions may be used. */
  readonly isShortenable?: boolean
  readonly documentPrefix?: string
  readonly queryPrefix?: string
}

const QUESTION = 'Represent this sentence for searching relevant passages: '

/** Matched by the prefix of the model's name, lower-case and without its owner. The first match is used. */
const MODELS: readonly (readonly [beginning: string, facts: ModelFacts])[] = [
  ['text-embedding-3-small', { dimensions: 1536, isShortenable: true }],
  ['text-embedding-3-large', { dimensions: 3072, isShortenable: true }],
  ['text-embedding-ada-002', { dimensions: 1536 }],
  ['voyage-3-lite', { dimensions: 512 }],
  ['voyage-3-large', { dimensions: 1024, isShortenable: true }],
  ['voyage-3.5', { dimensions: 1024, isShortenable: true }],
  ['voyage-4', { dimensions: 1024, isShortenable: true }],
  ['voyage-code-3', { dimensions: 1024, isShortenable: true }],
  ['voyage-code-2', { dimensions: 1536 }],
  ['voyage-large-2-instruct', { dimensions: 1024 }],
  ['voyage-large-2', { dimensions: 1536 }],
  ['voyage', { dimensions: 1024 }],
  ['embed-v4', { dimensions: 1536, isShortenable: true }],
  ['embed-english-light', { dimensions: 384 }],
  ['embed-multilingual-light', { dimensions: 384 }],
  ['embed-', { dimensions: 1024 }],
  ['nomic-embed', { dimensions: 768, isShortenable: true, documentPrefix: 'search_document: ', queryPrefix: 'search_query: ' }],
  ['mxbai-embed-large', { dimensions: 1024, isShortenable: true, queryPrefix: QUESTION }],
  ['snowflake-arctic-embed2', { dimensions: 1024, isShortenable: true, queryPrefix: 'query: ' }],
  ['snowflake-arctic-embed', { dimensions: 1024, queryPrefix: QUESTION }],
  ['bge-m3', { dimensions: 1024 }],
  ['bge-large-zh', { dimensions: 1024 }],
  ['bge-large', { dimensions: 1024, queryPrefix: QUESTION }],
  ['bge-base-en', { dimensions: 768, queryPrefix: QUESTION }],
  ['bge-small-en', { dimensions: 384, queryPrefix: QUESTION }],
  ['all-minilm', { dimensions: 384 }],
  ['paraphrase-multilingual', { dimensions: 768 }],
  ['granite-embedding', { dimensions: 384 }],
  [
    'embeddinggemma',
    { dimensions: 768, isShortenable: true, documentPrefix: 'title: none | text: ', queryPrefix: 'task: search result | query: ' },
  ],
  [
    'qwen3-embedding',
    {
      isShortenable: true,
      queryPrefix: 'Instruct: Given a web search query, retrieve relevant passages that answer the query\nQuery:',
    },
  ],
  [
    'multilingual-e5-large-instruct',
    { dimensions: 1024, queryPrefix: 'Instruct: Given a web search query, retrieve relevant passages that answer the query\nQuery: ' },
  ],
  ['multilingual-e5-large', { dimensions: 1024, documentPrefix: 'passage: ', queryPrefix: 'query: ' }],
  ['multilingual-e5-base', { dimensions: 768, documentPrefix: 'passage: ', queryPrefix: 'query: ' }],
  ['multilingual-e5-small', { dimensions: 384, documentPrefix: 'passage: ', queryPrefix: 'query: ' }],
]

/** Models of the local provider, by their exact names. */
const LOCAL_MODELS: Readonly<Record<string, ModelFacts>> = { static: { dimensions: 256 }, minilm: { dimensions: 384 } }

const UNKNOWN: ModelFacts = {}

export function factsOf(provider: ProviderName, model: string): ModelFacts {
  if (provider === 'local') return LOCAL_MODELS[model] ?? UNKNOWN
  const name = model.slice(model.lastIndexOf('/') + 1).toLowerCase()
  return MODELS.find(([beginning]) => name.startsWith(beginning))?.[1] ?? UNKNOWN
}

/** The default if a configuration sets no dimensions. */
export function dimensionsOf(provider: ProviderName, model: string): number {
  return factsOf(provider, model).dimensions ?? PROVIDER_DEFAULTS[provider].dimensions
}
