/**
 * Documents of GraphQL: parsed, bounded, validated, and kept for their next use. A document that is refused
 * costs some milliseconds at most, and is not kept. Only the thread of GraphQL has them.
 */
import { GraphQLError, parse, validate, type DocumentNode, type GraphQLSchema } from 'graphql'
import { entryOf } from '../../errors.js'
import {
  GRAPHQL_DOCUMENTS_KEPT_CHARS_MAX,
  GRAPHQL_DOCUMENTS_KEPT_MAX,
  GRAPHQL_DOCUMENT_CHARS_MAX,
  GRAPHQL_DOCUMENT_KEPT_CHARS_MAX,
  GRAPHQL_ERRORS_MAX,
  GRAPHQL_TOKENS_MAX,
} from '../../limits/graphql.js'
import { measureDocument } from './document_bounds.js'
import { reworded } from './texts.js'

export interface ReadyDocument {
  readonly document: DocumentNode
  readonly asksForSchema: boolean
}

/** Names of the schema that a validation offers for one that it does not know. */
const SUGGESTION = / Did you mean .*$/s

export class Documents {
  /** In the order of their last use. */
  readonly #kept = new Map<string, ReadyDocument>()
  #chars = 0

  /** @param suggests whether errors may offer names of the schema */
  constructor(
    readonly schema: GraphQLSchema,
    readonly suggests: boolean,
  ) {}

  /** @returns the errors of a document that can't be run */
  get(text: string): ReadyDocument | readonly GraphQLError[] {
    const kept = this.#kept.get(text)
    if (kept !== undefined) {
      this.#kept.delete(text)
      this.#kept.set(text, kept)
      return kept
    }
    const read = this.#read(text)
    if ('document' in read) this.#keep(text, read)
    return read
  }

  get size(): number {
    return this.#kept.size
  }

  #read(text: string): ReadyDocument | readonly GraphQLError[] {
    if (text.length > GRAPHQL_DOCUMENT_CHARS_MAX)
      return [refused(`the document has ${text.length} characters, at most ${GRAPHQL_DOCUMENT_CHARS_MAX} are allowed`)]
    let document: DocumentNode
    try {
      document = parse(text, { maxTokens: GRAPHQL_TOKENS_MAX })
    } catch (error) {
      if (error instanceof GraphQLError) return [coded(error)]
      throw error
    }
    const { violation, asksForSchema } = measureDocument(document)
    if (violation !== null) return [refused(violation)]
    const errors = validate(this.schema, document, undefined, { maxErrors: GRAPHQL_ERRORS_MAX })
    if (errors.length === 0) return { document, asksForSchema }
    return errors.map((error) => (this.suggests ? coded(error) : coded(error, error.message.replace(SUGGESTION, ''))))
  }

  #keep(text: string, ready: ReadyDocument): void {
    if (text.length > GRAPHQL_DOCUMENT_KEPT_CHARS_MAX) return
    this.#kept.set(text, ready)
    this.#chars += text.length
    for (const oldest of this.#kept.keys()) {
      if (this.#kept.size <= GRAPHQL_DOCUMENTS_KEPT_MAX && this.#chars <= GRAPHQL_DOCUMENTS_KEPT_CHARS_MAX) return
      this.#kept.delete(oldest)
      this.#chars -= oldest.length
    }
  }
}

function refused(text: string): GraphQLError {
  return new GraphQLError(text, { extensions: { code: entryOf('invalid').graphql } })
}

function coded(error: GraphQLError, text = error.message): GraphQLError {
  return reworded(error, text, { code: entryOf('invalid').graphql })
}
