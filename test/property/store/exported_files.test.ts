/**
 * The files of `mds export --git`: a document is read back from its file unchanged, whatever its text, and
 * any frontmatter reader finds its metadata. No two documents share a path, and no path is one that git, a
 * file system or the importer rejects.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { pathOf } from '../../../src/cli/export/git_paths.js'
import { readExportedFile, writeExportedFile } from '../../../src/cli/files/exported_file.js'
import { readFrontmatter } from '../../../src/conversion/frontmatter.js'
import { holds } from '../../harness/property.js'

const odd = fc.constantFrom(
  '',
  '---',
  '---\n',
  '\n',
  '\r\n',
  '"',
  '\\',
  ': ',
  '[',
  ']',
  '? ',
  '# ',
  '\u0085',
  '\u2028',
  '\ufeff',
  '\u007f',
  '\u0000',
  'mds:key',
  'mds:meta:',
  '__proto__',
  'ä😀',
  'text',
)
const text = fc.oneof(fc.string({ unit: 'grapheme' }), fc.array(odd, { maxLength: 6 }).map((parts) => parts.join(''))) // prettier-ignore
const meta = fc.array(fc.tuple(text, fc.array(text, { maxLength: 3 })), { maxLength: 5 }).map((entries) => Object.fromEntries(entries) as Record<string, string[]>) // prettier-ignore

test('a document comes back from its file as it was', () => {
  holds(
    fc.property(text, text, meta, text, (key, lang, of, contentMd) => {
      const document = { key, lang, meta: of, contentMd }
      assert.deepEqual(readExportedFile(writeExportedFile(document)), document)
    }),
    { numRuns: 2000 },
  )
})

test('any reader of frontmatter finds the metadata of a file, and its body', () => {
  holds(
    fc.property(text, meta, text, (key, of, contentMd) => {
      const file = writeExportedFile({ key, lang: 'en', meta: of, contentMd })
      const block = readFrontmatter(file)
      assert.equal(block.problem, undefined)
      assert.equal(file.slice(block.bodyOffset), contentMd)
      const renamed = Object.entries(of).map(([name, values]) => [name.startsWith('mds:') ? `mds:meta:${name}` : name, values] as const)
      const entries: (readonly [string, readonly string[]])[] = [['mds:key', [key]], ['mds:lang', ['en']], ...renamed]
      const expected = Object.fromEntries(entries.filter(([, values]) => values.length > 0))
      assert.deepEqual(block.meta, expected)
    }),
    { numRuns: 1000 },
  )
})

test('a file of another origin, or whose block was edited into other YAML, is left to the general reader', () => {
  const ours = writeExportedFile({ key: 'k', lang: 'en', meta: { a: ['x'] }, contentMd: 'text' })
  for (const file of [
    '',
    '# text',
    '---\ntitle: x\n---\ntext',
    ours.slice(0, 30),
    ours.replace('["x"]', 'x'),
    ours.replace('["k"]', 'k'),
    ours.replace('"mds:lang": ["en"]\n', ''),
  ])
    assert.equal(readExportedFile(file), undefined, file)
  const edited = ours.replace('["x"]', '["x", "y"]')
  assert.deepEqual(readExportedFile(edited)?.meta, { a: ['x', 'y'] })
})

test('paths: one for each identity, each where every file system, git and the importer take it', () => {
  const part = fc.oneof(
    fc.string({ unit: 'grapheme', maxLength: 4 }),
    fc.constantFrom('', '.', '..', '.git', 'git~1', '.hidden', 'node_modules', 'a.md', 'b.MARKDOWN', 'a.en', 'a b ', '%2E', '%', 'CON:', 'x'.repeat(300), 'ä'.repeat(300)),
  ) // prettier-ignore
  const key = fc.array(part, { minLength: 1, maxLength: 4 }).map((parts: string[]) => parts.join('/').replaceAll('\0', ''))
  const lang = fc.constantFrom('en', 'en_GB', 'en.md', 'a/b', 'zh-Hant', 'ä')
  fc.assert(
    fc.property(fc.uniqueArray(fc.tuple(key, lang), { maxLength: 30, selector: (pair) => pair.join('\0') }), (identities) => {
      const paths = identities.map(([name, language]) => pathOf(name, language))
      assert.equal(new Set(paths).size, paths.length)
      const folders = new Set(paths.flatMap((path) => path.split('/').map((_, at, all) => all.slice(0, at).join('/'))))
      for (const path of paths) {
        assert.ok(!folders.has(path), 'no folder is named like a file')
        assert.ok(path.endsWith('.md') && path.isWellFormed())
        for (const segment of path.split('/')) {
          assert.ok(
            segment !== '' && !segment.startsWith('.') && segment.toLowerCase() !== 'node_modules' && Buffer.byteLength(segment) <= 255,
            path,
          )
          assert.doesNotMatch(segment, /[\u0000-\u001f\\:*?"<>|~]/)
        }
      }
    }),
    { numRuns: 1000 },
  )
  assert.equal(pathOf('guide/install', 'en'), 'guide/install.en.md')
  assert.equal(pathOf('../.git/config', 'a.b'), '%2E%2E/%2Egit/config.a%2Eb.md')
})
