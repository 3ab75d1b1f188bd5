/**
 * The providers of embeddings over the network: the protocols of Cohere, OpenAI and Voyage AI (that of Ollama
 * is in ollama.ts), the provider that settings select, and the allowed destinations: all destinations of this
 * server's requests, the host that the operator configured for embeddings, and Ollama's default host.
 * Front-end thread.
 */
import type { OutboundPolicy } from '../destination.js'
import { allowedWith } from '../destination.js'
import type { Outbound } from '../safe_fetch.js'
import { PROVIDER_DEFAULTS } from './models.js'
import { ollama } from './ollama.js'
import type { Protocol } from './protocol.js'
import { BadAnswer, indexedRows, listOf, objectOf } from './protocol.js'
import type { EmbeddingProvider } from './provider.js'
import type { EmbeddingObserver, ProviderTimes } from './remote_provider.js'
import { RemoteProvider } from './remote_provider.js'
import type { ProviderSettings } from './settings.js'

/**
 * Cohere's `POST /embed`. The base address selects version 1 or 2 of the interface. 96 texts per request; the
 * provider truncates longer texts. With `embedding_types` both versions return the same format; without it,
 * version 1 returns plain rows.
 */
export const cohere: Protocol = {
  path: '/embed',
  textsMax: 96,
  textBytesMax: 300_000,
  // The longest context is 128 000 tokens. Embeddings do not improve with such long texts.
  cuts: { first: 100_000, second: undefined },
  canEncode: false,
  body: ({ model, texts, role, dimensions }) => ({
    model,
    texts,
    input_type: role === 'query' ? 'search_query' : 'search_document',
    embedding_types: ['float'],
    truncate: 'END',
    ...(dimensions === undefined ? {} : { output_dimension: dimensions }),
  }),
  rows: (answer, count) => {
    const { embeddings } = objectOf(answer)
    if (Array.isArray(embeddings)) return listOf(embeddings, count)
    if (embeddings === undefined || embeddings === null) throw new BadAnswer('the answer has no list of vectors')
    return listOf(objectOf(embeddings).float, count)
  },
}

/**
 * OpenAI's `POST /embeddings`, which many other servers also implement. 2 048 texts and 300 000 tokens per
 * request, 8 192 tokens per text; longer texts are refused. No roles.
 */
export const openai: Protocol = {
  path: '/embeddings',
  textsMax: 2048,
  textBytesMax: 300_000,
  // In most texts a token has more than three bytes. No token has less than one.
  cuts: { first: 24_000, second: 8_000 },
  canEncode: true,
  body: ({ model, texts, dimensions, isEncoded }) => ({
    model,
    input: texts,
    encoding_format: isEncoded ? 'base64' : 'float',
    ...(dimensions === undefined ? {} : { dimensions }),
  }),
  rows: indexedRows,
}

/**
 * Voyage AI's `POST /embeddings`. 1 000 texts and 120 000 tokens per request (older models: 128 texts). The
 * provider truncates longer texts.
 */
export const voyage: Protocol = {
  path: '/embeddings',
  textsMax: 128,
  textBytesMax: 120_000,
  // The longest context is 32 000 tokens, and one text must fit into a request.
  cuts: { first: 100_000, second: undefined },
  canEncode: true,
  body: ({ model, texts, role, dimensions, isEncoded }) => ({
    model,
    input: texts,
    input_type: role,
    truncation: true,
    ...(isEncoded ? { encoding_format: 'base64' } : {}),
    ...(dimensions === undefined ? {} : { output_dimension: dimensions }),
  }),
  rows: indexedRows,
}

interface ProviderParts {
  readonly outbound: Outbound
  readonly observer: EmbeddingObserver
  readonly times?: ProviderTimes
}

/** Settings of a provider that is reached over the network. */
type RemoteSettings = ProviderSettings & { readonly provider: Exclude<ProviderSettings['provider'], 'local'> }

const PROTOCOLS: Readonly<Record<RemoteSettings['provider'], Protocol>> = { openai, ollama, voyage, cohere }

/**
 * Opens no connection.
 * @throws ProviderSettingsError
 */
export function makeProvider(settings: RemoteSettings, { outbound, observer, times }: ProviderParts): EmbeddingProvider {
  return new RemoteProvider(settings, PROTOCOLS[settings.provider], outbound, observer, times)
}

export function isRemote(settings: ProviderSettings): settings is RemoteSettings {
  return settings.provider !== 'local'
}

/** @param operatorUrl SVC_EMBEDDING_API_URL; empty: none */
export function embeddingPolicy(policy: OutboundPolicy, operatorUrl: string): OutboundPolicy {
  return allowedWith(policy, ...[PROVIDER_DEFAULTS.ollama.apiUrl, operatorUrl].filter((url) => url !== ''))
}
