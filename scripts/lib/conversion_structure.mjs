/**
 * Structure of a document as pandoc's tree shows it, and how far two documents agree: the oracle of
 * `npm run campaign -- converters`.
 */
import { spawn } from '../../dist/test/harness/process/owned_processes.js'

/** Words of texts in order are compared up to this number; more than the corpus has. */
const WORDS_COMPARED_MAX = 20_000

/** @returns standard output @throws Error with the standard error */
export function outputOf(program, args, input) {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { stdio: ['pipe', 'pipe', 'pipe'] })
    const out = []
    let errors = ''
    child.stdout.on('data', (part) => out.push(part))
    child.stderr.on('data', (part) => (errors += part))
    child.on('error', reject)
    child.on('close', (code) =>
      code === 0 ? resolve(Buffer.concat(out).toString()) : reject(new Error(errors.trim() || `${program} ended with ${code}`)),
    )
    child.stdin.on('error', () => undefined)
    child.stdin.end(input ?? '')
  })
}

/** @param input path, or text of a document in `format` */
export async function structureOf({ path, text, format }) {
  const args = ['-f', format, '-t', 'json', ...(path === undefined ? [] : [path])]
  const tree = JSON.parse(await outputOf('pandoc', args, text))
  // What styles say to be title or author stands in the metadata of pandoc's tree, in the text of ours.
  const front = TITLES.flatMap((name) => (format === 'html' || tree.meta[name] === undefined ? [] : [tree.meta[name]]))
  const structure = { headings: [], lists: [], tables: [], links: [], code: [], words: [] }
  if (front.length > 0 && tree.meta.title !== undefined) add(structure.headings, tree.meta.title, '1 ')
  walk(tree.blocks, structure, '')
  structure.words = wordsOf(`${textOf(front)} ${textOf(tree.blocks)}`)
  return structure
}

const TITLES = ['title', 'subtitle', 'author', 'date', 'abstract']

export const wordsOf = (text) => text.normalize('NFKC').match(/[\p{L}\p{N}]+/gu) ?? []
const lineOf = (node) => wordsOf(textOf(node)).join(' ')

function walk(node, structure, list) {
  if (Array.isArray(node)) {
    for (const child of node) walk(child, structure, list)
    return
  }
  if (node === null || typeof node !== 'object') return
  const { t, c } = node
  if (t === 'Header') add(structure.headings, c[2], `${c[0]} `)
  else if (t === 'Link') {
    // A target within the document is an anchor that markdown has no place for.
    if (!c[2][0].startsWith('#')) add(structure.links, c[1], `${decode(c[2][0])} `)
  } else if (t === 'CodeBlock')
    structure.code.push(
      ...c[1]
        .split('\n')
        .map((line) => wordsOf(line).join(' '))
        .filter((line) => line !== ''),
    )
  else if (t === 'Code') add(structure.code, node, '')
  else if (t === 'BulletList' || t === 'OrderedList') {
    const items = t === 'BulletList' ? c : c[1]
    for (const item of items) add(structure.lists, item[0], `${list}${t[0]} `)
    walk(items, structure, `${list}${t[0]}`)
    return
  } else if (t === 'Table') {
    for (const row of rowsOf(c)) for (const [, , , , blocks] of row[1]) add(structure.tables, blocks, '')
    // A cell of markdown has no lists; their text is that of the cell.
    const cells = { ...structure, lists: [] }
    walk(c, cells, '')
    return
  }
  walk(c, structure, list)
}

const rowsOf = ([, , , head, bodies, foot]) => [...head[1], ...bodies.flatMap((body) => [...body[2], ...body[3]]), ...foot[1]]

function add(features, node, prefix) {
  const line = lineOf(node)
  if (line !== '') features.push(prefix + line)
}

function decode(url) {
  try {
    return decodeURI(url)
  } catch {
    return url
  }
}

const BREAKS = new Set(['Para', 'Plain', 'Header', 'CodeBlock', 'LineBlock', 'HorizontalRule', 'Div', 'BulletList', 'OrderedList', 'Table'])

function textOf(node) {
  const parts = []
  collect(node, parts)
  return parts.join('')
}

function collect(node, parts) {
  if (Array.isArray(node)) {
    for (const child of node) collect(child, parts)
    return
  }
  if (node === null || typeof node !== 'object') return
  const { t, c } = node
  if (t === 'Str') parts.push(c)
  else if (t === 'Space' || t === 'SoftBreak' || t === 'LineBreak') parts.push(' ')
  else if (t === 'Code' || t === 'CodeBlock' || t === 'Math') parts.push(c[1])
  else if (t === 'RawInline' || t === 'RawBlock') parts.push(/^<br\s*\/?>$/.test(c[1]) ? ' ' : '')
  else if (t === 'Table') {
    collect(c[1], parts)
    for (const row of rowsOf(c)) for (const cell of row[1]) collect(cell[4], parts)
  } else if (t === 'Link' || t === 'Image' || t === 'Span' || t === 'Div') collect(c[1], parts)
  else if (t === 'Header') collect(c[2], parts)
  else if (t === 'OrderedList') collect(c[1], parts)
  else if (t === 'Quoted') collect(c[1], parts)
  else if (t === 'Cite') collect(c[1], parts)
  else collect(c, parts)
  if (BREAKS.has(t)) parts.push('\n')
}

/** Agreement of two lists as bags: what both have, of the first, of the second. */
export function compared(expected, actual) {
  const left = new Map()
  for (const item of expected) left.set(item, (left.get(item) ?? 0) + 1)
  let both = 0
  for (const item of actual) {
    const count = left.get(item) ?? 0
    if (count > 0) both++
    left.set(item, count - 1)
  }
  return { both, expected: expected.length, actual: actual.length }
}

/** Agreement of two lists in their order: the longest common subsequence. */
export function comparedInOrder(expected, actual) {
  const first = expected.slice(0, WORDS_COMPARED_MAX)
  const second = actual.slice(0, WORDS_COMPARED_MAX)
  let above = new Uint32Array(second.length + 1)
  let row = new Uint32Array(second.length + 1)
  for (const word of first) {
    for (let at = 0; at < second.length; at++) row[at + 1] = word === second[at] ? above[at] + 1 : Math.max(row[at], above[at + 1])
    ;[above, row] = [row, above]
  }
  return { both: above[second.length], expected: first.length, actual: second.length }
}

/** 1 if both have nothing. */
export function f1({ both, expected, actual }) {
  return expected + actual === 0 ? 1 : (2 * both) / (expected + actual)
}

export function sum(left, right) {
  return { both: left.both + right.both, expected: left.expected + right.expected, actual: left.actual + right.actual }
}
