/**
 * The version of the analysis that built an index. The engine stores the number with the index and discards
 * an index of another version, because its terms differ from those of queries. Pure, any thread.
 */
import { crc32 } from '../../store/packages.js'

/**
 * Incremented with every change to what becomes a term: wasm/analyzer, code_document.ts, the fields of
 * analysis.ts.
 */
const VERSION = 1

/**
 * @returns u32; includes the settings that change terms, so that a start with other settings also rebuilds
 * the index
 */
export function analysisVersion(settings: { readonly ftsStemming: boolean; readonly ftsDefaultLang: string }): number {
  return crc32(`${VERSION} ${settings.ftsStemming} ${settings.ftsDefaultLang}`)
}
