/**
 * `npm run campaign -- http-clients`: generators of others make clients of `/openapi.json`.
 * openapi-typescript and hey-api take every operation, what they make compiles under `strict`, and it works
 * on a server; the typed client works in Bun. The generators and Bun are installed below build/http-clients.
 * Exit code 77 if they cannot be. openapi-python-client: `npm run campaign -- schemathesis`.
 */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { startServer } from '../../dist/test/harness/server/server.js'
import { projectRoot } from '../lib/root.mjs'

/** Exact versions, so that runs are comparable. hey-api loads the compiler. */
const GENERATORS = ['@hey-api/openapi-ts@0.92.0', 'openapi-typescript@7.13.0', 'openapi-fetch@0.17.0', 'typescript@5.9.3']
const BUN = ['bun@1.3.0']
const OPERATIONS_MIN = 70
const SKIPPED = 77
const STEP_MS_MAX = 5 * 60_000

const tools = join(projectRoot, 'build', 'http-clients')
/** What each client did: it added a document, found it, removed one of two words, and was refused. */
const EXPECTED = { added: 'a', found: ['a'], words: 1, missing: 'not found' }

/** Asynchronous, so that connections to the server stay alive. @throws Error with what was printed */
async function run(command, args, options = {}) {
  const { stdout } = await promisify(execFile)(command, args, { timeout: STEP_MS_MAX, ...options }).catch((error) => {
    throw new Error(`${command} ${args.join(' ')}: ${error.message}\n${error.stdout}`)
  })
  return stdout
}

/** @returns the folder of the packages, or null: they can't be installed */
async function installed(name, packages) {
  const folder = join(tools, name)
  const mark = join(folder, 'installed')
  if (existsSync(mark) && readFileSync(mark, 'utf8') === packages.join()) return folder
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, 'package.json'), '{"private":true}')
  try {
    await run('npm', ['install', '--no-audit', '--no-fund', '--no-save', ...packages], { cwd: folder })
  } catch (error) {
    console.error(`SKIPPED: ${name} can't be installed: ${error.message}`)
    process.exitCode = SKIPPED
    return null
  }
  writeFileSync(mark, packages.join())
  return folder
}

const FETCH_USAGE = `import createClient from 'openapi-fetch'
import type { components, paths } from './schema'
type Hit = components['schemas']['FtsHit']
export async function run(baseUrl: string) {
  const client = createClient<paths>({ baseUrl })
  const collection = 'typed'
  const added = await client.POST('/v1/add', { body: { collection, key: 'a', lang: 'en', contentMd: '# Generated', meta: { tag: ['x'] } } })
  const found = await client.POST('/v1/fts', { body: { collection, query: 'generated', algorithm: 'bm25', filterMeta: { tag: ['x'] } } })
  const hits: readonly Hit[] | undefined = found.data?.results
  await client.POST('/v1/stopwords', { body: { collection, words: ['foo', 'bar'] } })
  const removed = await client.DELETE('/v1/stopwords', { params: { query: { collection, words: ['foo'] } } })
  const missing = await client.GET('/v1/doc-meta', { params: { query: { collection, key: 'none', lang: 'en' } } })
  return { added: added.data?.key ?? JSON.stringify(added.error), found: hits?.map(({ document }) => document.key), words: removed.data?.deleted, missing: missing.error?.error }
}
`

const HEY_API_USAGE = `import { add, addStopWords, deleteStopWords, docMeta, fts } from './sdk.gen'
import { createClient } from './client'
import type { FtsHit, FtsRequest } from './types.gen'
export async function run(baseUrl: string) {
  const client = createClient({ baseUrl })
  const collection = 'called'
  const algorithm: NonNullable<FtsRequest['algorithm']> = 'bm25'
  const added = await add({ client, body: { collection, key: 'a', lang: 'en', contentMd: '# Generated', meta: { tag: ['x'] } } })
  const found = await fts({ client, body: { collection, query: 'generated', algorithm } })
  const hits: readonly FtsHit[] | undefined = found.data?.results
  await addStopWords({ client, body: { collection, words: ['foo', 'bar'] } })
  const removed = await deleteStopWords({ client, query: { collection, words: ['foo'] } })
  const missing = await docMeta({ client, query: { collection, key: 'none', lang: 'en' } })
  return { added: added.data?.key ?? JSON.stringify(added.error), found: hits?.map(({ document }) => document.key), words: removed.data?.deleted, missing: missing.error?.error }
}
`

const BUN_USAGE = `import { MdsClient, MdsError } from '@mds/client'
const client = new MdsClient({ baseUrl: process.env.MDS_URL })
await client.documents.add({ collection: 'bun', key: 'from-bun', lang: 'en', contentMd: 'text' })
const { total } = await client.documents.search({ collection: 'bun' })
const keys = []
for await (const { key } of client.documents.export({ collection: 'bun' })) keys.push(key)
const error = await client.documents.get({ collection: 'bun', key: 'none', lang: 'en' }).catch((error) => error)
console.log(process.versions.bun, keys.join(), total, error instanceof MdsError, error.status)
`

/** Compiles the generated code with code that uses it, and runs the result. */
async function use(folder, usage) {
  const path = join(folder, 'usage.ts')
  const out = join(folder, 'out')
  const compile = (...options) =>
    run(process.execPath, [
      ...[join(projectRoot, 'node_modules', 'typescript', 'bin', 'tsc'), '--skipLibCheck', '--target', 'es2022'],
      ...['--lib', 'es2022,dom,dom.iterable', ...options, path],
    ])
  writeFileSync(path, usage)
  await compile('--strict', '--noEmit', '--module', 'preserve', '--moduleResolution', 'bundler')
  await compile('--noCheck', '--outDir', out, '--module', 'commonjs', '--moduleResolution', 'node10', '--esModuleInterop')
  assert.deepEqual(await createRequire(import.meta.url)(join(out, 'usage.js')).run(server.url), EXPECTED)
}

async function useOpenApiTypescript(packages, work, document, ids) {
  const target = join(work, 'types')
  mkdirSync(target)
  const schema = join(target, 'schema.ts')
  await run(join(packages, 'node_modules', '.bin', 'openapi-typescript'), [document, '--output', schema])
  const text = readFileSync(schema, 'utf8')
  const body = /export interface operations \{\n([\s\S]*)\n\}/.exec(text)?.[1] ?? ''
  assert.deepEqual([...body.matchAll(/^ {4}(\w+): \{$/gm)].map(([, id]) => id).sort(), ids)
  assert.match(text, /algorithm\?: "tfidf" \| "bm25" \| "bm25f" \| "pmisparse"/)
  await use(target, FETCH_USAGE)
}

async function useHeyApi(packages, work, document, ids) {
  const target = join(work, 'sdk')
  const options = ['--input', document, '--output', target, '--plugins', '@hey-api/client-fetch', '--no-log-file', '--silent']
  await run(join(packages, 'node_modules', '.bin', 'openapi-ts'), options, { cwd: work })
  const sdk = readFileSync(join(target, 'sdk.gen.ts'), 'utf8')
  assert.deepEqual([...sdk.matchAll(/^export const (\w+) = /gm)].map(([, id]) => id.replace(/_$/, '')).sort(), ids)
  await use(target, HEY_API_USAGE)
}

async function useBun(packages, work) {
  const client = join(work, 'node_modules', '@mds', 'client')
  await run(process.execPath, [join(projectRoot, 'scripts', 'build-client.mjs'), '--out', client])
  const path = join(work, 'bun.mjs')
  writeFileSync(path, BUN_USAGE)
  const env = { ...process.env, MDS_URL: server.url }
  assert.match(await run(join(packages, 'node_modules', '.bin', 'bun'), [path], { cwd: work, env }), /^1\.3\.0 from-bun 1 true 404\n$/)
}

const server = await startServer({ env: { SVC_SPELL: 'true', SVC_TEMPORAL: 'true' } })
let work
try {
  const generators = await installed('generators', GENERATORS)
  const bun = await installed('bun', BUN)
  mkdirSync(tools, { recursive: true })
  // Below the generators, so that their packages are found.
  work = mkdtempSync(join(generators ?? tools, 'work-'))
  writeFileSync(join(work, 'package.json'), '{"type":"commonjs"}')
  const { text } = await server.get('/openapi.json')
  const document = join(work, 'openapi.json')
  writeFileSync(document, text)
  const ids = Object.values(JSON.parse(text).paths).flatMap((methods) => Object.values(methods).map(({ operationId }) => operationId))
  assert.ok(ids.length > OPERATIONS_MIN, `${ids.length} operations`)
  const clients = [
    ['openapi-typescript', generators, useOpenApiTypescript],
    ['hey-api', generators, useHeyApi],
    ['the typed client in Bun', bun, useBun],
  ]
  for (const [name, packages, client] of clients) {
    if (packages !== null) await client(packages, work, document, [...ids].sort())
    console.log(`${name}: ${packages === null ? 'its tools are not installed' : 'ok'}`)
  }
} finally {
  if (work !== undefined) rmSync(work, { recursive: true, force: true })
  await server.stop()
}
