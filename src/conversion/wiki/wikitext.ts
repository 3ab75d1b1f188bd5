/**
 * Wikitext as markdown. Categories, files, templates, comments, refs, tags and magic words are dropped;
 * headings, lists, definitions, indents, emphasis, links, rules and tables are converted; `nowiki`, `pre` and
 * entities are text. Two passes (markup_removal.ts, blocks.ts), both linear to the text and without
 * recursion. Plain text stays as it is, but for blank lines. Pure; any thread.
 */
import { renderBlocks } from './blocks.js'
import { removeMarkup } from './markup_removal.js'
import { COMMON_DROPPED } from './namespaces.js'
import { restoreText, withoutNoncharacters } from './protected_text.js'

/**
 * @param text of any content; what is not closed or not wikitext stays as text
 * @param dropped lower-case prefixes of links to files and categories
 * @returns markdown without a newline at its end
 */
export function convertWikitext(text: string, dropped: ReadonlySet<string> = COMMON_DROPPED): string {
  return restoreText(renderBlocks(removeMarkup(withoutNoncharacters(text), dropped)))
}
