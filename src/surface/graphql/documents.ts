/**
 * Documents of GraphQL: parsed, bounded, validated, and kept for their next use. A document that is refused
 * costs some milliseconds at most, and is not kept. Only the thread of GraphQL has them.
 *
 * Validation takes ten times as long as parsing, and parsing as long as a small document's execution; clients
 * that write values into the text send a new one each time. So valid forms of documents are kept, too, with
 * their tree.
 */
import type { DocumentNode, GraphQLSchema } from 'graphql'
import { GraphQLError, parse, validate } from 'graphql'
import { entryOf } from '../../errors.js'
import { GRAPHQL_TOKENS_MAX } from '../../limits/surfaces.js'
import { KIB, MIB } from '../../limits/units.js'
import { measureDocument } from './document_bounds.js'
import type { PlainStrings } from './document_form.js'
import { DocumentForm, formOf, isValidWithAnyStrings, plainStringsOf } from './document_form.js'
import { reworded } from './texts.js'

/** Characters of a document, whose strings may be long; larger values belong into its variables. */
const GRAPHQL_DOCUMENT_CHARS_MAX = MIB
/** Errors of one document that are reported. */
const GRAPHQL_ERRORS_MAX = 10
/** Parsed and validated documents. A client sends a few dozen different ones. */
export const GRAPHQL_DOCUMENTS_KEPT_MAX = 1_000
/** Characters of these documents. Each takes some 60 bytes as a tree: 64 MiB at most. */
const GRAPHQL_DOCUMENTS_KEPT_CHARS_MAX = MIB
/** A longer document has values in it, and does not come again. */
const GRAPHQL_DOCUMENT_KEPT_CHARS_MAX = 16 * KIB

export interface ReadyDocument {
  readonly document: DocumentNode
  readonly asksForSchema: boolean
  /** The error at its places in the text of this document. */
  readonly placed?: (error: GraphQLError) => GraphQLError
}

/** A valid form. */
interface ValidForm {
  readonly asksForSchema: boolean
  /** Absent: only texts that need the parser had this form so far. */
  readonly tree: DocumentForm | null
}

const BOUNDS = {
  entriesMax: GRAPHQL_DOCUMENTS_KEPT_MAX,
  charsMax: GRAPHQL_DOCUMENTS_KEPT_CHARS_MAX,
  textCharsMax: GRAPHQL_DOCUMENT_KEPT_CHARS_MAX,
}

export class Documents {
  readonly #ready = new TextCache<ReadyDocument>(BOUNDS)
  readonly #validForms = new TextCache<ValidForm>(BOUNDS)

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
    const strings = plainStringsOf(text)
    const known = strings === null ? undefined : this.#validForms.get(strings.form)
    return (strings !== null && known !== undefined ? filled(known, text, strings) : null) ?? this.#read(text, strings)
  }

  #read(text: string, strings: PlainStrings | null): ReadyDocument | readonly GraphQLError[] {
    let document: DocumentNode
    try {
      document = parse(text, { maxTokens: GRAPHQL_TOKENS_MAX })
    } catch (error) {
      if (error instanceof GraphQLError) return [coded(error)]
      throw error
    }
    const { violation, asksForSchema } = measureDocument(document)
    if (violation !== null) return [refused(violation)]
    const form = strings?.form ?? formOf(text)
    const known = this.#validForms.get(form)
    if (known === undefined) {
      const errors = validate(this.schema, document, undefined, { maxErrors: GRAPHQL_ERRORS_MAX, hideSuggestions: this.hidesNames })
      if (errors.length > 0) return errors.map(coded)
    }
    const ready = { document, asksForSchema }
    this.#ready.set(text, ready)
    const isNew = known === undefined ? isValidWithAnyStrings(this.schema, document) : known.tree === null && strings !== null
    if (isNew) this.#validForms.set(form, { asksForSchema, tree: strings === null ? null : DocumentForm.of(text, document) })
    return ready
  }
}

function filled({ asksForSchema, tree }: ValidForm, text: string, { values }: PlainStrings): ReadyDocument | null {
  const document = tree?.filled(values) ?? null
  if (tree === null || document === null) return null
  return { document, asksForSchema, placed: (error) => tree.placed(error, text, values) }
}

function refused(text: string): GraphQLError {
  return new GraphQLError(text, { extensions: { code: entryOf('invalid').graphql } })
}

function coded(error: GraphQLError): GraphQLError {
  return reworded(error, error.message, { code: entryOf('invalid').graphql })
}

interface TextCacheBounds {
  readonly entriesMax: number
  readonly charsMax: number
  /** A longer text is not kept. */
  readonly textCharsMax: number
}

/**
 * A map by text, bounded by entries and by the characters of their texts. The entry that was not used for
 * longest goes first.
 */
export class TextCache<Value> {
  /** In the order of their last use. */
  readonly #kept = new Map<string, Value>()
  #chars = 0

  constructor(readonly bounds: TextCacheBounds) {}

  get size(): number {
    return this.#kept.size
  }

  get(text: string): Value | undefined {
    const found = this.#kept.get(text)
    if (found === undefined) return undefined
    this.#kept.delete(text)
    this.#kept.set(text, found)
    return found
  }

  set(text: string, value: Value): void {
    const { entriesMax, charsMax, textCharsMax } = this.bounds
    if (text.length > textCharsMax) return
    if (!this.#kept.has(text)) this.#chars += text.length
    this.#kept.set(text, value)
    for (const oldest of this.#kept.keys()) {
      if (this.#kept.size <= entriesMax && this.#chars <= charsMax) return
      this.#kept.delete(oldest)
      this.#chars -= oldest.length
    }
  }
}
