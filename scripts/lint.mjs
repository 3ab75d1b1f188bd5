/**
 * Lint and formatting checks of the three languages. `npm run lint` runs those whose tools are installed,
 * `npm run lint -- eslint clang-tidy` runs the named ones, and `--fix` lets the formatters write.
 * Exit code 0 if all checks that ran passed, 1 if one failed, 77 if none could run because the tools are
 * missing.
 */
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { filesUnder } from './lib/fingerprint.mjs'
import { projectRoot } from './lib/root.mjs'
import { tidyNative } from './lib/tidy.mjs'

const SKIPPED = 77
const fix = process.argv.includes('--fix')
const local = (name) => join(projectRoot, 'node_modules', '.bin', name)
const wasm = join(projectRoot, 'wasm')
const proto = join(projectRoot, 'src', 'surface', 'grpc', 'proto')
const protoBaseline = join(projectRoot, 'test', 'golden', 'grpc_baseline.binpb')
const tantivyPeer = join(projectRoot, 'bench', 'peers', 'tantivy')

function run(command, args, options = {}) {
  return spawnSync(command, args, { cwd: projectRoot, stdio: 'inherit', ...options }).status === 0
}

function exists(command, ...args) {
  return spawnSync(command, [...args, '--version'], { stdio: 'ignore' }).status === 0
}

function nativeFiles(...extensions) {
  return filesUnder(projectRoot, 'native').filter((file) => extensions.some((extension) => file.endsWith(extension)))
}

const CHECKS = {
  eslint: {
    here: () => existsSync(local('eslint')),
    passes: () => run(local('eslint'), ['--max-warnings=0', ...(fix ? ['--fix'] : []), '.']),
  },
  prettier: {
    here: () => existsSync(local('prettier')),
    passes: () => run(local('prettier'), [fix ? '--write' : '--check', '--log-level=warn', '.']),
  },
  buf: {
    here: () => existsSync(local('buf')),
    passes: () => [['lint'], ['breaking', '--against', protoBaseline]].every((args) => run(local('buf'), args, { cwd: proto })),
  },
  'clang-format': {
    here: () => exists('clang-format'),
    passes: () => run('clang-format', [...(fix ? ['-i'] : ['--dry-run', '-Werror']), ...nativeFiles('.cc', '.h')]),
  },
  'clang-tidy': { here: () => exists('clang-tidy') && exists('cmake'), passes: tidyNative },
  rustfmt: {
    here: () => exists('cargo', 'fmt'),
    passes: () => [wasm, tantivyPeer].every((cwd) => run('cargo', ['fmt', ...(fix ? [] : ['--check'])], { cwd })),
  },
  clippy: {
    here: () => exists('cargo', 'clippy'),
    passes: () => run('cargo', ['clippy', '--locked', '--all-targets', '--', '-D', 'warnings'], { cwd: wasm }),
  },
}

const named = process.argv.slice(2).filter((argument) => !argument.startsWith('-'))
const unknown = named.filter((name) => !(name in CHECKS))
if (unknown.length > 0) {
  console.error(`unknown check ${unknown.join(', ')}; there are ${Object.keys(CHECKS).join(', ')}`)
  process.exit(1)
}
let ran = 0
let failed = 0
for (const [name, check] of Object.entries(CHECKS)) {
  if (named.length > 0 && !named.includes(name)) continue
  if (!check.here()) {
    console.log(`lint: ${name} skipped, its tool is not installed`)
    continue
  }
  ran += 1
  const passed = await check.passes()
  if (!passed) failed += 1
  console.log(`lint: ${name} ${passed ? 'passed' : 'FAILED'}`)
}
process.exitCode = failed > 0 ? 1 : ran === 0 ? SKIPPED : 0
