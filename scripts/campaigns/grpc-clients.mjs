/**
 * `npm run campaign -- grpc-clients`: official clients of gRPC against a server with access control. Code for
 * Go and Python is generated from the committed proto and built; Node loads the proto; grpcurl knows it by
 * reflection. Each client writes, reads, searches, exports, counts, and meets the errors of a missing
 * document, a missing field and bad credentials (test/clients). Stand-ins do what the reference's Python
 * client, its LangChain adapter and its PHP client (over HTTP, where PHP is installed) do. The generators are
 * installed below build/grpc-clients. Exit code 77 if a client could not run because its tools are not
 * installed and cannot be.
 */
import assert from 'node:assert/strict'
import { execFile, spawnSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { credentials, loadPackageDefinition, Metadata, status } from '@grpc/grpc-js'
import { loadSync } from '@grpc/proto-loader'
import { ACCESS_ENV, keyOf, tokenOf } from '../../dist/test/harness/server/access.js'
import { embeddingEnv } from '../../dist/test/harness/embedding/embedding_client.js'
import { EmbeddingServer } from '../../dist/test/harness/embedding/embedding_server.js'
import { startServer } from '../../dist/test/harness/server/server.js'
import { projectRoot } from '../lib/root.mjs'

const PYTHON_PACKAGES = ['grpcio==1.85.3', 'grpcio-tools==1.85.1']
const GO_PROGRAMS = [
  ['protoc-gen-go', 'google.golang.org/protobuf/cmd/protoc-gen-go@v1.36.8'],
  ['protoc-gen-go-grpc', 'google.golang.org/grpc/cmd/protoc-gen-go-grpc@v1.5.1'],
  ['grpcurl', 'github.com/fullstorydev/grpcurl/cmd/grpcurl@v1.9.3'],
]
const SKIPPED = 77
const STEP_MS_MAX = 10 * 60_000

const tools = join(projectRoot, 'build', 'grpc-clients')
const python = join(tools, 'venv', 'bin', 'python')
const goBin = join(tools, 'bin')
const protoFolder = join(projectRoot, 'src', 'surface', 'grpc', 'proto')
const work = mkdtempSync(join(tmpdir(), 'mds-grpc-clients-'))
const env = { ...process.env, GOBIN: goBin, GOFLAGS: '-mod=mod', PATH: `${goBin}:${process.env.PATH}` }

/** @throws Error with what the program printed */
function run(command, args, cwd = work) {
  const { status: code, stdout, stderr, error } = spawnSync(command, args, { cwd, env, encoding: 'utf8', timeout: STEP_MS_MAX })
  if (code !== 0) throw new Error(`${command} ${args.join(' ')}: ${error?.message ?? code}\n${stdout}${stderr}`)
  return stdout
}

/** @returns whether the tools are there now */
function installed(name, install) {
  try {
    install()
    return true
  } catch (error) {
    console.error(`SKIPPED: the client for ${name}, because its tools can't be installed: ${error.message}`)
    process.exitCode = SKIPPED
    return false
  }
}

function installPython() {
  if (existsSync(join(tools, 'venv', 'lib')) && spawnSync(python, ['-c', 'import grpc_tools, grpc']).status === 0) return
  mkdirSync(tools, { recursive: true })
  run('python3', ['-m', 'venv', join(tools, 'venv')])
  run(python, ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', ...PYTHON_PACKAGES])
}

function installGo() {
  for (const [name, address] of GO_PROGRAMS) if (!existsSync(join(goBin, name))) run('go', ['install', address])
}

const protoc = (...outputs) => run(python, ['-m', 'grpc_tools.protoc', '-I', protoFolder, ...outputs, 'mddb.proto'])

function runPython(address, token) {
  protoc(`--python_out=${work}`, `--grpc_python_out=${work}`)
  cpSync(join(projectRoot, 'test/clients/python/client.py'), join(work, 'client.py'))
  assert.equal(run(python, ['client.py', address, token]), 'ok\n')
}

/** The generated modules inside a package, with a relative import, as the published package has them. */
async function runWrapped(address, token, key, open) {
  const module = join(work, 'mddb_client')
  cpSync(join(projectRoot, 'test/clients/python'), work, { recursive: true })
  protoc(`--python_out=${module}`, `--grpc_python_out=${module}`)
  const stub = join(module, 'mddb_pb2_grpc.py')
  writeFileSync(stub, readFileSync(stub, 'utf8').replace(/^import mddb_pb2 /m, 'from . import mddb_pb2 '))
  // The provider of vectors is in this process, so it must not wait here.
  const { stdout } = await promisify(execFile)(python, ['wrapped.py', address, '-', key, token, addressOf(open)], { cwd: work })
  assert.equal(stdout, 'ok\n')
}

/** The examples of docs/guides/clients.md, now that Python has its packages. */
function runGuide() {
  run(process.execPath, ['--test', join(projectRoot, 'dist/test/contract/clients/guide.deep.test.js')])
}

function runPhp(open) {
  assert.equal(run('php', [join(projectRoot, 'test/clients/php/client.php'), open.address]), 'ok\n')
}

function runGo(address, token) {
  const module = join(work, 'go')
  cpSync(join(projectRoot, 'test/clients/go'), module, { recursive: true })
  protoc(`--go_out=${module}`, '--go_opt=module=mddb', `--go-grpc_out=${module}`, '--go-grpc_opt=module=mddb')
  run('go', ['build', '-o', 'client', '.'], module)
  assert.equal(run(join(module, 'client'), [address, token]), 'ok\n')
}

function runGrpcurl(address, token) {
  const grpcurl = (args, ...more) =>
    run(join(goBin, 'grpcurl'), ['-plaintext', '-H', `authorization: Bearer ${token}`, ...args, address, ...more])
  const services = grpcurl([], 'list').split('\n')
  assert.ok(services.includes('mddb.MDDB'), services.join(' '))
  assert.match(grpcurl([], 'describe', 'mddb.AddRequest'), /string content_md = 5/)
  const identity = { collection: 'grpcurl', key: 'one', lang: 'en' }
  const added = JSON.parse(grpcurl(['-d', JSON.stringify({ ...identity, content_md: 'a kingfisher' })], 'mddb.MDDB/Add'))
  assert.equal(added.id, 'grpcurl|one|en')
  assert.equal(JSON.parse(grpcurl(['-d', JSON.stringify(identity)], 'mddb.MDDB/Get')).contentMd, 'a kingfisher')
  assert.match(grpcurl(['-d', JSON.stringify({ collection: 'grpcurl', format: 'ndjson' })], 'mddb.MDDB/Export'), /"isLast": true/)
  assert.throws(() => grpcurl(['-d', JSON.stringify({ ...identity, key: 'none' })], 'mddb.MDDB/Get'), /NotFound[\s\S]*not found/)
  assert.throws(() => run(join(goBin, 'grpcurl'), ['-plaintext', address, 'list']), /missing authentication|Unauthenticated/)
}

/** With the options of the published client for Node. */
async function runNode(address, token) {
  const definition = loadSync(join(protoFolder, 'mddb.proto'), {
    keepCase: true,
    longs: String,
    enums: String,
    defaults: true,
    oneofs: true,
  })
  const client = new (loadPackageDefinition(definition).mddb.MDDB)(address, credentials.createInsecure())
  const metadata = new Metadata()
  metadata.set('authorization', `Bearer ${token}`)
  const ask = (name, request, given = metadata) =>
    new Promise((resolve, reject) => client[name](request, given, (error, answer) => (error ? reject(error) : resolve(answer))))
  const identity = { collection: 'node', key: 'one', lang: 'en' }
  const added = await ask('Add', { ...identity, meta: { tags: { values: ['a'] } }, content_md: 'a kingfisher' })
  assert.equal(added.id, 'node|one|en')
  assert.match(added.added_at, /^\d+$/, '64-bit integers are texts')
  assert.equal((await ask('Get', identity)).content_md, 'a kingfisher')
  assert.equal((await ask('Search', { collection: 'node' })).total, 1)
  assert.equal((await ask('FTS', { collection: 'node', query: 'kingfisher' })).results[0].document.key, 'one')
  assert.ok((await ask('Stats', {})).total_documents >= 1)
  const chunks = []
  for await (const chunk of client.Export({ collection: 'node', format: 'ndjson' }, metadata)) chunks.push(chunk)
  assert.equal(chunks.at(-1).is_last, true)
  assert.match(Buffer.concat(chunks.map(({ data }) => data)).toString(), /"a kingfisher"/)
  await assert.rejects(ask('Get', { ...identity, key: 'none' }), { code: status.NOT_FOUND, details: /not found/ })
  await assert.rejects(ask('Get', { collection: 'node' }), { code: status.INVALID_ARGUMENT })
  await assert.rejects(ask('Get', identity, new Metadata()), { code: status.UNAUTHENTICATED })
  client.close()
}

const addressOf = (server) => server.addressOf('grpc').replace(/^:/, '127.0.0.1:')
const hasPhp = spawnSync('php', ['-r', 'exit(function_exists("curl_init") ? 0 : 1);']).status === 0
const provider = await EmbeddingServer.start()
const server = await startServer({ env: ACCESS_ENV, directory: join(work, 'data') })
const open = await startServer({ env: embeddingEnv(provider), directory: join(work, 'open') })
try {
  const address = addressOf(server)
  const key = await keyOf(server, 'admin')
  const token = tokenOf('admin')
  const hasPython = installed('Python', installPython)
  const hasGo = installed('Go, and grpcurl', installGo)
  const clients = [
    ['Node', true, runNode],
    ['Python', hasPython, runPython],
    ["the reference's for Python and LangChain", hasPython, () => runWrapped(address, token, key, open)],
    ["the reference's for PHP", hasPhp, () => runPhp(open)],
    ['Go', hasPython && hasGo, runGo],
    ['grpcurl', hasGo, runGrpcurl],
    ['the guide of clients', true, runGuide],
  ]
  for (const [name, isThere, client] of clients) {
    if (isThere) await client(address, token)
    console.log(`${name}: ${isThere ? 'ok' : 'its tools are not installed'}`)
  }
} finally {
  await server.stop()
  await open.stop()
  await provider.stop()
  rmSync(work, { recursive: true, force: true })
}
