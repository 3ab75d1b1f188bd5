/**
 * Identifiers in a query. Code is indexed unstemmed and with whole identifiers. Identifiers pasted from code
 * (`getUserName`, `user_name`, `parse-html`, `md5sum`) and phrases are therefore also searched in the form
 * that code has. Plain words are not: a query is stemmed (service-1, "Code documents"). Pure except for the
 * analyzer. Rules: docs/decisions/search/text-analysis.md.
 */
import type { QueryToken } from '../../engine/types.js'
import type { Alternative, FindIdentifiers } from './reading.js'

/** An underscore, a digit, a hyphen between letters, or a capital that is not the first letter. */
const TELLTALE = /[_\p{N}]|\p{L}-+\p{L}|\p{L}\p{Lu}/u

/** A word without joints. */
const LETTERS = /^[\p{L}\p{M}]+$/u

/** @param tokens of the text read as code: identifiers, each followed by its parts, which are removed here */
export function wholesOf(tokens: readonly QueryToken[]): QueryToken[] {
  return tokens.filter(({ position }, index) => position !== tokens[index - 1]?.position)
}

/**
 * The identifiers of a text as alternatives to its tokens. Each replaces all tokens inside it. An identifier
 * that equals one of these tokens, and so is already unstemmed, is left out. So is a stop word in capitals
 * (`THE`), which is no more an identifier than in lower case.
 * @param tokens of the text as prose, in text order
 */
export function identifierAlternatives(text: string, tokens: readonly QueryToken[], find: FindIdentifiers): Alternative[] {
  if (!TELLTALE.test(text)) return []
  const bytes = Buffer.from(text)
  return find(text).flatMap(({ term, start, end }): Alternative[] => {
    const written = bytes.toString('utf8', start, end)
    if (!TELLTALE.test(written)) return []
    const inside = tokens.filter((token) => token.start >= start && token.end <= end)
    if (inside.length === 0 && LETTERS.test(written)) return []
    if (inside.some((token) => token.term === term)) return []
    const first = inside[0] === undefined ? 0 : tokens.indexOf(inside[0])
    return [{ first, length: inside.length, terms: [{ term, offset: 0 }], weight: 1 }]
  })
}
