/** Options of `mds import` for documentation sites: choice of files, language, frontmatter. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { cliWithServer } from '../../harness/cli_runs.js'

const { runs, post } = cliWithServer()
const { mds } = runs

interface Stored {
  readonly key: string
  readonly lang: string
  readonly meta: Record<string, string[]>
  readonly contentMd: string
}

async function documents(collection: string): Promise<Stored[]> {
  return (await post('/v1/search', { collection, limit: 100, sort: 'key', asc: true })).json<Stored[]>()
}

const places = async (collection: string): Promise<string[]> =>
  (await documents(collection)).map(({ key, lang }) => `${key}.${lang}`).sort()

describe('mds import, options for sites', () => {
  it('mds import: --include and --exclude choose files by globs over their path, also among files of one key', async () => {
    const tree = runs.makeTree({ 'docs/a.md': 'A', 'docs/b/c.md': 'C', 'docs/b/c.txt': 'T', 'docs/drafts/d.md': 'D', 'README.md': 'R' })
    const choice = ['--include', 'docs/**', '--exclude', '**/drafts/**', '--exclude', '**/c.md']
    assert.match((await mds('import', tree, '-c', 'globs', ...choice)).stdout, /^2 added, 0 updated, 0 failed/)
    assert.deepEqual(await places('globs'), ['docs/a.en', 'docs/b/c.en'])
  })

  it('mds import: --lang-from folder takes the first folder as the language, and translations share a key', async () => {
    const tree = runs.makeTree({ 'de/guide.md': 'D', 'en/guide.md': 'E', 'pt-BR/guide.md': 'P', 'api/guide.md': 'A', 'x.md': 'X' })
    await mds('import', tree, '-c', 'folders', '--lang-from', 'folder', '-l', 'fr')
    assert.deepEqual(await places('folders'), ['api/guide.fr', 'guide.de', 'guide.en', 'guide.pt-BR', 'x.fr'])
    await mds('import', tree, '-c', 'none', '-l', 'fr')
    assert.deepEqual(await places('none'), ['api/guide.fr', 'de/guide.fr', 'en/guide.fr', 'pt-BR/guide.fr', 'x.fr'])
  })

  it('mds import: --lang-from frontmatter takes lang, language or locale, where it is a code of a language', async () => {
    const tree = runs.makeTree({
      'a.md': '---\nlang: de\nlocale: fr\n---\n',
      'b.md': '---\nlocale: zh_Hans\n---\n',
      'c.md': '---\nlanguage: javascript\n---\n',
      'd.md': '---\nlang: [de, en]\n---\n',
    })
    await mds('import', tree, '-c', 'codes', '--lang-from', 'frontmatter')
    assert.deepEqual(await places('codes'), ['a.de', 'b.zh_Hans', 'c.en', 'd.en'])
  })

  it('mds import: frontmatter in TOML becomes metadata as YAML does, and is found when it is stripped from the text', async () => {
    const toml =
      '+++\ntitle = "Zebra"\ndate = 2024-01-02\nweight = 3\ntags = ["a", "b"]\n[params]\nauthor = "X"\n[[faq]]\nq = "Why?"\n+++\n# Text\n'
    const tree = runs.makeTree({ 'a.md': toml, 'broken.md': '+++\ntitle = \n+++\nbody' })
    const run = await mds('import', tree, '-c', 'toml', '--strip-frontmatter')
    assert.match(run.stderr, /imported without metadata:\n {2}broken\.md: frontmatter: .*\(line \d+\)\n/)
    const [first, second] = await documents('toml')
    assert.deepEqual(first?.meta, {
      title: ['Zebra'],
      date: ['2024-01-02'],
      weight: ['3'],
      tags: ['a', 'b'],
      'params.author': ['X'],
      'faq.0.q': ['Why?'],
    })
    assert.deepEqual([first?.contentMd, second?.contentMd], ['# Text\n', 'body'])
    const filtered = await post('/v1/search', { collection: 'toml', filterMeta: { 'params.author': ['X'] } })
    assert.equal(filtered.json<unknown[]>().length, 1)
  })
})
