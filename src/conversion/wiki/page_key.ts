/**
 * The key of a document that a wiki page becomes: the title in lower case, blanks and slashes as dashes,
 * without quotes, parentheses, commas and full stops; no dash beside another or at an end. Pure.
 */

/** @returns empty for a title of nothing but such characters */
export function pageKey(title: string): string {
  const dashed = title
    .toLowerCase()
    .replace(/['"(),.]/g, '')
    .replace(/[\s/-]+/g, '-')
  return dashed.slice(dashed.startsWith('-') ? 1 : 0, dashed.length > 1 && dashed.endsWith('-') ? -1 : undefined)
}
