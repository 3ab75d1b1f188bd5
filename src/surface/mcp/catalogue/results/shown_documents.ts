/**
 * What of a document a search tool returns: `fields` reduces it to some metadata, and its text is left out
 * unless it is wanted. Pure; any thread.
 */
import type { Arguments } from '../arguments/argument_values.js'

type Json = Readonly<Record<string, unknown>>

const PASSAGE_MODES: readonly unknown[] = ['chunk', 'window']
/** Fields of a document that `fields` may name beside metadata keys. */
const TIMES: readonly string[] = ['addedAt', 'updatedAt', 'expiresAt']

/** Whether results contain the texts of documents. A passage replaces the text of its document. */
function bodyWanted({ include_content: asked, fields, retrieval_mode: mode }: Arguments): boolean {
  return asked === undefined ? fields === undefined && !PASSAGE_MODES.includes(mode) : asked === true
}

/**
 * What a search is asked for: by default short documents whole, and the matching passage of longer ones,
 * unless the collection is configured otherwise.
 */
export function wantedParts(given: Arguments): Json {
  const { include_content: asked, fields, retrieval_mode: mode } = given
  if (asked === undefined && fields === undefined && mode === undefined) return { retrievalMode: 'auto' }
  return { includeContent: bodyWanted(given) }
}

/** @param answer of a search: a list of documents, or an object with `results` */
export function shownAnswer(answer: unknown, given: Arguments, total: number | undefined): Json {
  if (Array.isArray(answer)) {
    const documents = answer.map((document: Json) => shownDocument(document, given, 'chunkText' in document))
    return { documents, total: total ?? documents.length }
  }
  const { results, ...rest } = answer as { readonly results: readonly (Json & { readonly document: Json })[] }
  return {
    results: results.map((result) => ({ ...result, document: shownDocument(result.document, given, 'chunkText' in result) })),
    ...rest,
  }
}

function shownDocument(document: Json, given: Arguments, hasPassage: boolean): Json {
  const { contentMd, ...head } = document
  const isWanted = bodyWanted(given) && !(hasPassage && given.include_content !== true)
  const { fields } = given
  const shown = fields === undefined ? head : reduced(head, fields as readonly string[])
  return isWanted ? { ...shown, contentMd } : shown
}

function reduced({ id, key, lang, meta, chunkIndex, chunkText, ...rest }: Json, fields: readonly string[]): Json {
  const names = fields.map((name) => name.replace(/^meta\./, ''))
  const values = Object.entries((meta ?? {}) as Json).filter(([name]) => names.includes(name))
  const times = Object.entries(rest).filter(([name]) => TIMES.includes(name) && names.includes(name))
  const passage = chunkText === undefined ? {} : { chunkIndex, chunkText }
  return { id, key, lang, ...(values.length > 0 ? { meta: Object.fromEntries(values) } : {}), ...Object.fromEntries(times), ...passage }
}
