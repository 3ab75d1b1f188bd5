/**
 * A record of another engine, JSON or a row of CSV, as a document: one field is the key, one the content,
 * perhaps one the language; the others become metadata, flattened as frontmatter is. Pure.
 */
import { flattenMetadata, FRONTMATTER_DEPTH_MAX } from '../../conversion/frontmatter.js'
import type { ImportDocument } from './document.js'

export interface FieldNames {
  readonly keyField?: string
  readonly contentField?: string
  /** Undefined: no field says the language. */
  readonly langField?: string
}

type Fields = Readonly<Record<string, unknown>>

const KEY_FIELD_DEFAULT = 'id'
const CONTENT_FIELD_DEFAULT = 'content'

export const isFields = (value: unknown): value is Fields => typeof value === 'object' && value !== null && !Array.isArray(value)

/**
 * @param options `lang` is that of records without one
 * @param id what is known as the key from elsewhere, where no field is named for it
 * @returns the document, or what is wrong with the record
 */
export function foreignDocument(fields: Fields, options: FieldNames & { readonly lang: string }, id?: unknown): ImportDocument | string {
  const { keyField = KEY_FIELD_DEFAULT, contentField = CONTENT_FIELD_DEFAULT, langField } = options
  const hasId = id !== undefined && options.keyField === undefined
  const key = keyOf(hasId ? id : own(fields, keyField))
  if (key === undefined) return `no text or number as the key in the field ${keyField} (--key-field names another)`
  const contentMd = own(fields, contentField)
  if (typeof contentMd !== 'string') return `no text in the field ${contentField} (--content-field names another)`
  const lang = langField === undefined ? undefined : own(fields, langField)
  if (lang !== undefined && lang !== null && typeof lang !== 'string') return `${langField}: must be a text`
  const taken = new Set([contentField, langField, ...(hasId ? [] : [keyField])])
  try {
    const rest = Object.entries(fields).filter(([name]) => !taken.has(name))
    const meta = flattenMetadata(new Map(rest.map(([name, value]) => [name, asMaps(value, 1)])))
    return { key, lang: lang === undefined || lang === null || lang === '' ? options.lang : lang, meta, contentMd }
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}

/** Undefined unless it can be a key: texts and whole numbers. */
export function keyOf(value: unknown): string | undefined {
  if (typeof value === 'string' && value !== '') return value
  return Number.isSafeInteger(value) ? String(value) : undefined
}

const own = (fields: Fields, name: string): unknown => (Object.hasOwn(fields, name) ? fields[name] : undefined)

/** Objects as Maps, to the depth that metadata may have. */
function asMaps(value: unknown, depth: number): unknown {
  if (typeof value !== 'object' || value === null) return value
  if (depth > FRONTMATTER_DEPTH_MAX) throw new Error(`nested deeper than ${FRONTMATTER_DEPTH_MAX} levels`)
  if (Array.isArray(value)) return value.map((child) => asMaps(child, depth + 1))
  return new Map(Object.entries(value).map(([name, child]) => [name, asMaps(child, depth + 1)]))
}
