/**
 * Parsed JSON of an export as documents, recognised by form:
 * - `{key, lang, meta, contentMd}`: a line of this service's own export;
 * - `{_id, _source}`: a hit of Elasticsearch, as scrolling and elasticdump write it;
 * - `{"index": {"_id"}}`, then the document in the next record: Elasticsearch's `_bulk`;
 * - every other object: a document of Meilisearch, Typesense or any other engine.
 * Keeps the action that waits for its document, and nothing else.
 */
import type { ImportDocument } from '../files/document.js'
import { type FieldNames, foreignDocument, isFields, keyOf } from '../files/foreign_document.js'

interface Problem {
  readonly problem: string
  /** The key that the document would have had, where it is known. */
  readonly key?: string
}

interface BulkAction {
  readonly name: string
  readonly id: unknown
}

type Fields = Readonly<Record<string, unknown>>

const BULK_ACTIONS: readonly string[] = ['index', 'create', 'update', 'delete']

export type RecordOptions = FieldNames & { readonly lang: string }

export class JsonRecords {
  #action: BulkAction | undefined

  constructor(readonly options: RecordOptions) {}

  /** True if the file ends behind the first half of a pair. */
  get isWaiting(): boolean {
    return this.#action !== undefined
  }

  /** @returns undefined for the first half of a pair, whose second half is the next record */
  read(value: unknown): ImportDocument | Problem | undefined {
    if (this.#action !== undefined) return this.#readPair(value, this.#take()!)
    if (!isFields(value)) return { problem: 'not a JSON object' }
    const action = bulkAction(value)
    if (action?.name === 'delete') return withKey('a deletion, which is not imported', action.id)
    if (action !== undefined) {
      this.#action = action
      return undefined
    }
    if (isFields(value['_source'])) return this.#foreign(value['_source'], value['_id'])
    const { keyField, contentField } = this.options
    const isOwn = keyField === undefined && contentField === undefined && Object.hasOwn(value, 'contentMd')
    return isOwn ? asResult(readOwn(value, this.options.lang)) : this.#foreign(value, undefined)
  }

  /** A record that is no JSON: it counts as the second half of a pair, too. */
  refuse(problem: string): Problem {
    return withKey(problem, this.#take()?.id)
  }

  #readPair(value: unknown, { name, id }: BulkAction): ImportDocument | Problem {
    if (name === 'update') return withKey('an update, which is no whole document', id)
    return isFields(value) ? this.#foreign(value, id) : withKey('not a JSON object', id)
  }

  #foreign(fields: Fields, id: unknown): ImportDocument | Problem {
    return asResult(foreignDocument(fields, this.options, id), this.options.keyField === undefined ? id : undefined)
  }

  #take(): BulkAction | undefined {
    const action = this.#action
    this.#action = undefined
    return action
  }
}

const asResult = (document: ImportDocument | string, id?: unknown): ImportDocument | Problem =>
  typeof document === 'string' ? withKey(document, id) : document

function withKey(problem: string, id: unknown): Problem {
  const key = keyOf(id)
  return key === undefined ? { problem } : { problem, key }
}

/** Undefined unless the only field is an action, with nothing or a name of Elasticsearch in it. */
function bulkAction(fields: Fields): BulkAction | undefined {
  const [name, ...others] = Object.keys(fields)
  if (name === undefined || others.length > 0 || !BULK_ACTIONS.includes(name)) return undefined
  const target = fields[name]
  if (!isFields(target)) return undefined
  const isTarget = Object.keys(target).length === 0 || Object.hasOwn(target, '_id') || Object.hasOwn(target, '_index')
  return isTarget ? { name, id: target['_id'] } : undefined
}

/** Bounds and metadata are validated by the server, which reports errors per document. */
function readOwn(fields: Fields, langDefault: string): ImportDocument | string {
  const { key, lang = langDefault, meta = {}, contentMd, expiresAt, addedAt, updatedAt } = fields
  if (typeof key !== 'string' || key === '') return 'key: a text is required'
  if (typeof lang !== 'string') return 'lang: must be a text'
  if (typeof contentMd !== 'string') return 'contentMd: a text is required'
  if (meta !== null && (typeof meta !== 'object' || (Array.isArray(meta) && meta.length > 0)))
    return 'meta: must be an object of lists of texts'
  return { key, lang, meta: (meta ?? {}) as Record<string, unknown>, contentMd, expiresAt, addedAt, updatedAt }
}
