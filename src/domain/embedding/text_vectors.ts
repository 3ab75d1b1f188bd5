/**
 * Vectors of texts that a request brings, on the lane that runs it: those at hand in native memory, else the request goes to the front end with the texts, which asks the provider, and runs again
 * (src/background/embedding/texts.ts). Read lanes and the bulk lane.
 */
import { decodeHeldVector, encodeHeldVector, heldVectorId } from '../../wire/text_vectors.js'
import type { EmbeddingIdentity } from '../../wire/embedding_block.js'
import type { HeldBodies } from '../../engine/held_bodies.js'
import { badRequest, serviceError } from '../../errors.js'
import { EMBEDDINGS_WANTED_MAX } from '../../limits.js'
import type { EmbeddingRole } from '../../outbound/embedding/provider.js'
import { threadTelemetry } from '../../telemetry/registry.js'

/** Not an error of anybody's: the request waits for the vectors of these texts, and runs again. */
export class EmbeddingsWanted extends Error {
  /** @param isOptional the request does without where they can't be had */
  constructor(
    readonly texts: readonly string[],
    readonly role: EmbeddingRole,
    readonly isOptional: boolean,
  ) {
    super('vectors of texts are wanted')
    this.name = 'EmbeddingsWanted'
  }
}

export interface TextVectorTools {
  readonly embedding: { readonly current: EmbeddingIdentity | undefined }
  readonly held: HeldBodies
}

export interface TextVectors {
  readonly identity: EmbeddingIdentity
  /** In the order of the texts; the caller's. */
  readonly vectors: readonly Float32Array[]
}

/** @param texts none empty. @throws EmbeddingsWanted; ServiceError 400 where nothing makes vectors, or of so many texts at once */
export function vectorsOfTexts(tools: TextVectorTools, texts: readonly string[], role: EmbeddingRole): TextVectors {
  const found = look(tools, texts, role, false)
  if (found === undefined) throw serviceError('noEmbeddingProvider')
  return found
}

/** Undefined where nothing makes vectors, or what does can't be had now. @throws EmbeddingsWanted */
export function vectorsOfTextsIfAny(tools: TextVectorTools, texts: readonly string[], role: EmbeddingRole): TextVectors | undefined {
  return look(tools, texts, role, true)
}

function look(
  { embedding, held }: TextVectorTools,
  texts: readonly string[],
  role: EmbeddingRole,
  isOptional: boolean,
): TextVectors | undefined {
  const identity = embedding.current
  if (identity === undefined) return undefined
  if (texts.length > EMBEDDINGS_WANTED_MAX) throw badRequest(`more than ${EMBEDDINGS_WANTED_MAX} texts to embed`)
  const found = texts.map((text) => read(held, heldVectorId(identity.variant, role, text)))
  if (isOptional && found.some((each) => each !== undefined && each.vector === undefined)) return undefined
  const lacking = texts.filter((_, at) => found[at]?.vector?.length !== identity.dimensions)
  if (lacking.length > 0) throw new EmbeddingsWanted([...new Set(lacking)], role, isOptional)
  threadTelemetry().add('embedding_cache_hits', found.filter((each) => each?.isFresh === false).length)
  for (const each of found) each?.settle()
  return { identity, vectors: found.flatMap((each) => each?.vector ?? []) }
}

interface Found {
  readonly vector: Float32Array | undefined
  readonly isFresh: boolean
  /** Has been of use. */
  readonly settle: () => void
}

/** Undefined where it is not there, or has been for too long. */
function read(held: HeldBodies, id: Buffer): Found | undefined {
  const record = held.get(id)
  if (record === undefined) return undefined
  const known = decodeHeldVector(record)
  const { vector, isFresh, isOnce, goneAt } = known
  if (goneAt <= Date.now()) return undefined
  const settle = (): void => {
    if (isOnce) held.remove(id)
    else if (isFresh) held.cache(id, encodeHeldVector({ ...known, isFresh: false }))
  }
  return { vector, isFresh, settle }
}
