/**
 * What users of /openapi.json do with it, tried on a running server: linters, openapi-python-client, and
 * schemathesis, which makes requests of every operation from the document, right ones and wrong ones, single
 * ones and chains, and holds status, content type and body of each answer to it: node
 * scripts/campaign-schemathesis.mjs [CASES=50000]. A case that ends the server, that is answered 5xx (but for
 * 503, which has a reason) or otherwise than the document says is a failure. It runs in rounds with seeds of
 * their own; MDS_TEST_SEED=n begins with round n, so that a campaign can be taken up again where it was, or a
 * round repeated. Exit code 77 where the tools can't be had.
 */
import { spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startServer } from '../dist/test/harness/server.js'
import { npmTool, pythonTool } from './install-openapi-tools.mjs'
import { projectRoot } from './lib/root.mjs'

const ROUND_CASES = 5_000
/** Of a round's cases so many belong to each operation; coverage and chains come on top. */
const CASES_OF_OPERATION_MIN = 3
const CHECKS = ['not_a_server_error', 'status_code_conformance', 'content_type_conformance', 'response_schema_conformance']
/** Copies of the whole store each, and the store in place of another: in the first round only. */
const RARELY = ['backup', 'restore']

const wanted = Number(process.argv[2] ?? 50_000)
const firstSeed = Number(process.env.MDS_TEST_SEED ?? 1)
const config = (name) => join(projectRoot, 'scripts', name)
const work = mkdtempSync(join(tmpdir(), 'mds-schemathesis-'))
const failures = []

const env = { SVC_SPELL: 'true', SVC_TEMPORAL: 'true', SVC_EMBEDDING_PROVIDER: 'local' }
const server = await startServer({ env, directory: join(work, 'data') })
let isEnding = false
void server.ended.then((code) => {
  if (isEnding) return
  console.error(`the server has ended with ${code}:\n${server.output().slice(-4_000)}`)
  process.exit(1)
})
await fill()
const { text } = await server.get('/openapi.json')
const document = join(work, 'openapi.json')
writeFileSync(document, text)
const operations = Object.values(JSON.parse(text).paths).flatMap((methods) => Object.values(methods)).length

await lint('redocly', ['lint', document, '--config', config('redocly.yaml')])
await lint('spectral', ['lint', document, '--ruleset', config('spectral.yaml'), '--fail-severity', 'warn'])
await pythonClient()

let cases = 0
let round = 0
while (cases < wanted && failures.length === 0) {
  const made = await schemathesis(firstSeed + round, round === 0 ? [] : RARELY, Math.min(ROUND_CASES, wanted - cases))
  cases += made
  round += 1
  console.log(`${cases} cases of ${operations} operations, next seed ${firstSeed + round}`)
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

/** Something for requests to find: the examples of the document name it. */
async function fill() {
  for (const [key, content] of [
    ['hello-world', '# Hello\n\nmarkdown search'],
    ['a', '# A'],
    ['intro', '# Getting started'],
  ])
    await server.post('/v1/add', {
      collection: 'blog',
      key,
      lang: 'en',
      contentMd: content,
      meta: { category: ['tutorial'], tags: ['markdown'] },
    })
}

/** Both streams together. The server's own connections go on meanwhile. */
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

/** Generates, compiles and uses the client. */
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

/** @returns cases that it made */
async function schemathesis(seed, without, count) {
  const perOperation = Math.max(CASES_OF_OPERATION_MIN, Math.ceil(count / operations / 3))
  const parameters = [
    ...['--config-file', config('schemathesis.toml'), 'run', document, '--url', server.url],
    ...['--checks', CHECKS.join(','), '--seed', String(seed), '--max-examples', String(perOperation), '--mode', 'all'],
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
    ...without.flatMap((name) => ['--exclude-operation-id', name]),
  ]
  const { code, output } = await run(pythonTool('schemathesis'), parameters, { cwd: work })
  if (code !== 0) failures.push(`schemathesis, seed ${seed}, ends with ${code}:\n${output.slice(-60_000)}`)
  const found = /Test cases:\s*\n?\s*([\d,]+) generated/.exec(output)
  if (found === null) failures.push(`schemathesis, seed ${seed}, does not say how many cases it made:\n${output.slice(-4_000)}`)
  return Number((found?.[1] ?? '0').replaceAll(',', ''))
}
