/**
 * Installs schemathesis and openapi-python-client into a Python environment below build/, and redocly and
 * spectral beside them, unless they are already installed. Prints the folder. Exit code 77 if they cannot be
 * installed: no Python 3.10 or later with venv, or no network. The versions are exact, so that campaigns are
 * comparable across machines.
 */
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { projectRoot } from './lib/root.mjs'

const PYTHON_PACKAGES = ['schemathesis==4.32.5', 'openapi-python-client==0.29.1']
const NPM_PACKAGES = ['@redocly/cli@2.77.0', '@stoplight/spectral-cli@6.16.3']
const SKIPPED = 77
const INSTALL_MS_MAX = 10 * 60_000

export const toolsFolder = join(projectRoot, 'build', 'openapi-tools')
export const pythonTool = (name) => join(toolsFolder, 'venv', 'bin', name)
export const npmTool = (name) => join(toolsFolder, 'node_modules', '.bin', name)

const mark = join(toolsFolder, 'installed')
const wanted = [...PYTHON_PACKAGES, ...NPM_PACKAGES].join('\n')

function run(command, parameters) {
  const { status, error } = spawnSync(command, parameters, {
    cwd: toolsFolder,
    stdio: ['ignore', 'inherit', 'inherit'],
    timeout: INSTALL_MS_MAX,
  })
  if (status === 0) return true
  console.error(`tools for the OpenAPI document can't be installed: ${error?.message ?? `${command} ended with ${status}`}`)
  return false
}

function install() {
  mkdirSync(toolsFolder, { recursive: true })
  writeFileSync(join(toolsFolder, 'package.json'), '{"private":true}')
  return (
    run('python3', ['-m', 'venv', 'venv']) &&
    run(pythonTool('pip'), ['install', '--quiet', '--disable-pip-version-check', ...PYTHON_PACKAGES]) &&
    run('npm', ['install', '--ignore-scripts', '--no-audit', '--no-fund', '--no-save', ...NPM_PACKAGES])
  )
}

if (!existsSync(mark) || readFileSync(mark, 'utf8') !== wanted) {
  if (!install()) process.exit(SKIPPED)
  writeFileSync(mark, wanted)
}
console.log(toolsFolder)
