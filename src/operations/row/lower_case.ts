/** The lower-case form of names: of collections, keys and languages. Pure; any thread. */

/**
 * Lower-cases the names of an identity, independently of the locale. No other code does this. The two
 * lower-case forms of the Greek sigma count as one letter and are written as their position in the word
 * requires: `ΟΔΟΣ`, `οδος` and `οδοσ` are the same.
 */
export function lowerCase(text: string): string {
  const lower = text.toLowerCase()
  return SIGMA.test(lower) ? lower.replace(SIGMAS, 'Σ').toLowerCase() : lower
}

const SIGMA = /[σς]/
const SIGMAS = /[σς]/g
