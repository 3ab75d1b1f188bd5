/**
 * The first calls of docs/guides/clients.md, run as they are written but for the addresses: each writes a
 * document, which the server then has. Those of languages whose tools are not installed are skipped.
 */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { promisify } from 'node:util'
import { PROTO } from '../../harness/clients/grpc.js'
import { execFile } from '../../harness/process/owned_processes.js'
import { type Server, startServer } from '../../harness/server/server.js'

const ROOT = join(import.meta.dirname, '..', '..', '..', '..')
/** Installed by `npm run campaign -- grpc-clients`. */
const PYTHON = join(ROOT, 'build', 'grpc-clients', 'venv', 'bin', 'python')
const EXAMPLE_MS_MAX = 120_000
const GUIDE = readFileSync(join(ROOT, 'docs', 'guides', 'clients.md'), 'utf8')
/** The examples. */
const BLOCKS = [...GUIDE.matchAll(/^```\w+\n([\s\S]*?)^```$/gm)].map(([, block = '']) => block)

const has = (program: string, ...parameters: readonly string[]): boolean => spawnSync(program, parameters).status === 0
const hasPhp = has('php', '-r', 'exit(function_exists("curl_init") ? 0 : 1);')
const hasPython = existsSync(PYTHON) && has(PYTHON, '-c', 'import grpc, grpc_tools')
const skippedWithout = (name: string, isThere: boolean): string | false => (isThere ? false : `${name} is not installed`)

describe('guide of clients', () => {
  let server: Server
  let folder: string

  before(async () => {
    server = await startServer()
    folder = mkdtempSync(join(tmpdir(), 'mds-clients-guide-'))
    copyFileSync(PROTO, join(folder, 'mddb.proto'))
    const packages = join(folder, 'node_modules')
    mkdirSync(join(packages, '@mds'), { recursive: true })
    symlinkSync(join(ROOT, 'node_modules', '@grpc'), join(packages, '@grpc'))
    await run(process.execPath, join(ROOT, 'scripts', 'build-client.mjs'), '--out', join(packages, '@mds', 'client'))
  })
  after(async () => {
    await server.stop()
    rmSync(folder, { recursive: true, force: true })
  })

  async function run(program: string, ...parameters: readonly string[]): Promise<string> {
    return (await promisify(execFile)(program, parameters, { cwd: folder, timeout: EXAMPLE_MS_MAX })).stdout.trim()
  }

  /** Writes the block that contains the text into a file, with the addresses of the server. */
  function fileOf(text: string, name: string): string {
    const [block, ...others] = BLOCKS.filter((each) => each.includes(text))
    assert.ok(block !== undefined && others.length === 0, `one block with ${text}`)
    const addresses = {
      '127.0.0.1:11023': server.address,
      '127.0.0.1:11024': server.addressOf('grpc'),
      '127.0.0.1:9000': server.addressOf('mcp'),
    }
    const path = join(folder, name)
    writeFileSync(
      path,
      Object.entries(addresses).reduce((code, [from, to]) => code.replaceAll(from, to), block),
    )
    return path
  }

  const textOf = async (key: string): Promise<unknown> =>
    (await server.post('/v1/get', { collection: 'notes', key, lang: 'en' })).json().contentMd

  it('guide: the first calls by curl, of HTTP, GraphQL and MCP', async () => {
    for (const [text, key] of [
      ['"key":"curl"', 'curl'],
      ['/graphql', 'graphql'],
      ['/tools/call', 'mcp'],
    ] as const) {
      assert.match(await run('bash', '-e', fileOf(text, `${key}.sh`)), /# Hello/, key)
      assert.equal(await textOf(key), '# Hello', key)
    }
  })

  it('guide: the first call of the typed client', async () => {
    assert.equal(await run(process.execPath, fileOf("'@mds/client'", 'typed.mjs')), '# Hello')
    assert.equal(await textOf('typed'), '# Hello')
  })

  it('guide: the first call of Node.js over gRPC', async () => {
    assert.equal(await run(process.execPath, fileOf("'@grpc/proto-loader'", 'node.mjs')), '# Hello')
    assert.equal(await textOf('node'), '# Hello')
  })

  it('guide: the first call of Python over gRPC', { skip: skippedWithout('grpcio', hasPython) }, async () => {
    await run(PYTHON, '-m', 'grpc_tools.protoc', '-I', '.', '--python_out=.', '--grpc_python_out=.', 'mddb.proto')
    assert.equal(await run(PYTHON, fileOf('import mddb_pb2\n', 'first.py')), '# Hello')
    assert.equal(await textOf('python'), '# Hello')
  })

  it('guide: the first call of Go', { skip: skippedWithout('Go', has('go', 'version')) }, async () => {
    assert.equal(await run('go', 'run', fileOf('package main', 'first.go')), '# Hello')
    assert.equal(await textOf('go'), '# Hello')
  })

  it('guide: the first call of PHP', { skip: skippedWithout('PHP with curl', hasPhp) }, async () => {
    assert.equal(await run('php', fileOf('<?php', 'first.php')), '# Hello')
    assert.equal(await textOf('php'), '# Hello')
  })
})
