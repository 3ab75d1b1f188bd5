/** Texts of generated files. */

const COLUMNS_MAX = 110

/** @returns the comment in lines of at most 110 columns, each with its end; empty without a text */
export function commentLines(text, mark) {
  if (text === undefined || text === '') return ''
  const lines = ['']
  for (const word of text.split(/\s+/)) {
    const last = lines.at(-1)
    if (last !== '' && mark.length + last.length + 1 + word.length > COLUMNS_MAX) lines.push(word)
    else lines[lines.length - 1] = last === '' ? word : `${last} ${word}`
  }
  return lines.map((line) => `${mark}${line}\n`).join('')
}
