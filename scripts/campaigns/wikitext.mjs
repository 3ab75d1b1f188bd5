/**
 * `npm run campaign -- wikitext [MB]`: the converter of wikitext against wtf_wikipedia, and its speed.
 *
 * - Words: those of our markdown and of the oracle's plain text, as bags: F1 of each of the sample pages
 *   (shared corpora, where they are there) and of 1 000 pages from a grammar of wikitext, at least .98 each
 *   for the samples and for all generated pages together.
 * - Speed of the converter on these pages, in MB of UTF-8 per second of processor time.
 * - A dump of so many MB (1 000) made while it is read, through reader and converter, in a process of its
 *   own: MB/s, and peak resident memory, below 300 MB.
 *
 * The oracle expands templates; they are switched off in it. It repeats cells that span; spans are removed
 * from its input. It shows no address of a link without a text, as ours does, and no cell whose header has
 * the name of another: both count as disagreement. It leaves the end of a caption that has a link in a list,
 * and takes a quotation for a template: the grammar has neither. Needs a build with tests. Prints the seed;
 * `MDS_SEED=n` repeats a run.
 */
import { fork } from 'node:child_process'
import { createReadStream, existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { decompressDump } from '../../dist/src/conversion/wiki/decompression.js'
import { readDump } from '../../dist/src/conversion/wiki/dump_reader.js'
import { noPages, wikiDocuments } from '../../dist/src/conversion/wiki/page_document.js'
import { convertWikitext } from '../../dist/src/conversion/wiki/wikitext.js'
import { sharedPath } from '../../dist/test/harness/shared_folder.js'
import { DUMP_BEGIN, DUMP_END, pageOf, pageXml } from '../../dist/test/harness/wiki_dumps.js'
import { randomFrom, seedOfRun } from '../lib/random.mjs'

const AGREEMENT_MIN = 0.98
const PAGES = 1000
const RESIDENT_MB_MAX = 300
const MB = 1e6

const megabytes = Number(process.argv[2] ?? 1000)
const seed = seedOfRun()

const WORDS =
  'river town century music engine north early known people history école straße Ελλάδα город 日本 system water light first second green ' +
  "king's house paper theory species island army book film language family church railway county season record member"

/** The grammar: pages of blocks, blocks of inline constructs, nested to a small depth. */
function grammar(below) {
  const words = WORDS.split(' ')
  const pick = (list) => list[below(list.length)]
  const many = (min, max, one, separator = ' ') => Array.from({ length: min + below(max - min + 1) }, one).join(separator)
  const word = () => pick(words)
  const plain = () => many(1, 6, word)
  const INLINE = [
    () => `'''${plain()}'''`,
    () => `''${plain()}''`,
    () => `'''''${plain()}'''''`,
    () => `[[${word()}]]`,
    () => `[[${plain()}|${plain()}]]`,
    () => `[[${word()}]]s`,
    () => `[http://example.org/${below(100)} ${plain()}]`,
    () => `{{${word()}|${plain()}|x={{${word()}|${plain()}}}}}`,
    () => `<ref name="${word()}">${plain()} {{cite|${plain()}}}</ref>`,
    () => `<ref name="${word()}" />`,
    () => `<!-- ${plain()} -->`,
    () => `<small>${plain()}</small>`,
    () => `<span style="color: red">${plain()}</span>`,
    () => `${word()}<br />${word()}`,
    () => `[[File:${word()}.jpg|thumb|${plain()}]]`,
    () => `${word()}&nbsp;${word()} &amp; ${word()} &ndash; ${word()}`,
    () => `<nowiki>${plain()}</nowiki>`,
    () => '__NOTOC__',
  ]
  const sentence = () => many(3, 12, () => (below(3) === 0 ? pick(INLINE)() : plain()))
  const list = (mark) => many(1, 5, () => `${mark.repeat(1 + below(3))} ${sentence()}`, '\n')
  const cell = () => (below(4) === 0 ? `style="width: 3em" | ${plain()}` : below(4) === 0 ? `[[${word()}|${word()}]]` : plain())
  const table = () => {
    const columns = 2 + below(3)
    const header = `! ${Array.from({ length: columns }, (_, index) => `h${index} ${word()}`).join(' !! ')}`
    const row = () => (below(2) === 0 ? `| ${many(columns, columns, cell, ' || ')}` : many(columns, columns, () => `| ${cell()}`, '\n'))
    return `{| class="wikitable"\n${header}\n${many(1, 6, () => `|-\n${row()}`, '\n')}\n|}`
  }
  const BLOCKS = [
    () => many(1, 4, sentence, '\n'),
    () => `${'='.repeat(2 + below(3))} ${plain()} `.replace(/^(=+)(.*)$/, '$1$2$1'),
    () => list('*'),
    () => list('#'),
    () => list(':'),
    () => `; ${word()} : ${plain()}`,
    () => '----',
    table,
    () => `{{Infobox\n| a = ${plain()}\n| b = {{${word()}}}\n}}`,
    () => `<div class="note">\n${sentence()}\n</div>`,
    () => '\n\n',
  ]
  return () => `${many(4, 25, () => pick(BLOCKS)(), '\n\n')}\n[[Category:${plain()}]]\n`
}

const next = grammar(randomFrom(seed))

// The oracle.

function openOracle() {
  const wtf = createRequire(import.meta.url)('wtf_wikipedia')
  wtf.extend((_models, templates) => {
    for (const name of Object.keys(templates)) templates[name] = () => ' '
  })
  return (wikitext) => {
    const parts = []
    for (const section of wtf(wikitext.replace(/\b(?:row|col)span\s*=\s*["']?\d+["']?/gi, '')).sections()) {
      parts.push(section.title(), section.text())
      for (const table of section.tables()) {
        const headers = new Set(table.data.flatMap((row) => Object.keys(row)).filter((name) => !/^col-?\d+$/.test(name)))
        parts.push(...headers, ...table.data.flatMap((row) => Object.values(row).map((cell) => cell.text())))
      }
    }
    return parts.join('\n')
  }
}

function bagOf(text) {
  const bag = new Map()
  for (const word of text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []) bag.set(word, (bag.get(word) ?? 0) + 1)
  return bag
}

const sum = (bag) => [...bag.values()].reduce((total, count) => total + count, 0)

/** Addresses of links, the language of a fence and numbers of items are no words of the page. */
function countWords(oracle, wikitext, dropped) {
  const ours = bagOf(
    convertWikitext(wikitext, dropped)
      .replace(/\]\([^)\s]*\)/g, '] ')
      .replace(/^```\w*|^[ >]*1\. /gm, ''),
  )
  const theirs = bagOf(oracle(wikitext).replace(/^ \* \d+\) /gm, ''))
  let shared = 0
  for (const [word, count] of ours) shared += Math.min(count, theirs.get(word) ?? 0)
  return { shared, ours: sum(ours), theirs: sum(theirs) }
}

const agreementOf = ({ shared, ours, theirs }) => (ours + theirs === 0 ? 1 : (2 * shared) / (ours + theirs))

async function readSamples() {
  const folder = sharedPath('corpora/wiki')
  if (!existsSync(folder)) {
    console.log(`SKIPPED: no sample dumps at ${folder}`)
    return []
  }
  const pages = []
  for (const name of ['bgwiki-latest-pages-articles-shortened', 'enwiki-table-markup', 'testcorpus'])
    for await (const page of readDump(decompressDump(createReadStream(join(folder, `${name}.xml.bz2`)), 1e9))) pages.push(page)
  return pages
}

const secondsOf = ({ user, system }) => (user + system) / 1e6

function measure(name, texts) {
  const bytes = texts.reduce((total, text) => total + Buffer.byteLength(text), 0)
  for (const text of texts) convertWikitext(text)
  const begin = process.cpuUsage()
  let rounds = 0
  while (secondsOf(process.cpuUsage(begin)) < 3) {
    for (const text of texts) convertWikitext(text)
    rounds++
  }
  console.log(`converter, ${name}: ${((bytes * rounds) / MB / secondsOf(process.cpuUsage(begin))).toFixed(1)} MB/s`)
}

async function compareAll() {
  const oracle = openOracle()
  const samples = await readSamples()
  let isGood = true
  for (const { title, text, dropped } of samples) {
    const agreement = agreementOf(countWords(oracle, text, dropped))
    if (agreement < AGREEMENT_MIN) isGood = false
    console.log(`${agreement.toFixed(4)}  ${title}`)
  }
  const total = { shared: 0, ours: 0, theirs: 0 }
  let worst = { agreement: 1, page: '' }
  const generated = Array.from({ length: PAGES }, next)
  for (const page of generated) {
    const counts = countWords(oracle, page)
    for (const name of Object.keys(total)) total[name] += counts[name]
    if (agreementOf(counts) < worst.agreement) worst = { agreement: agreementOf(counts), page }
  }
  const agreement = agreementOf(total)
  console.log(`${agreement.toFixed(4)}  ${PAGES} generated pages, ${total.ours} words; the worst page ${worst.agreement.toFixed(4)}`)
  if (agreement < AGREEMENT_MIN) {
    isGood = false
    console.log(worst.page)
  }
  if (samples.length > 0) {
    const isLatin = ({ text }) => /^[\0-\xff\u2010-\u2030]*$/.test(text.slice(0, 2000))
    measure(
      'sample pages, English',
      samples.filter(isLatin).map(({ text }) => text),
    )
    measure(
      'sample pages, Bulgarian',
      samples.filter((page) => !isLatin(page)).map(({ text }) => text),
    )
  }
  measure('generated pages', generated)
  return isGood
}

// The large dump, in a process of its own.

async function* makeDump(bytesMax) {
  // Of some 250 KB, as a file is read.
  const chunk = () => Buffer.from(Array.from({ length: 50 }, (_, index) => pageXml(pageOf(`Page ${index}`, next()))).join(''))
  const chunks = Array.from({ length: 8 }, chunk)
  yield Buffer.from(DUMP_BEGIN)
  for (let bytes = 0, index = 0; bytes < bytesMax; index++) {
    const pages = chunks[index % chunks.length]
    bytes += pages.length
    yield pages
  }
  yield Buffer.from(DUMP_END)
}

async function stream() {
  const counts = noPages()
  const options = { lang: 'en', namespaces: new Set([0]), skipRedirects: false, maxPages: 0 }
  let markdownBytes = 0
  const begin = performance.now()
  for await (const { document } of wikiDocuments(readDump(decompressDump(makeDump(megabytes * MB), Infinity)), options, counts))
    markdownBytes += Buffer.byteLength(document.contentMd)
  const seconds = (performance.now() - begin) / 1000
  const residentMb = (process.resourceUsage().maxRSS * 1024) / MB
  const cpuSeconds = secondsOf(process.cpuUsage())
  console.log(
    `dump of ${megabytes} MB, ${counts.pages} pages, ${(markdownBytes / MB).toFixed(0)} MB of markdown: ${(megabytes / seconds).toFixed(1)} MB/s ` +
      `(${(megabytes / cpuSeconds).toFixed(1)} of processor time), peak resident memory ${residentMb.toFixed(0)} MB`,
  )
  process.exitCode = residentMb < RESIDENT_MB_MAX ? 0 : 1
}

if (process.send !== undefined && process.env['MDS_WIKITEXT_STREAM'] !== undefined) await stream()
else {
  console.log(`wikitext: seed ${seed}`)
  const isGood = await compareAll()
  const env = { ...process.env, MDS_SEED: String(seed), MDS_WIKITEXT_STREAM: '1' }
  const child = fork(fileURLToPath(import.meta.url), [String(megabytes)], { env, stdio: 'inherit' })
  const code = await new Promise((resolve) => child.on('exit', resolve))
  process.exitCode = isGood && code === 0 ? 0 : 1
}
