/**
 * Runs the tools that consume /openapi.json against a running server: linters, openapi-python-client, and
 * schemathesis. Schemathesis generates requests for every operation of the document, valid and invalid,
 * single and chained, and checks the status, content type and body of each answer against the document.
 * Usage: node scripts/campaigns/schemathesis.mjs [--access] [CASES=50000].
 * With --access, access control and the audit log are on, and the rounds are in turn those of a client
 * without credentials, of a reader of one collection, and of an administrator. No answer to the first two may
 * have a word that stands in name, key, content and metadata of another collection
 * (lib/schemathesis_hidden_word.py).
 * A case fails if it ends the server, if it is answered 5xx (except 503, which has a reason), or if the
 * answer differs from the document. The campaign runs in rounds, each with its own seed. MDS_TEST_SEED=n
 * begins with round n, so that a campaign can be resumed or a round repeated. Exit code 77 if the tools
 * cannot be installed.
 */
import { spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ACCESS_ENV, asUser } from '../../dist/test/harness/server/access.js'
import { startServer } from '../../dist/test/harness/server/server.js'
import { npmTool, pythonTool } from '../install-openapi-tools.mjs'
import { projectRoot } from '../lib/root.mjs'

const ROUND_CASES = 5_000
/** Minimum number of a round's cases per operation; coverage and chained cases are added to them. */
const CASES_OF_OPERATION_MIN = 3
const CHECKS = ['not_a_server_error', 'status_code_conformance', 'content_type_conformance', 'response_schema_conformance']
/** Stands in no request. */
const HIDDEN = 'wollmispelkern'
/** Their answers have no end: test/contract/documents/change_feed.test.ts asks them. */
const ENDLESS = ['watchChanges']
/** Each of these copies or replaces the whole store, so they run in the first round only. */
const RARELY = ['backup', 'restore']

const isClosed = process.argv.includes('--access')
const wanted = Number(process.argv.slice(2).find((text) => /^\d+$/.test(text)) ?? 50_000)
const firstSeed = Number(process.env.MDS_TEST_SEED ?? 1)
const config = (name) => join(projectRoot, 'scripts', name)
const work = mkdtempSync(join(tmpdir(), 'mds-schemathesis-'))
const failures = []

const env = {
  SVC_SPELL: 'true',
  SVC_TEMPORAL: 'true',
  SVC_EMBEDDING_PROVIDER: 'local',
  ...(isClosed ? { ...ACCESS_ENV, SVC_AUDIT_ENABLED: 'true' } : {}),
}
const server = await startServer({ env, directory: join(work, 'data') })
let isEnding = false
void server.ended.then((code) => {
  if (isEnding) return
  console.error(`the server has ended with ${code}:\n${server.output().slice(-4_000)}`)
  process.exit(1)
})
const admin = isClosed ? asUser('admin') : {}
await fill()
const callers = isClosed ? await closedCallers() : [{ name: 'everybody', headers: {}, hidden: '' }]
const { text } = await server.get('/openapi.json')
const document = join(work, 'openapi.json')
writeFileSync(document, text)
const operations = Object.values(JSON.parse(text).paths).flatMap((methods) => Object.values(methods)).length

// An open server has been checked for the rest.
if (!isClosed) await lint('redocly', ['lint', document, '--config', config('redocly.yaml')])
if (!isClosed) await lint('spectral', ['lint', document, '--ruleset', config('spectral.yaml'), '--fail-severity', 'warn'])
if (!isClosed) await pythonClient()

// Each caller has a round.
const roundCases = Math.min(ROUND_CASES, Math.ceil(wanted / callers.length))
let cases = 0
let round = 0
while (cases < wanted && failures.length === 0) {
  const caller = callers[round % callers.length]
  const made = await schemathesis(firstSeed + round, round === 0 ? [] : RARELY, Math.min(roundCases, wanted - cases), caller)
  cases += made
  round += 1
  console.log(`${caller.name}: ${cases} cases of ${operations} operations, next seed ${firstSeed + round}`)
  if (made === 0) failures.push('schemathesis made no case')
}
const { status } = await server.get('/health')
if (status !== 200) failures.push(`health answers ${status}`)
isEnding = true
await server.stop()
rmSync(work, { recursive: true, force: true })
for (const failure of failures) console.error(failure)
console.log(`${JSON.stringify({ cases, rounds: round, operations, failures: failures.length })}`)
process.exit(failures.length === 0 ? 0 : 1)

/** Creates the documents that the examples of the OpenAPI document name. */
async function fill() {
  for (const [key, content] of [
    ['hello-world', '# Hello\n\nmarkdown search'],
    ['a', '# A'],
    ['intro', '# Getting started'],
  ])
    await server.post(
      '/v1/add',
      {
        collection: 'blog',
        key,
        lang: 'en',
        contentMd: content,
        meta: { category: ['tutorial'], tags: ['markdown'] },
      },
      admin,
    )
}

/** Callers of a closed server, and the word that their answers must not have; empty: none. */
async function closedCallers() {
  const setUp = async (path, body) => {
    const { status, text: answer } = await server.post(path, body, admin)
    if (status !== 200 && status !== 201) throw new Error(`${path}: ${status} ${answer}`)
  }
  await setUp('/v1/add', {
    collection: `closed-${HIDDEN}`,
    key: `key-${HIDDEN}`,
    lang: 'en',
    contentMd: `# ${HIDDEN}\n\nmarkdown search ${HIDDEN}`,
    meta: { category: [HIDDEN], [HIDDEN]: ['markdown'] },
  })
  await setUp('/v1/auth/register', { username: 'reader', password: 'a password of a reader' })
  await setUp('/v1/auth/permissions', { username: 'reader', collection: 'blog', read: true })
  return [
    { name: 'without credentials', headers: {}, hidden: HIDDEN },
    { name: 'reader', headers: asUser('reader'), hidden: HIDDEN },
    { name: 'administrator', headers: admin, hidden: '' },
  ]
}

/**
 * Collects both streams. Asynchronous, so that this process's connections to the server stay active
 * meanwhile.
 */
function run(command, parameters, options = {}) {
  return new Promise((resolve) => {
    const child = spawn(command, parameters, { stdio: ['ignore', 'pipe', 'pipe'], ...options })
    let output = ''
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += chunk.toString()))
    child.on('error', (error) => resolve({ code: 1, output: error.message }))
    child.on('close', (code) => resolve({ code, output }))
  })
}

async function lint(name, parameters) {
  const { code, output } = await run(npmTool(name), parameters, { env: { ...process.env, REDOCLY_TELEMETRY: 'off' } })
  const isClean = code === 0 && !/^warning|\d warnings?/m.test(output)
  console.log(`${name}: ${isClean ? 'clean' : 'findings'}`)
  if (!isClean) failures.push(`${name}: ${output}`)
}

/** Generates, compiles and runs the client. */
async function pythonClient() {
  const target = join(work, 'python')
  mkdirSync(target)
  const generated = await run(
    pythonTool('openapi-python-client'),
    [
      'generate',
      '--path',
      document,
      '--output-path',
      join(target, 'mds_client'),
      '--meta',
      'none',
      '--config',
      config('openapi-python-client.yaml'),
    ],
    { env: { ...process.env, PATH: `${pythonTool('')}:${process.env.PATH}` } },
  )
  if (generated.code !== 0 || /WARNING|ERROR/.test(generated.output)) failures.push(`openapi-python-client: ${generated.output}`)
  const program = join(projectRoot, 'scripts', 'lib', 'python_client.py')
  const used = await run(pythonTool('python'), [program, server.url, String(operations)], {
    cwd: target,
    env: { ...process.env, PYTHONPATH: target },
  })
  console.log(`openapi-python-client: ${used.code === 0 ? used.output.trim() : 'failed'}`)
  if (used.code !== 0) failures.push(`the Python client: ${used.output}`)
}

/** @returns the number of cases that were generated */
async function schemathesis(seed, without, count, { headers, hidden }) {
  const perOperation = Math.max(CASES_OF_OPERATION_MIN, Math.ceil(count / operations / 3))
  const parameters = [
    ...['--config-file', config('schemathesis.toml'), 'run', document, '--url', server.url],
    ...[
      '--checks',
      [...CHECKS, ...(hidden === '' ? [] : ['no_hidden_word'])].join(','),
      '--seed',
      String(seed),
      '--max-examples',
      String(perOperation),
      '--mode',
      'all',
    ],
    ...[
      '--workers',
      '2',
      '--continue-on-failure',
      '--no-color',
      '--warnings',
      'off',
      '--suppress-health-check',
      'all',
      '--request-timeout',
      '60',
    ],
    ...[...without, ...ENDLESS].flatMap((name) => ['--exclude-operation-id', name]),
    ...Object.entries(headers).flatMap(([name, value]) => ['--header', `${name}: ${value}`]),
  ]
  const { code, output } = await run(pythonTool('schemathesis'), parameters, {
    cwd: work,
    env: {
      ...process.env,
      SCHEMATHESIS_HOOKS: 'schemathesis_hidden_word',
      PYTHONPATH: join(projectRoot, 'scripts', 'lib'),
      MDS_HIDDEN_WORD: hidden,
    },
  })
  if (code !== 0) failures.push(`schemathesis, seed ${seed}, ends with ${code}:\n${output.slice(-60_000)}`)
  const found = /Test cases:\s*\n?\s*([\d,]+) generated/.exec(output)
  if (found === null) failures.push(`schemathesis, seed ${seed}, does not say how many cases it made:\n${output.slice(-4_000)}`)
  return Number((found?.[1] ?? '0').replaceAll(',', ''))
}
