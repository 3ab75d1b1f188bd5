/** Word documents, OpenDocument texts and PDFs as small as their readers accept. */
import { zipOf } from './zip_file.js'

const WORD = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
const RELATIONS = 'xmlns="http://schemas.openxmlformats.org/package/2006/relationships"'
const OFFICE = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships'
const TYPES = `<?xml version="1.0"?><Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Override PartName="/word/document.xml" ContentType="application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"/></Types>`

interface DocxParts {
  /** Paragraphs, as they stand in the body. */
  readonly body: string
  readonly styles?: string
  readonly numbering?: string
  readonly footnotes?: string
  /** In front of the document, where a declaration stands. */
  readonly prolog?: string
  readonly claimedBytes?: Readonly<Record<string, number>>
  /** Further entries. */
  readonly parts?: Readonly<Record<string, Buffer>>
}

export function docxOf({
  body,
  styles = '',
  numbering = '',
  footnotes = '',
  prolog = '',
  claimedBytes = {},
  parts = {},
}: DocxParts): Buffer {
  const link = `<Relationship Id="link" Type="${OFFICE}/hyperlink" Target="https://example.org/" TargetMode="External"/>`
  const style = `<Relationship Id="styles" Type="${OFFICE}/styles" Target="styles.xml"/>`
  return zipOf(
    {
      '[Content_Types].xml': TYPES,
      '_rels/.rels': `<?xml version="1.0"?><Relationships ${RELATIONS}><Relationship Id="r1" Type="${OFFICE}/officeDocument" Target="word/document.xml"/></Relationships>`,
      'word/_rels/document.xml.rels': `<?xml version="1.0"?><Relationships ${RELATIONS}>${link}${style}</Relationships>`,
      'word/numbering.xml': `<w:numbering ${WORD}>${numbering}</w:numbering>`,
      'word/footnotes.xml': `<w:footnotes ${WORD}>${footnotes}</w:footnotes>`,
      'word/styles.xml': `<w:styles ${WORD}>${styles}</w:styles>`,
      'word/document.xml': `${prolog}<w:document ${WORD} xmlns:r="${OFFICE}"><w:body>${body}</w:body></w:document>`,
      ...parts,
    },
    claimedBytes,
  )
}

const OPEN_DOCUMENT = ['office', 'text', 'style', 'table', 'drawing']
  .map((name) => `xmlns:${name === 'drawing' ? 'draw' : name}="urn:oasis:names:tc:opendocument:xmlns:${name}:1.0"`)
  .join(' ')
const OTHERS = `xmlns:fo="urn:oasis:names:tc:opendocument:xmlns:xsl-fo-compatible:1.0" xmlns:svg="urn:oasis:names:tc:opendocument:xmlns:svg-compatible:1.0" xmlns:xlink="http://www.w3.org/1999/xlink"`

interface OdtParts {
  readonly text: string
  readonly styles?: string
  readonly prolog?: string
  readonly claimedBytes?: Readonly<Record<string, number>>
}

export function odtOf({ text, styles = '', prolog = '', claimedBytes = {} }: OdtParts): Buffer {
  const content = `${prolog}<office:document-content ${OPEN_DOCUMENT} ${OTHERS}><office:automatic-styles>${styles}</office:automatic-styles><office:body><office:text>${text}</office:text></office:body></office:document-content>`
  return zipOf({ mimetype: 'application/vnd.oasis.opendocument.text', 'content.xml': content }, claimedBytes)
}

/** The same page so many times. @param lines size and text, from the top; 20 points between them */
export function pdfOf(lines: readonly (readonly [size: number, text: string])[], pages = 1, catalog = ''): Buffer {
  const stream = lines.map(([size, text], at) => `BT /F1 ${size} Tf 72 ${760 - 20 * at} Td (${text.replaceAll(/[()\\]/g, '\\$&')}) Tj ET`)
  const content = stream.join('\n')
  const page = '<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]/Contents 4 0 R/Resources<</Font<</F1 5 0 R>>>>>>'
  // Objects of further pages follow those of the file.
  const numbers = [3, ...Array.from({ length: pages - 1 }, (_, at) => 6 + at)]
  return Buffer.from(
    `%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R${catalog}>>endobj\n` +
      `2 0 obj<</Type/Pages/Kids[${numbers.map((number) => `${number} 0 R`).join(' ')}]/Count ${pages}>>endobj\n` +
      numbers.map((number) => `${number} 0 obj${page}endobj\n`).join('') +
      `4 0 obj<</Length ${content.length}>>stream\n${content}\nendstream endobj\n` +
      `5 0 obj<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>endobj\ntrailer<</Root 1 0 R/Size ${5 + pages}>>\n`,
  )
}
