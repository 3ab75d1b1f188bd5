/** The code caches that the setup writes beside the largest programs (scripts/lib/code_cache.mjs). */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { it } from 'node:test'
import { programPath } from '../../../src/base/installation.js'

const FOLDER = dirname(programPath('lane'))

/** Prints whether V8 refuses the cache. */
const PROBE = `
  const { readFileSync } = require('node:fs')
  const [, filename] = process.argv
  const cachedData = readFileSync(filename.replace(/code$/, 'cache'))
  console.log(new (require('node:vm').Script)(readFileSync(filename, 'utf8'), { filename, cachedData }).cachedDataRejected)
`

function isRefused(code: string, flags: readonly string[]): string {
  return execFileSync(process.execPath, [...flags, '-e', PROBE, join(FOLDER, code)], { encoding: 'utf8' }).trim()
}

it('code cache: V8 takes the programs of the main thread and of the lanes from it, with the flags of the supervisor, too', () => {
  const codes = readdirSync(FOLDER, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.code'))
  assert.deepEqual(codes.map((name) => name.replace(/-.*/, '')).sort(), ['lane', 'parts/server'])
  for (const code of codes) for (const flags of [[], ['--single-threaded-gc']]) assert.equal(isRefused(code, flags), 'false', code)
})
