/** `mds import` of MDX, checkouts of git and archives against the real server. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { cliWithServer } from '../../harness/cli_runs.js'

const { runs, post } = cliWithServer()
const { mds } = runs

interface Stored {
  readonly key: string
  readonly meta: Record<string, string[]>
  readonly contentMd: string
}

async function documents(collection: string): Promise<Stored[]> {
  return (await post('/v1/search', { collection, limit: 100, sort: 'key', asc: true })).json<Stored[]>()
}

describe('mds import of MDX', () => {
  it('mds import: a file of MDX is its prose behind its frontmatter, and is not sent twice', async () => {
    const page = '---\ntitle: T\n---\nimport A from "a"\n\n<A>\n  # Words {/* none */}\n</A>\n'
    const tree = runs.makeTree({ 'a.mdx': page, 'b.md': '<A>{x}</A>\n', 'b.mdx': 'same key' })
    const run = await mds('import', tree, '-c', 'mdx')
    assert.match(run.stdout, /^2 added, 0 updated, 1 failed/)
    assert.match(run.stderr, /b\.mdx: its key is that of b\.md/)
    const facts = { upload_format: ['mdx'], upload_filename: ['a.mdx'], upload_converted: ['true'] }
    assert.deepEqual(
      (await documents('mdx')).map(({ key, meta, contentMd }) => [key, meta, contentMd]),
      [
        ['a', { title: ['T'], ...facts }, '---\ntitle: T\n---\n# Words\n'],
        ['b', {}, '<A>{x}</A>\n'],
      ],
    )
    assert.match((await mds('import', tree, '-c', 'mdx')).stdout, /^0 added, 0 updated, 2 unchanged, 1 failed/)
    await mds('import', tree, '-c', 'stripped', '--strip-frontmatter', '--include', 'a.mdx')
    assert.equal((await documents('stripped'))[0]?.contentMd, '# Words\n')
  })
})
