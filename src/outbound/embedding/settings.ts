/**
 * The settings of a provider, from options or from a stored configuration, and their validation. An API key
 * is stored only here and in the headers of a request. Pure.
 */
import { EMBEDDING_DIMENSIONS_MAX, OUTBOUND_URL_BYTES_MAX } from '../../limits/embedding.js'
import type { ProviderName } from './models.js'
import { factsOf, PROVIDER_DEFAULTS, PROVIDER_NAMES, ROLE_SCHEME } from './models.js'

/** UTF-8 bytes of the name of a model. The longest known ones, with an owner and a tag, have some 100. */
const EMBEDDING_MODEL_BYTES_MAX = 256
/** ASCII characters of an API key. The longest known ones have some 200, tokens of a gateway up to 2 000. */
const EMBEDDING_KEY_BYTES_MAX = 4096

export interface ProviderSettings {
  readonly provider: ProviderName
  readonly model: string
  readonly dimensions: number
  /** Empty: no key. */
  readonly apiKey: string
  /** Base address without a trailing slash. Empty for `local`. */
  readonly apiUrl: string
}

/** Describes invalid settings, without the key. */
export class ProviderSettingsError extends Error {
  constructor(
    readonly field: 'provider' | 'model' | 'dimensions' | 'apiKey' | 'apiUrl',
    text: string,
  ) {
    super(text)
    this.name = 'ProviderSettingsError'
  }
}

export function isProviderName(name: string): name is ProviderName {
  return (PROVIDER_NAMES as readonly string[]).includes(name)
}

/** Returns the configured address, or the provider's default. */
export function urlOf({ provider, apiUrl }: Pick<ProviderSettings, 'provider' | 'apiUrl'>): string {
  return apiUrl === '' ? PROVIDER_DEFAULTS[provider].apiUrl : apiUrl.replace(/\/+$/, '')
}

/**
 * Does not check whether a required key is present; the caller does, because a key may be set later.
 * @throws ProviderSettingsError
 */
export function checkSettings({ provider, model, dimensions, apiKey, apiUrl }: ProviderSettings): void {
  const modelBytes = Buffer.byteLength(model)
  if (modelBytes === 0 || modelBytes > EMBEDDING_MODEL_BYTES_MAX || /[^\x21-\x7e]/.test(model))
    throw new ProviderSettingsError('model', `must be a name of at most ${EMBEDDING_MODEL_BYTES_MAX} visible ASCII characters`)
  if (!Number.isInteger(dimensions) || dimensions < 1 || dimensions > EMBEDDING_DIMENSIONS_MAX)
    throw new ProviderSettingsError('dimensions', `must be from 1 to ${EMBEDDING_DIMENSIONS_MAX}`)
  // The key becomes a header value.
  if (apiKey.length > EMBEDDING_KEY_BYTES_MAX || /[^\x21-\x7e]/.test(apiKey))
    throw new ProviderSettingsError('apiKey', `must be at most ${EMBEDDING_KEY_BYTES_MAX} visible ASCII characters`)
  if (provider === 'local') checkLocal(model, dimensions)
  else if (apiUrl !== '') checkApiUrl(apiUrl)
}

function checkLocal(model: string, dimensions: number): void {
  const known = factsOf('local', model).dimensions
  if (known === undefined) throw new ProviderSettingsError('model', 'must be static or minilm')
  if (known !== dimensions) throw new ProviderSettingsError('dimensions', `must be ${known} for the model ${model}`)
}

/**
 * Checks only the syntax. The destination is checked when a request is sent.
 * @throws ProviderSettingsError
 */
export function checkApiUrl(text: string): void {
  if (Buffer.byteLength(text) > OUTBOUND_URL_BYTES_MAX || !URL.canParse(text))
    throw new ProviderSettingsError('apiUrl', `must be an address of at most ${OUTBOUND_URL_BYTES_MAX} bytes`)
  const url = new URL(text)
  if (url.protocol !== 'http:' && url.protocol !== 'https:')
    throw new ProviderSettingsError('apiUrl', 'must begin with http:// or https://')
  if (url.username !== '' || url.password !== '') throw new ProviderSettingsError('apiUrl', 'must not hold credentials')
  if (url.search !== '' || url.hash !== '') throw new ProviderSettingsError('apiUrl', 'must not have a query or a fragment')
}

/** At another address, a server with the same protocol may need no key. */
export function isKeyMissing({ provider, apiKey, apiUrl }: ProviderSettings): boolean {
  const defaults = PROVIDER_DEFAULTS[provider]
  return defaults.needsKey && apiKey === '' && apiUrl === defaults.apiUrl
}

/**
 * Vectors of two settings are comparable if their variants are equal. Address and key are not part of the
 * variant: a model is the same wherever it runs.
 */
export function variantOf({ provider, model, dimensions }: Pick<ProviderSettings, 'provider' | 'model' | 'dimensions'>): string {
  return `${provider}/${model}/${dimensions}/r${ROLE_SCHEME}`
}
