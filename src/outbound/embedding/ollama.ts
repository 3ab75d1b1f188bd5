/**
 * Ollama's `POST /api/embed`. The server truncates longer texts. Roles are text prefixes (models.ts). Also
 * detects which of the preferred models a local server has, if nothing is configured. Front-end thread.
 */
import { EMBEDDING_ANSWER_FRAME_BYTES } from '../../limits/embedding.js'
import { isListening } from '../listening.js'
import type { Outbound } from '../safe_fetch.js'
import { dimensionsOf, PREFERRED_OLLAMA_MODELS, PROVIDER_DEFAULTS } from './models.js'
import type { Protocol } from './protocol.js'
import { listOf, objectOf } from './protocol.js'
import type { ProviderSettings } from './settings.js'

/**
 * Time for a start's request to a local Ollama. A running one answers in a few milliseconds, and no other
 * work waits for the request.
 */
const OLLAMA_DETECTION_MS_MAX = 1000

export const ollama: Protocol = {
  path: '/api/embed',
  // The server processes texts one after another, so a large request only delays others.
  textsMax: 32,
  textBytesMax: 300_000,
  cuts: { first: 100_000, second: undefined },
  canEncode: false,
  body: ({ model, texts, dimensions }) => ({ model, input: texts, truncate: true, ...(dimensions === undefined ? {} : { dimensions }) }),
  rows: (answer, count) => listOf(objectOf(answer).embeddings, count),
}

/** Whether a local server may be there: cheap, where most machines have none. */
export function isOllamaListening(): Promise<boolean> {
  return isListening(PROVIDER_DEFAULTS.ollama.apiUrl, OLLAMA_DETECTION_MS_MAX)
}

/**
 * Returns the first preferred model that the local server has, with its default dimensions. Returns undefined
 * if there is no server, none of the models, or no response in time. Never rejects.
 */
export async function detectOllama(outbound: Outbound): Promise<ProviderSettings | undefined> {
  const apiUrl = PROVIDER_DEFAULTS.ollama.apiUrl
  try {
    const { status, body } = await outbound.safeFetch({
      url: `${apiUrl}/api/tags`,
      msMax: OLLAMA_DETECTION_MS_MAX,
      bytesMax: EMBEDDING_ANSWER_FRAME_BYTES,
      redirectsMax: 0,
    })
    if (status !== 200) return undefined
    const { models } = objectOf(JSON.parse(body.toString('utf8')))
    if (!Array.isArray(models)) return undefined
    const names = new Set(models.map((model) => String(objectOf(model).name).replace(/:latest$/, '')))
    const model = PREFERRED_OLLAMA_MODELS.find((name) => names.has(name))
    if (model === undefined) return undefined
    return { provider: 'ollama', model, dimensions: dimensionsOf('ollama', model), apiKey: '', apiUrl }
  } catch {
    return undefined
  }
}
