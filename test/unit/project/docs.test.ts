/**
 * Consistency of the written documents: every decision record is in a page and in the index, links and named
 * source files exist, and Markdown wraps at 110 columns. Reads all Markdown files of the checkout; runs
 * nothing.
 */
import assert from 'node:assert/strict'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join, posix } from 'node:path'
import { describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'

const COLUMNS_MAX = 110
/** Folders that are not part of the checkout, or are made by a build. */
const SKIPPED = ['node_modules', 'dist', 'build', 'target', 'pkg', '.git', '.cache']
/** Documents that name paths of an earlier state: a change log is not rewritten when files move. */
const HISTORICAL = ['CHANGELOG.md']
/** Users' files in examples. */
const EXAMPLES = ['guide/install.md']
function findRoot(folder: string): string {
  return existsSync(join(folder, 'package.json')) ? folder : findRoot(dirname(folder))
}
const root = findRoot(dirname(fileURLToPath(import.meta.url)))

function filesUnder(folder: string): string[] {
  return readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = posix.join(folder, entry.name)
    if (!entry.isDirectory()) return [path]
    return SKIPPED.includes(entry.name) || entry.name.startsWith('build-') ? [] : filesUnder(path)
  })
}

const read = (path: string): string => readFileSync(join(root, path), 'utf8')
const files = filesUnder('.')
const documents = files.filter((path) => path.endsWith('.md'))
const INDEX = 'docs/decisions/README.md'
const pages = documents.filter((path) => path.startsWith('docs/decisions/') && path !== INDEX)

const withoutCode = (text: string): string => text.replace(/^\s*(```|~~~)[\s\S]*?^\s*\1/gm, '')

/** The anchor that common renderers generate for a heading: lower case, marks removed, blanks as hyphens. */
function anchorOf(heading: string): string {
  return heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, '')
    .trim()
    .replaceAll(' ', '-')
}

function anchorsOf(path: string): string[] {
  return [...withoutCode(read(path)).matchAll(/^#{1,6} (.+)$/gm)].map(([, heading = '']) => anchorOf(heading))
}

interface Line {
  readonly number: number
  readonly text: string
}

/**
 * Lines of prose: no fenced code, no tables, and no line that is a single unbreakable word, such as an
 * address.
 */
function proseLines(path: string): Line[] {
  let fence: string | undefined
  return read(path)
    .split('\n')
    .map((text, index) => ({ number: index + 1, text }))
    .filter(({ text }) => {
      const mark = /^\s*(```|~~~)/.exec(text)?.[1]
      if (fence !== undefined) {
        if (mark === fence) fence = undefined
        return false
      }
      fence = mark
      return mark === undefined && !/^\s*\|/.test(text) && /\S\s+\S/.test(text.replace(/^\s*(?:[-*>]|\d+\.)\s+/, ''))
    })
}

describe('documents', () => {
  it('every section of a decision page ends with the numbers of its records, and the index leads to each', () => {
    const [, index = ''] = read(INDEX).split('## Records')
    const indexed = [...index.matchAll(/^\| (\d{4}) \| .+ \| \[[\w-]+\]\(([\w/-]+\.md)#([\w-]+)\) \|$/gm)]
    const found = new Map<string, string[]>()
    for (const path of pages) {
      const [title = '', ...sections] = read(path).split(/^## /m)
      assert.match(title, /^# [\p{L}].*[^.]\n\n[^#]/u, path)
      assert.ok(sections.length > 0, path)
      for (const section of sections) {
        const heading = section.split('\n')[0] ?? ''
        const numbers = /^Records: (\d{4}(?:, \d{4})*)\.\s*$/m.exec(section)?.[1]?.split(', ')
        assert.ok(numbers !== undefined, `${path}: ${heading} names no record`)
        for (const number of numbers)
          found.set(number, [...(found.get(number) ?? []), `${posix.relative('docs/decisions', path)}#${anchorOf(heading)}`])
      }
    }
    assert.ok(indexed.length > 100)
    assert.deepEqual(indexed.map(([, number]) => number).sort(), [...found.keys()].sort())
    for (const [, number = '', page = '', anchor = ''] of indexed) assert.ok(found.get(number)?.includes(`${page}#${anchor}`), number)
  })

  it('every number of a record that a source or a document names is in the index', () => {
    const known = new Set([...read(INDEX).matchAll(/^\| (\d{4}) \|/gm)].map(([, number = '']) => number))
    const unknown = files
      .filter((path) => /\.(?:ts|mjs|md|rs|h|cc|fbs|proto)$/.test(path) && !HISTORICAL.includes(path))
      .flatMap((path) =>
        [...read(path).matchAll(/\b(?:[Dd]ecisions?|[Rr]ecords?):? (0\d{3})\b/g)].map(([, number = '']) => ({ path, number })),
      )
      .filter(({ number }) => !known.has(number))
    assert.deepEqual(unknown, [])
  })

  it('every path of a decision page in a comment exists', () => {
    const stale = files
      .filter((path) => /\.(?:ts|mjs|rs|h|cc|fbs|json|txt)$/.test(path) && !path.startsWith('test/unit/project/docs'))
      .flatMap((path) => [...read(path).matchAll(/docs\/decisions\/([\w/-]+(?:\.md)?)/g)].map(([, page = '']) => `${path}: ${page}`))
      .filter((place) => !existsSync(join(root, 'docs/decisions', place.split(': ')[1] ?? '')))
    assert.deepEqual(stale, [])
    // Records had files of their own once.
    const former = files.filter((path) => /\.(?:ts|mjs|rs|h|cc)$/.test(path) && /\b0\d{3}-[a-z][a-z0-9-]+\.md\b/.test(read(path)))
    assert.deepEqual(former, [])
  })

  it('every relative link leads to a file, and its anchor to a heading', () => {
    for (const document of documents) {
      for (const [, target = '', anchor] of withoutCode(read(document)).matchAll(/\]\((?!https?:|mailto:)([^)#\s]*)(?:#([^)\s]*))?\)/g)) {
        const path = target === '' ? document : posix.join(posix.dirname(document), target)
        assert.ok(existsSync(join(root, path)), `${document} links to ${target}`)
        if (anchor !== undefined) assert.ok(anchorsOf(path).includes(anchor), `${document} links to ${target}#${anchor}`)
      }
    }
  })

  it('every source file that a document names by folder and name exists', () => {
    const suffixes = new Set(files.flatMap((path) => path.split('/').map((_, index, parts) => parts.slice(index).join('/'))))
    const stale = documents
      .filter((document) => !HISTORICAL.includes(document))
      .flatMap((document) =>
        [...read(document).matchAll(/`((?:\w[\w.-]*\/)+[\w.-]+\.(?:ts|mjs|h|cc|c|rs|fbs|py|md|json))`/g)]
          .map(([, path = '']) => path)
          .filter((path) => !suffixes.has(path) && !EXAMPLES.includes(path))
          .filter((path) => !/^(?:dist|build|pkg|wasm\/pkg|models\/minilm|node_modules)\//.test(path))
          .map((path) => `${document} names ${path}`),
      )
    assert.deepEqual(stale, [])
  })

  it('Markdown wraps at 110 columns; tables, code and single words are excepted', () => {
    const long = documents.flatMap((document) =>
      proseLines(document)
        .filter(({ text }) => [...text].length > COLUMNS_MAX)
        .map(({ number }) => `${document}:${number}`),
    )
    assert.deepEqual(long, [])
  })

  it('the glossary defines each term once, and is linked from README and CONTRIBUTING', () => {
    const terms = [...read('docs/glossary.md').matchAll(/^\| \*\*(.+?)\*\*/gm)].map(([, term = '']) => term.toLowerCase())
    assert.ok(terms.length > 50)
    assert.deepEqual(
      terms.filter((term, index) => terms.indexOf(term) !== index),
      [],
    )
    for (const document of ['README.md', 'CONTRIBUTING.md']) assert.match(read(document), /\]\(docs\/glossary\.md\)/, document)
  })
})
