/**
 * Files of the corpus, and documents that pandoc has written, through the pool of converters, compared with
 * what pandoc and pdftotext read in the same files. Part of `npm run campaign -- converters`.
 */
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { compared, comparedInOrder, f1, outputOf, structureOf, sum, wordsOf } from './conversion_structure.mjs'

/** By format: its folders in the corpus, and pandoc's name of it. */
const FORMATS = {
  html: { folders: ['html'], reader: 'html', writer: 'html' },
  docx: { folders: ['docx'], reader: 'docx', writer: 'docx' },
  odt: { folders: ['odt'], reader: 'odt', writer: 'odt' },
  rtf: { folders: ['rtf'], reader: 'rtf', writer: 'rtf' },
  tex: { folders: ['tex', 'latex'], reader: 'latex', writer: 'latex' },
  pdf: { folders: ['pdf'], reader: undefined, writer: undefined },
}

/**
 * Features that pandoc 2.17 does not see, or reads wrongly, in files of the corpus, so that it is no oracle
 * of them. Looked at one by one.
 */
const ORACLE_LOSES = {
  'pandoc-test_odt_odt_preformattedText.odt': ['code'], // The style of preformatted text.
  'pandoc-test_odt_odt_sourceText.odt': ['code'], // The style of source text.
  'pandoc-test_odt_odt_simpleTableWithHeader.odt': ['tables', 'words'], // Rows of a header.
  'pandoc-test_odt_odt_tableWithSpans.odt': ['tables', 'words'], // The same.
  'pandoc-test_tables_nordics.latex': ['tables', 'words'], // A number after the end of a row is a length to it.
  'pandoc-test_tables_students.latex': ['tables', 'words'], // The same, and cells of several columns.
  'pandoc-test_lhs-test.latex': ['code', 'words'], // Coloured code.
  'pandoc-test_docx_text_in_shape_format.docx': ['words'], // Text in shapes.
  'mammoth-text-box.docx': ['words'], // The same.
  'pandoc-test_docx_golden_verbatim_subsuper.docx': ['code'], // Raised digits of code are text beside it to it.
  'pandoc-test_rtf_list_legacy.rtf': ['lists', 'words'], // Lists of older writers.
  'pandoc-test_rtf_table_nested.rtf': ['tables', 'words'], // The text of inner tables.
}

/** Features that pandoc writes but does not read again: those of the text that it has written count. */
const READER_LOSES = { odt: ['code', 'tables', 'words'], tex: ['code', 'words'], rtf: ['lists'] }

const FEATURES = ['headings', 'lists', 'tables', 'links', 'code']

/**
 * @param convert path and format -> markdown
 * @returns rows by format: tried, those the oracle reads, converted, failures with reasons, agreements
 */
export async function convertCorpus(folder, convert) {
  const rows = []
  for (const [format, { folders, reader }] of Object.entries(FORMATS)) {
    const row = { format, tried: 0, readable: 0, converted: 0, failures: [], agreements: {} }
    for (const path of folders.flatMap((each) => readdirSync(join(folder, each)).map((name) => join(folder, each, name)))) {
      row.tried++
      const oracle = await (reader === undefined ? textOfPdf(path) : structureOf({ path, format: reader })).catch(() => undefined)
      const isReadable = oracle !== undefined && (reader !== undefined || oracle.words.length > 0)
      if (isReadable) row.readable++
      const name = path.slice(path.lastIndexOf('/') + 1)
      try {
        const markdown = await convert(path, format)
        if (!isReadable) continue
        row.converted++
        add(row.agreements, oracle, await structureOf({ text: markdown, format: 'gfm' }), ORACLE_LOSES[name] ?? [])
      } catch (error) {
        row.failures.push(`${name}${isReadable ? '' : ' (not by the oracle either)'}: ${error.message}`)
      }
    }
    rows.push(row)
  }
  return rows
}

const textOfPdf = async (path) => ({ words: wordsOf(await outputOf('pdftotext', [path, '-'])) })

/** The same of documents that pandoc writes in each format from markdown. */
export async function convertWritten(documents, convert) {
  const folder = mkdtempSync(join(tmpdir(), 'mds-converters-'))
  try {
    const rows = []
    for (const [format, { reader, writer }] of Object.entries(FORMATS)) {
      if (writer === undefined) continue
      const row = { format, tried: 0, readable: 0, converted: 0, failures: [], agreements: {} }
      for (const [at, text] of documents.entries()) {
        row.tried++
        const path = join(folder, `${at}.${writer}`)
        await outputOf('pandoc', ['-f', 'gfm', '-t', writer, '-s', '--metadata', 'title= ', '--wrap=preserve', '-o', path], text)
        const oracle = await structureOf({ path, format: reader }).catch(() => undefined)
        if (oracle === undefined) continue
        const original = await structureOf({ text, format: 'gfm' })
        for (const feature of READER_LOSES[format] ?? []) oracle[feature] = original[feature]
        row.readable++
        try {
          const markdown = await convert(path, format)
          row.converted++
          add(row.agreements, oracle, await structureOf({ text: markdown, format: 'gfm' }), [])
        } catch (error) {
          row.failures.push(`document ${at}: ${error.message}`)
        }
      }
      rows.push(row)
    }
    return rows
  } finally {
    rmSync(folder, { recursive: true })
  }
}

function add(agreements, expected, actual, lost) {
  const put = (name, agreement) => (agreements[name] = agreements[name] === undefined ? agreement : sum(agreements[name], agreement))
  for (const feature of FEATURES) {
    if (expected[feature] === undefined || lost.includes(feature)) continue
    const agreement = compared(expected[feature], actual[feature])
    put(feature, agreement)
    put('structure', agreement)
  }
  if (lost.includes('words')) return
  put('words', compared(expected.words, actual.words))
  put('order', comparedInOrder(expected.words, actual.words))
}

/** One line a format. A dash where neither side has any of it. */
export function tableOf(rows) {
  const names = ['structure', ...FEATURES, 'words', 'order']
  const head = `| format | tried | oracle reads | converted | ${names.join(' | ')} |`
  const lines = rows.map(({ format, tried, readable, converted, agreements }) => {
    const values = names.map((name) => {
      const each = agreements[name]
      return each === undefined || each.expected + each.actual === 0 ? '-' : `${f1(each).toFixed(3)} (${each.expected})`
    })
    return `| ${format} | ${tried} | ${readable} | ${converted} | ${values.join(' | ')} |`
  })
  return [head, `|${' --- |'.repeat(names.length + 4)}`, ...lines].join('\n')
}
