/**
 * Client generators applied to /openapi.json: they cover every operation, their code compiles under `strict`,
 * and the clients work on a running server. service-2, "Reference and health": the OpenAPI document;
 * docs/decisions/interfaces/http-pages.md. `npm run campaign -- schemathesis` tests openapi-python-client.
 */
import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { createClient } from '@hey-api/openapi-ts'
import openapiTypescript, { astToString } from 'openapi-typescript'
import { execFile } from '../../harness/process/owned_processes.js'
import { startServer, type Server } from '../../harness/server/server.js'

const ROOT = fileURLToPath(new URL('../../../..', import.meta.url))

let server: Server
/** Below the project, so that packages are found. */
let folder: string
let operationIds: string[]

before(async () => {
  server = await startServer({ env: { SVC_SPELL: 'true', SVC_TEMPORAL: 'true' } })
  mkdirSync(join(ROOT, 'build'), { recursive: true })
  folder = mkdtempSync(join(ROOT, 'build', 'generated-'))
  writeFileSync(join(folder, 'package.json'), '{"type":"commonjs"}')
  const { text } = await server.get('/openapi.json')
  writeFileSync(join(folder, 'openapi.json'), text)
  const { paths } = JSON.parse(text) as { paths: Record<string, Record<string, { operationId: string }>> }
  operationIds = Object.values(paths).flatMap((methods) => Object.values(methods).map(({ operationId }) => operationId))
  assert.ok(operationIds.length > 70)
})
after(async () => {
  await server.stop()
  rmSync(folder, { recursive: true, force: true })
})

interface Used {
  readonly added: string | undefined
  readonly found: readonly (string | undefined)[] | undefined
  readonly words: number | undefined
  readonly missing: string | undefined
}

/** Compiles the generated code with code that uses it, and runs the result. */
async function use(name: string, usage: string): Promise<Used> {
  const usagePath = join(folder, name, 'usage.ts')
  writeFileSync(usagePath, usage)
  await compile(['--strict', '--noEmit', '--module', 'preserve', '--moduleResolution', 'bundler', usagePath])
  const out = join(folder, name, 'out')
  await compile(['--noCheck', '--outDir', out, '--module', 'commonjs', '--moduleResolution', 'node10', '--esModuleInterop', usagePath])
  const { run } = createRequire(import.meta.url)(join(out, 'usage.js')) as { run: (baseUrl: string) => Promise<Used> }
  return run(server.url)
}

/** In a separate process, so that this one notices when the server closes an idle connection. */
async function compile(options: readonly string[]): Promise<void> {
  const compiler = join(ROOT, 'node_modules', 'typescript', 'bin', 'tsc')
  const always = [compiler, '--skipLibCheck', '--target', 'es2022', '--lib', 'es2022,dom,dom.iterable']
  await promisify(execFile)(process.execPath, [...always, ...options]).catch((error: { readonly stdout: string }) =>
    assert.fail(error.stdout),
  )
}

const EXPECTED = (name: string): Used => ({ added: 'a', found: ['a'], words: 1, missing: name })

test('openapi: openapi-typescript makes types of every operation, with which a client of them compiles and works', async () => {
  const target = join(folder, 'types')
  mkdirSync(target)
  const ast = await openapiTypescript(pathToFileURL(join(folder, 'openapi.json')), { silent: true })
  const text = astToString(ast)
  writeFileSync(join(target, 'schema.ts'), text)
  const body = /export interface operations \{\n([\s\S]*)\n\}/.exec(text)?.[1] ?? ''
  assert.deepEqual([...body.matchAll(/^ {4}(\w+): \{$/gm)].map(([, id]) => id).sort(), [...operationIds].sort())
  assert.match(text, /algorithm\?: "tfidf" \| "bm25" \| "bm25f" \| "pmisparse"/)
  const used = await use(
    'types',
    `import createClient from 'openapi-fetch'
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
`,
  )
  assert.deepEqual(used, EXPECTED('not found'))
})

test('openapi: hey-api makes a function of every operation, with which a client compiles and works', async () => {
  const target = join(folder, 'sdk')
  await createClient({
    input: join(folder, 'openapi.json'),
    output: target,
    plugins: ['@hey-api/client-fetch'],
    logs: { level: 'silent', file: false },
  })
  const sdk = readFileSync(join(target, 'sdk.gen.ts'), 'utf8')
  const functions = [...sdk.matchAll(/^export const (\w+) = /gm)].map(([, id]) => id?.replace(/_$/, ''))
  assert.deepEqual(functions.sort(), [...operationIds].sort())
  const used = await use(
    'sdk',
    `import { add, addStopWords, deleteStopWords, docMeta, fts } from './sdk.gen'
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
`,
  )
  assert.deepEqual(used, EXPECTED('not found'))
})
