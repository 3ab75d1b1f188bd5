/**
 * Corrects the words of a full-text query that the searched fields lack, if the collection or the request
 * asks for it and the server has spell correction. Quoted phrases, operators and patterns are not changed. A
 * query whose words are all known is not changed. Read lanes.
 */
import { resolveLanguage } from '../../engine/text/languages.js'
import type { TruthStore } from '../../store/truth_store.js'
import type { AnalysisSettings } from '../documents/analysis.js'
import type { ParsedQuery } from '../query/query_mode.js'
import type { CollectionSettings } from '../settings/collection_settings.js'
import type { SurfaceTools } from '../words/surface_words.js'
import { applyCorrections, type Corrector } from './corrector.js'

export interface CorrectionTools extends SurfaceTools {
  /** `spell`: the server has spell correction. */
  readonly config: AnalysisSettings & { readonly spell: boolean }
  readonly store: TruthStore
  readonly corrector: Corrector
}

/** The fields of a search that its correction uses. */
interface CorrectableRequest {
  readonly text: string
  readonly query: ParsedQuery
  readonly parse: (text: string) => ParsedQuery
  readonly language: string
  readonly scoring: { readonly fields: readonly (readonly [name: string, weight: number])[] }
  /** Set by the request. Undefined: the collection's setting applies. */
  readonly spellCorrect: boolean | undefined
}

interface CorrectedQuery {
  readonly text: string
  readonly query: ParsedQuery
}

/** Undefined if the query does not change. */
export function correctQuery(
  tools: CorrectionTools,
  request: CorrectableRequest,
  collection: { readonly id: number; readonly settings: CollectionSettings },
): CorrectedQuery | undefined {
  const { spellCorrect, spellLang } = collection.settings.config
  const { mode } = request.query
  if (!tools.config.spell || !(request.spellCorrect ?? spellCorrect ?? false)) return undefined
  if (!CORRECTED_MODES.includes(mode) || request.scoring.fields.length === 0) return undefined
  const language = spellLang ? resolveLanguage(spellLang, request.language) : request.language
  const fields = request.scoring.fields.map(([name]) => name)
  // In simple mode a final `?` is a question mark, not a wildcard.
  const isPattern = mode === 'simple' ? undefined : hasWildcard
  const misspellings = tools.store.read((view) =>
    tools.corrector.check(tools, view, { collection, language, fields }, request.text, isPattern),
  )
  const text = applyCorrections(request.text, misspellings)
  return text === request.text ? undefined : { text, query: request.parse(text) }
}

const CORRECTED_MODES: readonly ParsedQuery['mode'][] = ['simple', 'boolean', 'expression']

function hasWildcard(chunk: string): boolean {
  return chunk.includes('*') || chunk.includes('?')
}
