/**
 * Markdown or plain text of a Word document: mammoth makes HTML of it, which is read like any other. Runs
 * in a child process.
 */
import { Buffer } from 'node:buffer'
import mammoth from 'mammoth'
import { derivedStyles } from './docx_styles.js'
import { convertHtml } from './html.js'
import { openZip } from './zip_entries.js'

/** Styles by their English names, which Word keeps in files of every language. */
const STYLES = [
  "p[style-name='Title'] => h1:fresh",
  "p[style-name='Subtitle'] => p:fresh",
  "p[style-name='Source Code'] => pre:separator('\\n')",
  "p[style-name='HTML Preformatted'] => pre:separator('\\n')",
  "p[style-name='Quote'] => blockquote > p:fresh",
  "p[style-name='Intense Quote'] => blockquote > p:fresh",
  "p[style-name='Block Text'] => blockquote > p:fresh",
  "r[style-name='Verbatim Char'] => code",
  "r[style-name='HTML Code'] => code",
]

export async function convertDocx(bytes: Uint8Array, textOnly: boolean): Promise<string> {
  const zip = await openZip(bytes)
  // mammoth unpacks every part of text that it needs without a bound: this one refuses a bomb first.
  let styles = ''
  for (const name of zip.names) {
    const part = /\.(?:xml|rels)$/i.test(name) ? await zip.read(name) : undefined
    if (name === 'word/styles.xml') styles = part?.toString('utf8') ?? ''
  }
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const convertImage = mammoth.images.imgElement(() => Promise.resolve({ src: '' }))
  const { value } = await mammoth.convertToHtml({ buffer }, { styleMap: [...STYLES, ...derivedStyles(styles)], convertImage })
  return convertHtml(value, { textOnly, isOfWord: true })
}
