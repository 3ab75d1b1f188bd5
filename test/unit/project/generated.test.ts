/** Derived files are what `npm run generate` writes from the rows and other tables of the sources. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { it } from 'node:test'
import { projectFolder } from '../../../src/base/installation.js'

it('generated: proto, descriptor, GraphQL additions, client, guide and lists are what npm run generate writes', () => {
  const args = [join(projectFolder(), 'scripts', 'generate.mjs'), '--check']
  const { status, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' })
  assert.equal(status, 0, stderr)
})
