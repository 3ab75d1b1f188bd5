/**
 * Documents of GraphQL: parsed, bounded, validated, and kept for their next use. A document that is refused
 * costs some milliseconds at most, and is not kept. Only the thread of GraphQL has them.
 *
 * Validation takes ten times as long as parsing, and clients that write values into the text send a new one
 * each time. So it is also kept which *forms* of documents are valid: the text with empty strings and without
 * comments. What a string has in it matters to no rule but the one that looks whether it is a time, so forms
 * with a variable of that type are not kept; arguments are checked again by the execution. The pattern reads
 * the text from left to right as the lexer does; a text in which the two could differ does not parse.
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
import { TextCache } from './text_cache.js'
import { reworded } from './texts.js'

export interface ReadyDocument {
  readonly document: DocumentNode
  readonly asksForSchema: boolean
}

/** Comments, block strings, strings. */
const VALUES = /#[^\n\r]*|"""(?:\\"""|[^])*?"""|"(?:[^"\\\n\r]|\\.)*"/g

const BOUNDS = {
  entriesMax: GRAPHQL_DOCUMENTS_KEPT_MAX,
  charsMax: GRAPHQL_DOCUMENTS_KEPT_CHARS_MAX,
  textCharsMax: GRAPHQL_DOCUMENT_KEPT_CHARS_MAX,
}

export class Documents {
  readonly #ready = new TextCache<ReadyDocument>(BOUNDS)
  readonly #validForms = new TextCache<true>(BOUNDS)

  /** @param hidesNames whether errors must not offer names of the schema */
  constructor(
    readonly schema: GraphQLSchema,
    readonly hidesNames: boolean,
  ) {}

  /** @returns the errors of a document that can't be run */
  get(text: string): ReadyDocument | readonly GraphQLError[] {
    const kept = this.#ready.get(text)
    if (kept !== undefined) return kept
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
    const errors = this.#errorsOf(text, document)
    if (errors.length > 0) return errors.map(coded)
    const ready = { document, asksForSchema }
    this.#ready.set(text, ready)
    return ready
  }

  #errorsOf(text: string, document: DocumentNode): readonly GraphQLError[] {
    const form = text.includes('Time') ? null : formOf(text)
    if (form !== null && this.#validForms.get(form) !== undefined) return []
    const errors = validate(this.schema, document, undefined, { maxErrors: GRAPHQL_ERRORS_MAX, hideSuggestions: this.hidesNames })
    if (form !== null && errors.length === 0) this.#validForms.set(form, true)
    return errors
  }
}

export function formOf(text: string): string {
  return text.replaceAll(VALUES, (found) => (found.startsWith('#') ? '' : '""'))
}

function refused(text: string): GraphQLError {
  return new GraphQLError(text, { extensions: { code: entryOf('invalid').graphql } })
}

function coded(error: GraphQLError): GraphQLError {
  return reworded(error, error.message, { code: entryOf('invalid').graphql })
}
