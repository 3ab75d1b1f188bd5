/** The answer to `/v1/fts-languages`. Pure; any lane. */
import { LANGUAGES } from '../../engine/languages.js'

export function listLanguages(defaultLang: string): string {
  return JSON.stringify({ languages: LANGUAGES.map(({ code, name }) => ({ code, name })), defaultLang })
}
