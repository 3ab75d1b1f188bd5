/**
 * `node scripts/smoke-node.mjs 22`: the smoke part of `npm test` on another Node. Installs that Node from npm
 * by the lock file of scripts/nodes into build/nodes, then with it: the setup, which checks the binaries, a
 * first start with one document and one search, and a handful of contract files. What is built stays as it
 * is: all native code but uWebSockets.js uses Node-API. Ends with the closing line of the tests.
 * Exit code 77: there is no such Node for this platform.
 */
import { spawn, spawnSync } from 'node:child_process'
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import '../dist/test/harness/process/owned_processes.js'
import { projectRoot } from './lib/root.mjs'

/** The front end, where Nodes and versions of uWebSockets.js differ, documents, and a start in each mode. */
const FILES = [
  'contract/http/framing',
  'contract/documents/documents.test',
  'contract/http/modes',
  'unit/http/exchange_body',
  'unit/project/uws_binaries',
]
const START_MS_MAX = 60_000
const SKIPPED = 77

const [release = '22'] = process.argv.slice(2)
const root = projectRoot
const folder = join(root, 'build', 'nodes')
const node = join(folder, 'node_modules', `node-${release}`, 'bin', 'node')
const env = { ...process.env, PATH: [dirname(node), process.env.PATH].join(delimiter) }

function install() {
  mkdirSync(folder, { recursive: true })
  for (const name of ['package.json', 'package-lock.json']) copyFileSync(join(root, 'scripts', 'nodes', name), join(folder, name))
  copyFileSync(join(root, '.npmrc'), join(folder, '.npmrc'))
  const args = ['ci', '--prefix', folder, '--ignore-scripts', '--omit=optional', '--loglevel=error']
  if (spawnSync('npm', args, { cwd: folder, stdio: 'inherit' }).status !== 0) throw new Error('npm ci failed')
}

function run(...args) {
  const { status, signal } = spawnSync(node, args, { cwd: root, env, stdio: 'inherit' })
  if (status !== 0) throw new Error(`${args[0]} ended with ${signal ?? status}`)
}

/** One document and one search, under the supervisor. */
async function firstStart() {
  const directory = mkdtempSync(join(tmpdir(), 'mds-smoke-'))
  const args = ['dist/bin/main.js', '--db', directory, '--http-addr', '127.0.0.1:0']
  const surfaces = { SVC_GRPC_ADDR: '127.0.0.1:0', SVC_MCP_ADDR: '127.0.0.1:0', SVC_EMBEDDING_AUTODETECT: '0' }
  const server = spawn(node, args, { cwd: root, env: { ...env, ...surfaces }, stdio: ['ignore', 'pipe', 'inherit'] })
  try {
    const base = await new Promise((resolve, reject) => {
      let output = ''
      server.stdout.setEncoding('utf8').on('data', (text) => {
        output += text
        const address = /^ready on (\S+) after/m.exec(output)?.[1]
        if (address !== undefined) resolve(`http://${address}`)
      })
      server.on('exit', () => reject(new Error(`the server did not start:\n${output}`)))
      setTimeout(() => reject(new Error(`the server is not ready after ${START_MS_MAX} ms:\n${output}`)), START_MS_MAX).unref()
    })
    const post = async (path, body) => {
      const answer = await fetch(base + path, { method: 'POST', body: JSON.stringify(body) })
      const text = await answer.text()
      if (answer.status !== 200) throw new Error(`${path}: ${answer.status} ${text}`)
      return text
    }
    await post('/v1/add', { collection: 'smoke', key: 'first', lang: 'en', contentMd: '# Hello\n\nA searchable sentence.' })
    const found = await post('/v1/fts', { collection: 'smoke', query: 'searching sentences' })
    if (!found.includes('"key":"first"')) throw new Error(`not found: ${found}`)
  } finally {
    const ended = new Promise((resolve) => server.on('exit', resolve))
    if (server.exitCode === null && server.kill('SIGTERM')) await ended
    rmSync(directory, { recursive: true, force: true })
  }
}

if (process.platform !== 'linux' || process.arch !== 'x64') process.exit(SKIPPED)
if (!existsSync(node)) install()
run('-p', '`Node ${process.version}`')
run('scripts/setup.mjs', '--start')
await firstStart()
console.log('first start: one document, one search')
run('scripts/test.mjs', '--again', ...FILES)
