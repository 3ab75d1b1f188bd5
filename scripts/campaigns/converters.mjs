/**
 * `npm run campaign -- converters [mutants]`: converts the corpus of formats, documents that pandoc writes
 * from markdown, and mutants of both, in a pool of real processes.
 * - Corpus: at least 95 % of the files that pandoc or pdftotext read, and the structure (headings, lists,
 *   tables, links, code as F1) and words that they see. Prints a table, and each file that failed with its
 *   reason.
 * - Mutants (2 000 unless a number is given; 0 leaves them out): each ends in a text or a typed refusal in
 *   time, the memory of the processes is bounded, and the pool converts afterwards. Needs a build, pandoc,
 *   pdftotext and the corpus in the folder `shared` beside the project; without them it ends with exit code
 *   77. `MDS_SEED=n` repeats the mutants of a run.
 */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { readDocuments } from '../../dist/bench/data/corpora.js'
import { ConverterPool } from '../../dist/src/conversion/converter_pool.js'
import { convertCorpus, convertWritten, tableOf } from '../lib/conversion_corpus.mjs'
import { convertMutants } from '../lib/conversion_mutants.mjs'
import { f1, outputOf } from '../lib/conversion_structure.mjs'
import { projectRoot } from '../lib/root.mjs'

const SKIPPED = 77
/** Documents that pandoc writes in each format: some 3 000 features. */
const WRITTEN = 30
/** Of each so many documents of the corpus of markdown one is taken. */
const WRITTEN_STEP = 900

/** The least that each format must reach, of what the oracle sees. Of PDF, words. */
const AIMS = {
  html: { structure: 0.95 },
  docx: { structure: 0.95 },
  odt: { structure: 0.95 },
  tex: { structure: 0.9 },
  rtf: { words: 0.9, lists: 0.9, links: 0.9 },
  pdf: { words: 0.97, order: 0.9 },
}
const CONVERTED_SHARE_MIN = 0.95

const mutants = Number(process.argv[2] ?? 2000)
const shared = process.env['MDS_SHARED'] ?? join(projectRoot, '..', 'shared')
const formats = join(shared, 'corpora', 'formats')
const markdown = join(shared, 'corpora', 'md', 'md50k.ndjson.gz')
const tools = await Promise.all([outputOf('pandoc', ['--version']), outputOf('pdftotext', ['-v'])]).catch(() => undefined)
if (tools === undefined || !existsSync(formats) || !existsSync(markdown)) {
  console.log('converters: skipped, because pandoc, pdftotext or the corpus is not there')
  process.exit(SKIPPED)
}

const failures = []
const pool = new ConverterPool()
const convert = async (path, format) => (await pool.convert({ path, format, textOnly: false })).markdown

function report(title, rows) {
  console.log(`\n${title}\n${tableOf(rows)}`)
  for (const { format, failures: reasons } of rows) for (const reason of reasons) console.log(`${format} ${reason}`)
  for (const { format, readable, converted, agreements } of rows) {
    if (converted < readable * CONVERTED_SHARE_MIN) failures.push(`${title}: ${format}: ${converted} of ${readable} converted`)
    for (const [name, aim] of Object.entries(AIMS[format])) {
      const value = agreements[name] === undefined ? 1 : f1(agreements[name])
      if (value < aim) failures.push(`${title}: ${format}: ${name} ${value.toFixed(3)}, aim ${aim}`)
    }
  }
}

report('corpus', await convertCorpus(formats, convert))
const all = await readDocuments(markdown)
const documents = all.filter(({ contentMd }, at) => at % WRITTEN_STEP === 0 && contentMd.length > 1500 && contentMd.length < 30_000)
report(
  'written by pandoc',
  await convertWritten(
    documents.slice(0, WRITTEN).map(({ contentMd }) => contentMd),
    convert,
  ),
)
pool.close()
if (mutants > 0) failures.push(...(await convertMutants(formats, mutants)))

for (const failure of failures) console.log(`FAILED ${failure}`)
process.exitCode = failures.length === 0 ? 0 : 1
