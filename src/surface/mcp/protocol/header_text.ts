/** Texts in headers of MCP: those that are not plain ASCII come as `=?base64?...?=`. Pure. */
const BEGIN = '=?base64?'
const END = '?='
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/

/** @returns null if the text is not valid Base64 of UTF-8 */
export function decodedName(text: string): string | null {
  if (!text.startsWith(BEGIN) || !text.endsWith(END)) return text
  const coded = text.slice(BEGIN.length, -END.length)
  if (!BASE64.test(coded)) return null
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(Buffer.from(coded, 'base64'))
  } catch {
    return null
  }
}

/** Removes the blanks around a header's value. @returns undefined for an absent header */
export function headerText(value: string | readonly string[] | undefined): string | undefined {
  return typeof value === 'string' ? value.replace(/^[ \t]+|[ \t]+$/g, '') : undefined
}
