/**
 * Runs the official conformance suite of MCP against a real server over streamable HTTP. The suite expects
 * tools, resources and prompts of its own: the server is bundled with them (test/harness/mcp_fixtures.ts).
 * Usage: node scripts/campaigns/mcp-conformance.mjs [--share=PART/PARTS] [SCENARIO...]. Every scenario must
 * pass, or be in ABSENT with the reason why this server does not have what it is about. A share is every
 * PARTSth scenario. Exit code 77 if the suite cannot be installed.
 */
import { spawn, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { FIXTURE_EDITS } from '../../dist/test/harness/mcp_fixtures.js'
import { scratchCopy } from '../../dist/test/harness/scratch_copy.js'
import { startServer } from '../../dist/test/harness/server/server.js'
import { projectRoot } from '../lib/root.mjs'

/** The first has the scenarios of the handshake era as released; the second those of both eras. */
const SUITES = ['0.1.16', '0.2.0-alpha.12']
const SKIPPED = 77
const INSTALL_MS_MAX = 5 * 60_000
const SCENARIO_MS_MAX = 60_000

const ASKS = 'the server asks its client nothing (sampling, elicitation, roots)'
const PARAMS = 'no tool asks for parameters in headers (x-mcp-header)'
const OPTIONAL = 'an extension that the server does not have, and does not announce'
/** By the beginning of the name. */
const ABSENT = [
  ['tools-call-sampling', ASKS],
  ['tools-call-elicitation', ASKS],
  ['elicitation-', ASKS],
  ['input-required-result-', ASKS],
  ['http-custom-header-server-validation', PARAMS],
  ['tasks-', OPTIONAL],
  ['sep-2640-', OPTIONAL],
]

/** Checks of scenarios that are about other things, too. */
const ABSENT_CHECKS = new Map([
  ['sep-2575-server-rejects-undeclared-capability', ASKS],
  ['sep-2575-missing-capability-http-400', ASKS],
  ['sep-2575-http-server-no-independent-requests-on-stream', ASKS],
])

/** Whether nothing has failed but checks that are named above. */
function failsAsNamed(output) {
  const failed = [...output.matchAll(/\[([\w-]+) *\] \S*FAILURE/g)].map(([, check]) => check)
  return failed.length > 0 && failed.every((check) => ABSENT_CHECKS.has(check))
}

const reasonOf = (scenario) => ABSENT.find(([begin]) => scenario.startsWith(begin))?.[1]

/** @returns the program of the suite */
function install(version) {
  const folder = join(projectRoot, 'build', 'mcp-conformance', version)
  const program = join(folder, 'node_modules', '@modelcontextprotocol', 'conformance', 'dist', 'index.js')
  if (existsSync(program)) return program
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, 'package.json'), '{"private":true}')
  const { status } = spawnSync(
    'npm',
    [
      'install',
      '--ignore-scripts',
      '--no-audit',
      '--no-fund',
      '--loglevel=error',
      '--save-exact',
      `@modelcontextprotocol/conformance@${version}`,
    ],
    { cwd: folder, stdio: ['ignore', 'inherit', 'inherit'], timeout: INSTALL_MS_MAX },
  )
  if (status === 0 && existsSync(program)) return program
  console.error('the conformance suite of MCP cannot be installed')
  process.exit(SKIPPED)
}

const preload = pathToFileURL(join(projectRoot, 'scripts', 'lib', 'fs_with_glob.mjs')).href

function run(program, args) {
  return new Promise((resolve) => {
    const child = spawn(process.execPath, ['--import', preload, program, ...args], { stdio: ['ignore', 'pipe', 'pipe'] })
    let output = ''
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += chunk))
    const late = setTimeout(() => child.kill('SIGKILL'), SCENARIO_MS_MAX)
    child.on('close', (code) => {
      clearTimeout(late)
      resolve({ code, output })
    })
  })
}

/** @returns names and the revisions that they are for */
async function scenariosOf(program) {
  const { output } = await run(program, ['list', '--server'])
  return [...output.matchAll(/^ {2}- (\S+) \[([^\]]*)\]$/gm)].map(([, name, revisions]) => ({ name, revisions: revisions.split(',') }))
}

const args = process.argv.slice(2)
const wanted = args.filter((arg) => !arg.startsWith('--'))
const option = args.find((arg) => arg.startsWith('--')) ?? '--share=1/1'
const share = /^--share=(\d+)\/(\d+)$/.exec(option)
if (share === null) {
  console.error(`unknown option ${option}: --share=PART/PARTS expected`)
  process.exit(2)
}
const [part, parts] = share.slice(1).map(Number)
let place = 0
const programs = SUITES.map((version) => [version, install(version)])
const copy = await scratchCopy(FIXTURE_EDITS)
const server = await startServer({ main: copy.main })
const url = `http://${server.addressOf('mcp')}/mcp`
const failures = []
const counts = { passed: 0, absent: 0 }
try {
  for (const [version, program] of programs) {
    for (const { name, revisions } of await scenariosOf(program)) {
      if (wanted.length > 0 && !wanted.includes(name)) continue
      for (const revision of revisions.filter((each) => version !== SUITES[0] || each === revisions.at(-1))) {
        place += 1
        if (place % parts !== part % parts) continue
        const reason = reasonOf(name)
        const chosen = version === SUITES[0] || revision === 'extension' ? [] : ['--spec-version', revision]
        const { code, output } = await run(program, ['server', '--url', url, '--scenario', name, ...chosen])
        const title = `${version} ${name} [${revision}]`
        if (code === 0) counts.passed += 1
        else if (reason !== undefined || failsAsNamed(output)) counts.absent += 1
        else {
          failures.push(`${title}: fails`)
          console.log(`${title} FAILED\n${output}`)
        }
      }
    }
  }
} finally {
  await server.stop()
  copy.remove()
}
console.log(`${counts.passed} passed, ${counts.absent} are about what the server does not have, ${failures.length} failed`)
for (const line of failures) console.log(line)
process.exit(failures.length === 0 ? 0 : 1)
