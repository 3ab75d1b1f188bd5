/**
 * Which analysis an index was made by. The engine keeps the number with the index and throws away what
 * another analysis made: its terms are not those that queries ask for. Pure, any thread.
 */
import { crc32 } from '../../store/packages.js'

/**
 * Goes up with every change of what becomes a term: wasm/analyzer, code_document.ts, the fields of
 * preparation.ts.
 */
const VERSION = 1

/**
 * @returns u32; with the settings that change terms, so that a start with others builds the index anew, too
 */
export function analysisVersion(settings: { readonly ftsStemming: boolean; readonly ftsDefaultLang: string }): number {
  return crc32(`${VERSION} ${settings.ftsStemming} ${settings.ftsDefaultLang}`)
}
