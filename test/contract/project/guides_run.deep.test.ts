/**
 * Every command of README.md and of docs/guides runs as it is written, in order, against a real server. The
 * convention: commands stand in blocks `sh`; a block that can not run in a test is `sh not-run` and has its
 * reason in `NOT_RUN`; a guide says in `GUIDES` what it takes for granted, or which other test runs it.
 */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, it } from 'node:test'
import { parse } from 'yaml'
import { projectFolder } from '../../../src/base/installation.js'
import { blocksOf, type GuideBlock, GUIDES_FOLDER, README, runBlocks } from '../../harness/guides.js'
import { freePort } from '../../harness/process/ports.js'

interface Guide {
  /** Another test that runs all its blocks. */
  readonly elsewhere?: string
  /** Commands before the first block, such as the start of a server with documents. */
  readonly before?: string
  /** Headings that begin anew, with an empty folder, because they are an alternative to what is above. */
  readonly alternatives?: readonly string[]
}

const SERVER = 'npm start\n'
const add = (collection: string, key: string): string =>
  `curl http://127.0.0.1:11023/v1/add -d '{"collection":"${collection}","key":"${key}","lang":"en","meta":{"category":["guide"]},"contentMd":"# Words"}'\n`

const GUIDES: Readonly<Record<string, Guide>> = {
  'README.md': {
    before:
      'mkdir -p my-docs/guide && echo "# How to install" > my-docs/guide/install.md\n' +
      `echo '{"key":"k","lang":"en","contentMd":"# K"}' | gzip > dump.ndjson.gz\n`,
  },
  'access.md': { alternatives: ['Closing a server by variables'] },
  'agent-memory.md': {},
  'audit.md': { before: `SVC_AUDIT_ENABLED=true npm start\n${add('blog', 'a')}` },
  'backup.md': { before: SERVER + add('blog', 'a') },
  'behind-a-proxy.md': { elsewhere: 'contract/http/proxies.deep.test.ts' },
  'bulk-ingest.md': { before: SERVER },
  'changes.md': { before: SERVER },
  'ingest.md': { before: SERVER },
  'clients.md': { elsewhere: 'contract/clients/guide.deep.test.ts' },
  'command-line.md': { before: SERVER },
  'compliance.md': { before: SERVER },
  'configuration.md': {},
  'documentation-search.md': {},
  'embedding.md': {},
  'graphql.md': { before: SERVER + add('notes', 'first') },
  'grpc.md': {},
  'mcp.md': { before: SERVER + add('notes', 'first') },
  'moving.md': {
    before:
      SERVER +
      `echo '{"id":1,"title":"R","overview":"A robot dreams.","genres":["drama"],"year":1980}' > movies.jsonl\n` +
      `echo '{"isbn":"1-2","summary":"Robots.","language":"en","author":{"name":"Ann"},"year":1990}' > books.jsonl\n` +
      `echo '{"_index":"pages","_id":"a","_source":{"body":"A page.","title":"P"}}' > pages.jsonl\n` +
      `printf 'id,title,body\\n1,N,"A note, short"\\n' > notes.csv\n`,
  },
  'operations.md': { before: 'SVC_PPROF_ENABLED=true npm start\n' },
  'storage.md': { before: SERVER },
  'tls.md': {},
  'webhooks.md': {},
}

/** The blocks that no test can run: guide, first line, reason. */
const NOT_RUN = [
  ['README.md', 'npm start ', 'installs, builds and tests, this test among them'],
  ['embedding.md', 'npm run install:minilm ', 'downloads a model of 70 MB'],
  ['grpc.md', 'grpcurl ', 'is no package of Debian; `npm run campaign -- grpc-clients` installs and runs it'],
  ['ingest.md', "curl -X POST 'http://127.0.0.1:11023/v1/import-wiki", 'needs the dump of a wiki; import_wiki.test.ts makes its own'],
  ['ingest.md', 'curl -X POST http://127.0.0.1:11023/v1/import-url', 'fetches a page of the web; import_url.test.ts serves its own'],
  ['moving.md', '# Meilisearch', 'asks servers of other engines; the test has files as they export them'],
  ['operations.md', 'go tool pprof ', 'needs Go; profiles.test.ts reads such profiles'],
  [
    'storage.md',
    'curl -f -X PUT ',
    'needs an account of an object store; storage/backends.test.ts runs it with that of a store of its own',
  ],
] as const
const NOT_RUN_MAX = 8
/** Guides whose commands are all in that list. */
const WITHOUT_RUN = ['grpc.md']

/** Languages of blocks that contain no commands of a shell. */
const OTHER_LANGUAGES = /^(?:text|yaml|json|js|python|go|php|markdown|haproxy[\w-]*|nginx[\w-]*)$/
const COMMAND = /^\s*(?:\$ )?(?:[A-Z_]+=\S+ )*(?:curl|mds|npm|node|grep|openssl|docker|kubectl|systemctl|sudo|apt-get|grpcurl)\s/m

const folder = mkdtempSync(join(tmpdir(), 'mds-guides-'))
after(() => rmSync(folder, { recursive: true, force: true }))

const names = ['README.md', ...readdirSync(GUIDES_FOLDER).filter((name) => name.endsWith('.md')).sort()] // prettier-ignore
const markdownOf = (name: string): string => readFileSync(name === 'README.md' ? README : join(GUIDES_FOLDER, name), 'utf8')
const isRun = ({ language, mark }: GuideBlock): boolean => language === 'sh' && mark === ''

const missing = ['bash', 'curl', 'jq', 'openssl'].filter((tool) => spawnSync(tool, ['--version']).error !== undefined)
const skip = missing.length > 0 ? `needs ${missing.join(', ')}` : false

describe('the convention of guides', () => {
  it('guides: each says what its commands need, or which other test runs them', () => {
    assert.deepEqual(Object.keys(GUIDES).sort(), [...names].sort())
    for (const [name, { elsewhere }] of Object.entries(GUIDES)) {
      if (elsewhere !== undefined) assert.ok(readFileSync(join(projectFolder(), 'test', elsewhere), 'utf8').includes(name), name)
      else if (!WITHOUT_RUN.includes(name)) assert.ok(blocksOf(markdownOf(name)).some(isRun), `${name} has commands in a block sh`)
    }
  })

  it('guides: commands stand in blocks sh, and those that no test runs are a short list with reasons', () => {
    const marked = names.flatMap((name) => blocksOf(markdownOf(name)).flatMap((block) => (block.mark === '' ? [] : [{ name, ...block }])))
    assert.deepEqual(
      marked.map(({ name, language, mark, text }) => [
        name,
        language,
        mark,
        NOT_RUN.some(([guide, line]) => guide === name && text.startsWith(line)),
      ]),
      NOT_RUN.map(([name]) => [name, 'sh', 'not-run', true]),
    )
    assert.ok(NOT_RUN.length <= NOT_RUN_MAX)
    for (const name of names)
      for (const { language, text, line } of blocksOf(markdownOf(name))) {
        const at = `${name}:${line}`
        assert.ok(language === 'sh' || OTHER_LANGUAGES.test(language), `${at}: a block has a language: ${language}`)
        if (language !== 'sh') assert.doesNotMatch(text, COMMAND, `${at}: commands stand in a block sh`)
        if (language === 'json') JSON.parse(text)
        if (language === 'yaml') parse(text)
      }
  })

  it('guides: curl fails where its output goes into a file', () => {
    for (const name of names)
      for (const { language, text, line } of blocksOf(markdownOf(name)))
        for (const command of language === 'sh' ? text.split('\n') : [])
          if (/\bcurl\b.*(?:\s-o\s|>\s*\S)/.test(command))
            assert.match(command, /\bcurl (?:.* )?-\w*f|--fail/, `${name}:${line}: ${command}`)
  })
})

describe('the commands of guides', { skip }, () => {
  for (const name of names) {
    const { elsewhere, before = '', alternatives = [] } = GUIDES[name] ?? {}
    if (elsewhere !== undefined || WITHOUT_RUN.includes(name)) continue
    it(`guides: every command of ${name} runs as it is written`, async () => {
      const blocks = blocksOf(markdownOf(name)).filter((block) => isRun(block) || block.language === 'yaml')
      for (const [at, part] of partsOf(blocks, alternatives).entries()) {
        const ports = [await freePort(), await freePort(), await freePort()] as const
        const { status, output } = runBlocks(part, { folder: join(folder, name, String(at)), ports, before })
        assert.equal(status, 0, output)
        assert.doesNotMatch(output, /"errors":\[\{/, output)
      }
    })
  }
})

/** The blocks up to each heading that begins anew. */
function partsOf(blocks: readonly GuideBlock[], alternatives: readonly string[]): GuideBlock[][] {
  const parts: GuideBlock[][] = [[]]
  for (const [at, block] of blocks.entries()) {
    if (alternatives.includes(block.heading) && blocks[at - 1]?.heading !== block.heading) parts.push([])
    parts.at(-1)?.push(block)
  }
  return parts
}
