/**
 * The converters by format, each loaded with the libraries it needs on first use. Runs in a child process.
 */
import type { ConvertedFormat } from '../formats.js'
import { decodeText, isBinary } from '../text_files.js'

type Converter = (bytes: Uint8Array, textOnly: boolean) => Promise<string>

const CONVERTERS: Readonly<Record<ConvertedFormat, Converter>> = {
  html: async (bytes, textOnly) => await convertPage(textOf(bytes, true), textOnly),
  docx: async (bytes, textOnly) => await (await import('./docx.js')).convertDocx(bytes, textOnly),
  odt: async (bytes, textOnly) => await (await import('./odt.js')).convertOdt(bytes, textOnly),
  rtf: async (bytes, textOnly) => (await import('./rtf.js')).convertRtf(bytes, textOnly),
  tex: async (bytes, textOnly) => (await import('./tex.js')).convertTex(textOf(bytes), textOnly),
  pdf: async (bytes, textOnly) => await (await import('./pdf.js')).convertPdf(bytes, textOnly),
}

/**
 * @param mainContent of HTML, if there is any that stands out
 * @throws Error that says why the file can't be read
 */
export async function convertBytes(bytes: Uint8Array, format: ConvertedFormat, textOnly: boolean, mainContent = false): Promise<string> {
  if (!mainContent || format !== 'html') return await CONVERTERS[format](bytes, textOnly)
  const html = textOf(bytes, true)
  return await convertPage((await import('./main_content.js')).mainContentOf(html) ?? html, textOnly)
}

async function convertPage(html: string, textOnly: boolean): Promise<string> {
  return (await import('./html.js')).convertHtml(html, textOnly)
}

function textOf(bytes: Uint8Array, declares = false): string {
  if (isBinary(bytes)) throw new Error('binary data, no text')
  return decodeText(bytes, { declares })
}
