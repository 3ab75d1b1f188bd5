/**
 * Curation rules: for a query, documents that are pinned at a position of the results, and documents that are
 * hidden. Rules are read here and applied in search/curated_results.ts. Rules: service-2, "Curation rule",
 * and docs/decisions/search/search-answers.md. Pure; any lane.
 */
import { badRequest } from '../../errors.js'
import { QUERY_BYTES_MAX } from '../../limits/search.js'
import { checkIdentity } from '../documents/identity.js'

/** Pins and hides of one rule. */
const CURATION_DOCUMENTS_MAX = 100

export interface Pin {
  readonly key: string
  readonly lang?: string
  /** Counts from 1. 0 or below: after the organic results. */
  readonly position: number
}

/** The fields of a rule that a request may set. */
export interface CurationDraft {
  readonly query: string
  readonly matchMode: 'exact' | 'contains'
  readonly enabled: boolean
  readonly pins: readonly Pin[]
  /** Keys, in any language. */
  readonly hides: readonly string[]
}

export interface CurationRule extends CurationDraft {
  readonly id: string
  readonly collection: string
  readonly createdAt: number
  readonly updatedAt: number
}

/** The combined effect of all rules that match a query. */
export interface Curation {
  readonly pins: readonly Pin[]
  readonly hides: readonly string[]
}

interface CurationInput {
  readonly query: string
  readonly matchMode?: string
  readonly enabled?: boolean
  readonly pins?: readonly { readonly key?: string; readonly lang?: string; readonly position?: number }[]
  readonly hides?: readonly string[]
}

/** @throws ServiceError 400 */
export function readDraft(input: CurationInput): CurationDraft {
  const { matchMode = 'exact', pins = [], hides = [] } = input
  if (matchMode !== 'exact' && matchMode !== 'contains') throw badRequest('invalid matchMode: must be exact or contains')
  if (normalise(input.query) === '') throw badRequest('missing fields')
  if (Buffer.byteLength(input.query) > QUERY_BYTES_MAX) throw badRequest(`invalid query: at most ${QUERY_BYTES_MAX} bytes are allowed`)
  if (pins.length + hides.length > CURATION_DOCUMENTS_MAX)
    throw badRequest(`invalid pins: ${pins.length + hides.length} pins and hides, at most ${CURATION_DOCUMENTS_MAX} are allowed`)
  for (const key of hides) checkKey('hides', key, '')
  return { query: input.query, matchMode, enabled: input.enabled === true, pins: pins.map(readPin), hides }
}

function readPin({ key = '', lang, position = 0 }: NonNullable<CurationInput['pins']>[number]): Pin {
  checkKey('pins', key, lang ?? '')
  return { key, ...(lang === undefined || lang === '' ? {} : { lang }), position }
}

function checkKey(field: string, key: string, lang: string): void {
  if (key === '') throw badRequest(`invalid ${field}: a key is empty`)
  checkIdentity(key, lang)
}

/** The form in which queries are compared. */
function normalise(query: string): string {
  return query.trim().toLowerCase()
}

/**
 * Undefined if no rule matches.
 * @param rules in the order in which they were created: if two pin the same document, the first applies
 */
export function curationOf(rules: readonly CurationRule[], query: string): Curation | undefined {
  const asked = normalise(query)
  const matching = rules.filter(({ enabled, matchMode, query: of }) => {
    const wanted = normalise(of)
    return enabled && (matchMode === 'exact' ? asked === wanted : asked.includes(wanted))
  })
  if (matching.length === 0) return undefined
  return { pins: matching.flatMap(({ pins }) => pins), hides: matching.flatMap(({ hides }) => hides) }
}
