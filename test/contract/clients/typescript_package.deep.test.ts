/**
 * The typed client as a package: built, installed into a folder of its own, and used as ESM, as CommonJS, by
 * the compiler and by a browser. The examples of its README run. In Bun: `npm run campaign -- http-clients`.
 */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { promisify } from 'node:util'
import { findBrowser, Page } from '../../harness/clients/browser.js'
import { execFile } from '../../harness/process/owned_processes.js'
import { type Server, startServer } from '../../harness/server/server.js'

const ROOT = join(import.meta.dirname, '..', '..', '..', '..')
const SOURCE = join(ROOT, 'clients', 'typescript')
/** So that a web page does not load more without anyone noticing. */
const GZIP_BYTES_MAX = 7000
const EXAMPLE_MS_MAX = 20_000

let server: Server
/** A project that has the client among its packages. */
let folder: string
let printed: string

const run = promisify(execFile)

before(async () => {
  server = await startServer()
  folder = mkdtempSync(join(tmpdir(), 'mds-client-package-'))
  const installed = join(folder, 'node_modules', '@mds', 'client')
  const { stdout } = await run(process.execPath, [join(ROOT, 'scripts', 'build-client.mjs'), '--out', installed])
  printed = stdout
  cpSync(join(SOURCE, 'examples'), join(folder, 'examples'), { recursive: true })
})
after(async () => {
  await server.stop()
  rmSync(folder, { recursive: true, force: true })
})

function write(name: string, text: string): string {
  const path = join(folder, name)
  writeFileSync(path, text)
  return path
}

async function output(program: string, parameters: readonly string[]): Promise<string> {
  const env = { ...process.env, MDS_URL: server.url }
  const { stdout } = await run(program, [...parameters], { cwd: folder, env, timeout: EXAMPLE_MS_MAX })
  return stdout.trim()
}

/** Adds, lists and exports a document; prints what came, and whether a refusal is an error of the package. */
const usage = (format: string): string => `
const client = new MdsClient({ baseUrl: process.env.MDS_URL })
async function main() {
  await client.documents.add({ collection: '${format}', key: 'from-${format}', lang: 'en', contentMd: 'text' })
  const { total } = await client.documents.search({ collection: '${format}' })
  const keys = []
  for await (const { key } of client.documents.export({ collection: '${format}' })) keys.push(key)
  const error = await client.documents.get({ collection: '${format}', key: 'none', lang: 'en' }).catch((error) => error)
  console.log(keys.join(), total, error instanceof MdsError, error.status)
}
main()
`
const esm = (format: string): string => `import { MdsClient, MdsError } from '@mds/client'\n${usage(format)}`
const used = (format: string): string => `from-${format} 1 true 404`

/** Uses of the types: each line marked as an error must be one. */
const TYPES = `
import { MdsClient, type Document, type DocumentPage } from '@mds/client'
const client = new MdsClient({ baseUrl: '' })
const id = { collection: 'c', key: 'k', lang: 'en' }
export const document: Promise<Document> = client.documents.get(id)
export const page: Promise<DocumentPage> = client.documents.search({ collection: 'c', sort: 'addedAt', limit: undefined })
export const nothing: Promise<void> = client.embeddingConfigs.delete({ id: 'x' })
export const bytes: Promise<Uint8Array> = client.admin.heapProfile()
export const count: Promise<number> = client.graphql<{ n: number }>('{ n }').then(({ n }) => n)
export async function texts(): Promise<string[]> {
  const found: string[] = []
  for await (const { contentMd } of client.documents.export({ collection: 'c' })) found.push(contentMd)
  const { results } = await client.search.in('c').fulltext('q').where('a', 'b').limit(1).run()
  return [...found, ...results.map(({ document }) => document.key)]
}
// @ts-expect-error a field is missing
void client.documents.get({ collection: 'c', key: 'k' })
// @ts-expect-error a field has another name
void client.documents.add({ ...id, contentMd: '', content: '' })
// @ts-expect-error not among the values
void client.search.vector({ collection: 'c', query: 'q', algorithm: 'best' })
// @ts-expect-error not among the values
client.search.in('c').fulltext('q').mode('none')
// @ts-expect-error the format is that of the method
void client.documents.export({ collection: 'c', format: 'zip' })
// @ts-expect-error answers are not changed
void client.documents.get(id).then((found) => (found.key = ''))
// @ts-expect-error no input is taken, only options
void client.server.livez({ signal: 'x' })
// @ts-expect-error an address is needed
new MdsClient({})
`

const COMPILER = [join(ROOT, 'node_modules', 'typescript', 'bin', 'tsc'), '--noEmit', '--strict', '--exactOptionalPropertyTypes']
const WITH_DOM = ['--target', 'es2022', '--lib', 'es2022,dom,dom.iterable,dom.asynciterable']

async function compile(...parameters: readonly string[]): Promise<void> {
  await run(process.execPath, [...COMPILER, ...parameters], { cwd: folder }).catch((error: { readonly stdout: string }) =>
    assert.fail(error.stdout),
  )
}

describe('client: package', () => {
  it('client: works when it is imported as ESM', async () => {
    assert.equal(await output(process.execPath, [write('esm.mjs', esm('esm'))]), used('esm'))
  })

  it('client: works when it is required as CommonJS', async () => {
    const text = `const { MdsClient, MdsError } = require('@mds/client')\n${usage('cjs')}`
    assert.equal(await output(process.execPath, [write('cjs.cjs', text)]), used('cjs'))
  })

  it('client: the types of ESM and of CommonJS say what is allowed, to every kind of resolution', async () => {
    for (const name of ['types.mts', 'types.cts']) write(name, TYPES)
    await compile(...WITH_DOM, '--module', 'nodenext', 'types.mts', 'types.cts')
    await compile(...WITH_DOM, '--module', 'preserve', '--moduleResolution', 'bundler', 'types.mts')
  })

  it('client: imports nothing, so that it runs everywhere, and depends on no package', () => {
    const installed = join(folder, 'node_modules', '@mds', 'client')
    for (const format of ['esm', 'cjs'])
      assert.doesNotMatch(readFileSync(join(installed, 'dist', format, 'index.js'), 'utf8'), /\brequire\(|^import |\bprocess\.|\bBuffer\b/m)
    const { dependencies, peerDependencies } = JSON.parse(readFileSync(join(installed, 'package.json'), 'utf8')) as Record<string, unknown>
    assert.deepEqual([dependencies, peerDependencies], [undefined, undefined])
  })

  it('client: is small', () => {
    const bytes = Number(/(\d+) bytes minified and compressed/.exec(printed)?.[1])
    assert.ok(bytes > 1000 && bytes <= GZIP_BYTES_MAX, printed)
  })

  const examples = readdirSync(join(SOURCE, 'examples'))
  const EXPECTED: Readonly<Record<string, RegExp>> = {
    'documents.mjs': /example, changed\n2 versions\nafter the deletion: not found$/,
    'search.mjs': /tea: .*\*\*brew\*\*[^]*years: 20/,
    'export.mjs': /^100 documents with 690 characters$/,
    'limits.mjs': /^the server is \w+\naborted: no longer wanted$/,
  }
  for (const example of examples) {
    it(`client: the example ${example} runs, and the README names it`, async () => {
      assert.match(readFileSync(join(SOURCE, 'README.md'), 'utf8'), new RegExp(`examples/${example}`))
      const text = await output(process.execPath, [join(folder, 'examples', example)])
      assert.match(text, EXPECTED[example] ?? assert.fail(`nothing is expected of ${example}`))
    })
  }

  it('client: the examples fit the types', async () => {
    symlinkSync(join(ROOT, 'node_modules', '@types'), join(folder, 'node_modules', '@types'))
    const types = ['--target', 'es2023', '--types', 'node', '--skipLibCheck']
    const files = examples.map((name) => join('examples', name))
    await compile(...types, '--module', 'nodenext', '--allowJs', '--checkJs', ...files)
  })

  it('client: works in a browser, in a page of another origin', async (t) => {
    const browser = findBrowser()
    if (browser === undefined) return t.skip('SKIPPED: no Chromium is installed, so the client is not tried in a browser')
    const script = readFileSync(join(folder, 'node_modules', '@mds', 'client', 'dist', 'esm', 'index.js'), 'utf8')
    const pages = createServer((request, response) => {
      const isScript = request.url === '/index.js'
      response.writeHead(200, { 'Content-Type': isScript ? 'text/javascript' : 'text/html' })
      response.end(isScript ? script : '<!doctype html><title>client</title>')
    }).listen(0, '127.0.0.1')
    await once(pages, 'listening')
    const origin = `http://127.0.0.1:${(pages.address() as AddressInfo).port}`
    const closed = await startServer({ env: { SVC_CORS_ORIGINS: origin } })
    const page = await Page.open(browser)
    try {
      await page.go(`${origin}/`)
      await page.until(`location.origin === '${origin}' && document.readyState === 'complete'`)
      const result = await page.value(`(async () => {
        const { MdsClient, MdsError } = await import('/index.js')
        const client = new MdsClient({ baseUrl: '${closed.url}' })
        await client.documents.add({ collection: 'web', key: 'a', lang: 'en', contentMd: 'from a page' })
        const { total } = await client.documents.search({ collection: 'web' })
        const keys = []
        for await (const { key } of client.documents.export({ collection: 'web' })) keys.push(key)
        const error = await client.documents.get({ collection: 'web', key: 'none', lang: 'en' }).catch((error) => error)
        const { deleted } = await client.documents.delete({ collection: 'web', key: 'a', lang: 'en' })
        return [keys.join(), total, error instanceof MdsError, error.status, deleted]
      })().catch(String)`)
      assert.deepEqual(result, ['a', 1, true, 404, true])
    } finally {
      await page.close()
      await closed.stop()
      pages.close()
    }
  })
})
