/**
 * The one table of the file formats that become documents, by extension. Pure data and its look-up; any
 * thread and process.
 * - `stored`: text that is a document as it is; frontmatter becomes metadata.
 * - `converted`: a converter of a child process makes markdown of it (converter_pool.ts).
 * - `wrapped`: text that is put into a fenced code block.
 */

export type ConvertedFormat = 'html' | 'pdf' | 'docx' | 'odt' | 'rtf' | 'tex'

/** Of `mds import` alone: text whose prose is a document (mdx/prose.ts). It is no format of uploads. */
export const MDX = { kind: 'prose', name: 'mdx' } as const

export type FileFormat =
  | { readonly kind: 'stored'; readonly name: 'md' | 'txt' }
  | { readonly kind: 'converted'; readonly name: ConvertedFormat }
  | { readonly kind: 'wrapped'; readonly name: 'yaml' | 'log' | 'lex' }

const HTML: FileFormat = { kind: 'converted', name: 'html' }
const TEX: FileFormat = { kind: 'converted', name: 'tex' }
const YAML: FileFormat = { kind: 'wrapped', name: 'yaml' }

const FORMATS: ReadonlyMap<string, FileFormat> = new Map<string, FileFormat>([
  ['md', { kind: 'stored', name: 'md' }],
  ['txt', { kind: 'stored', name: 'txt' }],
  ['html', HTML],
  ['htm', HTML],
  ['pdf', { kind: 'converted', name: 'pdf' }],
  ['docx', { kind: 'converted', name: 'docx' }],
  ['odt', { kind: 'converted', name: 'odt' }],
  ['rtf', { kind: 'converted', name: 'rtf' }],
  ['tex', TEX],
  ['latex', TEX],
  ['yaml', YAML],
  ['yml', YAML],
  ['log', { kind: 'wrapped', name: 'log' }],
  ['lex', { kind: 'wrapped', name: 'lex' }],
])

/** The metadata that says which file a document was. */
export function uploadFacts(fileName: string, { kind, name }: FileFormat | typeof MDX): Record<string, string[]> {
  const facts = { upload_format: [name], upload_filename: [fileName] }
  return kind === 'stored' ? facts : { ...facts, upload_converted: ['true'] }
}

/** By the extension, in any case. Undefined if it is none of the table, or missing. */
export function formatOf(fileName: string): FileFormat | undefined {
  const at = fileName.lastIndexOf('.')
  return at === -1 ? undefined : FORMATS.get(fileName.slice(at + 1).toLowerCase())
}
