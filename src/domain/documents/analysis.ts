/**
 * How a document is analysed: which texts it is indexed by, in which language, and whether stemmed or as
 * code. Writes, rebuilds, rechecks, highlights and spell correction share these rules, so that all of them
 * see the same terms. Pure; any lane.
 */
import { resolveLanguage } from '../../engine/text/languages.js'
import type { AnalysisOptions, Analyzer } from '../../engine/types.js'
import { crc32 } from '../../store/rows/packages.js'
import { codeMarksOf, isCodeDocument } from './code_document.js'
import type { Metadata } from './metadata.js'

/** The server options that affect analysis. */
export interface AnalysisSettings {
  readonly ftsDefaultLang: string
  readonly ftsStemming: boolean
}

export interface AnalysisTools {
  readonly config: AnalysisSettings
  readonly analyzer: Analyzer
}

interface IndexedText {
  readonly name: string
  readonly text: string
  readonly options: AnalysisOptions
}

export interface TextsOfDocument {
  readonly key: string
  readonly lang: string
  readonly values: Metadata['values']
  readonly contentMd: string
}

/**
 * The fields of a document, and how each is analysed: its content, and the values of each metadata key. Used
 * by writes, rebuilds and rechecks.
 */
export function indexedTexts(config: AnalysisSettings, { key, lang, values, contentMd }: TextsOfDocument): IndexedText[] {
  const options = { language: resolveLanguage(lang, config.ftsDefaultLang), stem: config.ftsStemming, markdown: false }
  const fields = values.map(([name, list]) => ({ name: `meta.${name}`, text: list.join(' '), options }))
  return [{ name: 'content', text: contentMd, options: contentAnalysis(config, lang, isCodeDocument(codeMarksOf(key, values))) }, ...fields]
}

/** How the content of a document is analysed. */
export function contentAnalysis(config: AnalysisSettings, lang: string, isCode: boolean): AnalysisOptions {
  return { language: resolveLanguage(lang, config.ftsDefaultLang), stem: config.ftsStemming, markdown: true, code: isCode }
}

/** Incremented with every change to what becomes a term: wasm/analyzer, code_document.ts, `indexedTexts`. */
const VERSION = 1

/**
 * The version of the analysis that built an index. The engine stores the number with the index and discards
 * an index of another version, because its terms differ from those of queries.
 * @returns u32; includes the settings that change terms, so that a start with other settings also rebuilds
 * the index
 */
export function analysisVersion(settings: { readonly ftsStemming: boolean; readonly ftsDefaultLang: string }): number {
  return crc32(`${VERSION} ${settings.ftsStemming} ${settings.ftsDefaultLang}`)
}
