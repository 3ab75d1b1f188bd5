/** Floods on the converters of files: hostile and large files, uploaded as fast as they are answered. */
import { createHash } from 'node:crypto'
import { Agent, request } from 'node:http'
import { type EncodedForm, encodedForm } from '../../test/harness/clients/upload_form.js'
import { docxOf, odtOf, pdfOf } from '../../test/harness/conversion/office_files.js'
import { type Flood, repeat } from './flood.js'

/** Digits that pack to half, in blanks that pack to nothing: 72 MB, within the bound of growth. */
const BOMB = (): string =>
  Array.from({ length: 70 * 1024 }, (_, at) => `${createHash('sha256').update(String(at)).digest('hex')}${' '.repeat(960)}`).join('')

const FILES: readonly (readonly [what: string, name: string, content: () => string | Buffer])[] = [
  ['HTML nested 50 000 deep', 'a.html', () => `${'<div>'.repeat(50_000)}x${'</div>'.repeat(50_000)}`],
  ['HTML of 8 MB', 'a.html', () => `<p>${'word <b>bold</b> '.repeat(470_000)}</p>`],
  ['bombs of ODT', 'a.odt', () => odtOf({ text: BOMB() })],
  ['bombs of DOCX', 'a.docx', () => docxOf({ body: BOMB() })],
  ['PDF of 2 000 pages', 'a.pdf', () => pdfOf([[12, 'text']], 2000)],
  ['RTF of 50 000 groups', 'a.rtf', () => `{\\rtf1${'{'.repeat(50_000)}`],
  ['LaTeX whose macros double', 'a.tex', () => '\\newcommand{\\a}{\\a\\a}\\begin{document}\\a\\end{document}'],
]

export async function uploadFloods(port: number): Promise<readonly Flood[]> {
  const agent = new Agent({ keepAlive: true, maxSockets: 64 })
  const post = async ({ body, headers }: EncodedForm): Promise<void> =>
    await new Promise((resolve, reject) => {
      const length = { ...headers, 'content-length': body.length }
      const asked = request({ host: '127.0.0.1', port, agent, method: 'POST', path: '/v1/upload', headers: length }, (answer) => {
        answer.resume().on('end', resolve).on('error', reject)
      })
      asked.on('error', reject).end(body)
    })
  const floods = FILES.map(async ([what, name, content]): Promise<Flood> => {
    const form = await encodedForm([['collection', 'flood'], ['lang', 'en'], { name, content: content() }])
    return { surface: 'http', what: `uploads of ${what}`, send: async (end) => await repeat(8, end, async () => await post(form)) }
  })
  return await Promise.all(floods)
}
