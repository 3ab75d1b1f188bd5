/**
 * Creates a network provider from its settings. Also defines the allowed destinations of embedding requests:
 * all destinations of this server's requests, the host that the operator configured for embeddings, and
 * Ollama's default host. Front-end thread.
 */
import type { OutboundPolicy } from '../destination.js'
import { allowedWith } from '../operator_url.js'
import type { Outbound } from '../safe_fetch.js'
import { cohere } from './cohere.js'
import { PROVIDER_DEFAULTS } from './models.js'
import { ollama } from './ollama.js'
import { openai } from './openai.js'
import type { Protocol } from './protocol.js'
import type { EmbeddingProvider } from './provider.js'
import { RemoteProvider, type EmbeddingObserver, type ProviderTimes } from './remote_provider.js'
import type { ProviderSettings } from './settings.js'
import { voyage } from './voyage.js'

export interface ProviderParts {
  readonly outbound: Outbound
  readonly observer: EmbeddingObserver
  readonly times?: ProviderTimes
}

/** Settings of a provider that is reached over the network. */
export type RemoteSettings = ProviderSettings & { readonly provider: Exclude<ProviderSettings['provider'], 'local'> }

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
