/**
 * Vectors of the texts in a request, on the lane that runs it. Cached vectors are used. If some are missing,
 * the request suspends: it returns to the front end with the texts, which asks the provider
 * (src/background/embedding/texts.ts), and is retried. Read lanes and the bulk lane.
 */
import { badRequest, serviceError } from '../../errors.js'
import type { EmbeddingRole } from '../../outbound/embedding/provider.js'
import type { EmbeddingIdentity } from './embedding_identity.js'

/** Texts of one request that need vectors: 100 labels, the text to classify, and a margin. */
export const EMBEDDINGS_WANTED_MAX = 128

/** Control flow, not an error: the request suspends until these texts have vectors, and is retried. */
export class EmbeddingsWanted extends Error {
  /** @param isOptional the request runs without the vectors if no provider is available */
  constructor(
    readonly texts: readonly string[],
    readonly role: EmbeddingRole,
    readonly isOptional: boolean,
  ) {
    super('vectors of texts are wanted')
    this.name = 'EmbeddingsWanted'
  }
}

/** The cache entry of one text. */
interface CachedVector {
  /** Undefined: the provider returned none. */
  readonly vector: Float32Array | undefined
  /**
   * Called once a request uses the vector: counts the hit, and removes a vector that serves one request only.
   */
  readonly use: () => void
}

/** The cache of vectors, which all threads of the process share. */
export interface VectorCache {
  /** Undefined if the text has no entry, or an expired one. */
  find(variant: string, role: EmbeddingRole, text: string): CachedVector | undefined
}

export interface TextVectorTools {
  readonly embedding: { readonly current: EmbeddingIdentity | undefined }
  readonly vectorCache: VectorCache
}

interface TextVectors {
  readonly identity: EmbeddingIdentity
  /** In the order of the texts. The caller owns them. */
  readonly vectors: readonly Float32Array[]
}

/**
 * @param texts none may be empty
 * @throws EmbeddingsWanted; ServiceError 400 without a provider, or for too many texts at once
 */
export function vectorsOfTexts(tools: TextVectorTools, texts: readonly string[], role: EmbeddingRole): TextVectors {
  const found = lookUp(tools, texts, role, false)
  if (found === undefined) throw serviceError('noEmbeddingProvider')
  return found
}

/** Undefined without a provider, or while the provider is unavailable. @throws EmbeddingsWanted */
export function vectorsOfTextsIfAny(tools: TextVectorTools, texts: readonly string[], role: EmbeddingRole): TextVectors | undefined {
  return lookUp(tools, texts, role, true)
}

function lookUp(
  { embedding, vectorCache }: TextVectorTools,
  texts: readonly string[],
  role: EmbeddingRole,
  isOptional: boolean,
): TextVectors | undefined {
  const identity = embedding.current
  if (identity === undefined) return undefined
  if (texts.length > EMBEDDINGS_WANTED_MAX) throw badRequest(`more than ${EMBEDDINGS_WANTED_MAX} texts to embed`)
  const found = texts.map((text) => vectorCache.find(identity.variant, role, text))
  if (isOptional && found.some((each) => each !== undefined && each.vector === undefined)) return undefined
  const missing = texts.filter((_, at) => found[at]?.vector?.length !== identity.dimensions)
  if (missing.length > 0) throw new EmbeddingsWanted([...new Set(missing)], role, isOptional)
  for (const each of found) each?.use()
  return { identity, vectors: found.flatMap((each) => each?.vector ?? []) }
}
