/**
 * How a document is analysed: which texts it is indexed by, in which language, and whether stemmed or as
 * code. Writes, rebuilds, rechecks, highlights and spell correction share these rules, so that all of them
 * see the same terms. Pure; any lane.
 */
import { resolveLanguage } from '../../engine/languages.js'
import type { AnalysisOptions, Analyzer } from '../../engine/types.js'
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

export interface IndexedText {
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
