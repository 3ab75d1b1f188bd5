/**
 * Reads the embedding provider from the options. Its key comes from a variable or the configuration file,
 * never from a flag. An invalid provider is refused here, in one line without the key. Main thread, at start.
 */
import { dimensionsOf, PROVIDER_DEFAULTS } from '../outbound/embedding/models.js'
import type { ProviderSettings } from '../outbound/embedding/settings.js'
import { checkApiUrl, checkSettings, isKeyMissing, ProviderSettingsError, urlOf } from '../outbound/embedding/settings.js'
import type { VectorOptionValues } from './options/vector_options.js'
import { ConfigError } from './sources.js'

export const EMBEDDING_KEY_VARIABLE = 'SVC_EMBEDDING_API_KEY'
export const EMBEDDING_KEY_YAML = 'embedding.apiKey'

const VARIABLES: Readonly<Record<ProviderSettingsError['field'], string>> = {
  provider: 'SVC_EMBEDDING_PROVIDER',
  model: 'SVC_EMBEDDING_MODEL',
  dimensions: 'SVC_EMBEDDING_DIMENSIONS',
  apiKey: EMBEDDING_KEY_VARIABLE,
  apiUrl: 'SVC_EMBEDDING_API_URL',
}

/**
 * @returns null if no provider is configured
 * @throws ConfigError
 */
export function readEmbedding(
  values: VectorOptionValues,
  env: NodeJS.ProcessEnv,
  yaml: ReadonlyMap<string, string>,
): ProviderSettings | null {
  const { embeddingProvider: provider, embeddingDimensions, embeddingModel, embeddingApiUrl: apiUrl } = values
  // Checked even if no provider is named, because stored configurations may use its host.
  if (apiUrl !== '') checkedBy(() => checkApiUrl(apiUrl))
  if (provider === undefined || provider === 'none') return null
  const model = embeddingModel === '' ? PROVIDER_DEFAULTS[provider].model : embeddingModel
  const settings = {
    provider,
    model,
    dimensions: embeddingDimensions === 0 ? dimensionsOf(provider, model) : embeddingDimensions,
    apiKey: (env[EMBEDDING_KEY_VARIABLE] || yaml.get(EMBEDDING_KEY_YAML) || '').trim(),
    apiUrl: urlOf({ provider, apiUrl: provider === 'local' ? '' : apiUrl }),
  }
  checkedBy(() => checkSettings(settings))
  if (isKeyMissing(settings)) throw new ConfigError(`SVC_EMBEDDING_PROVIDER=${provider} needs ${EMBEDDING_KEY_VARIABLE}`)
  return settings
}

/** @throws ConfigError for a ProviderSettingsError of `check` */
function checkedBy(check: () => void): void {
  try {
    check()
  } catch (error) {
    if (!(error instanceof ProviderSettingsError)) throw error
    throw new ConfigError(`${VARIABLES[error.field]}: ${error.message}`)
  }
}
