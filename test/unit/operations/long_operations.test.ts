/**
 * The row of every operation of a lane says where its loops poll the deadline, or what bounds it. This test
 * compares it with the named files and the named limits.
 */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { it } from 'node:test'
import { pathToFileURL } from 'node:url'
import { laneOperations } from '../../../src/operations/index.js'

const root = join(import.meta.dirname, '../../../..')
const { boundsOf } = (await import(pathToFileURL(join(root, 'scripts/lib/bounds.mjs')).href)) as {
  readonly boundsOf: (root: string) => readonly { readonly name: string }[]
}
const limits = new Set(boundsOf(root).map(({ name }) => name))
// Operations that the front end answers itself have no work to stop.
const running = laneOperations.filter(({ cost }) => cost !== 'loop')

it('long operations: the row of every operation of a lane names the limits that bound it, and they exist', () => {
  for (const { name, boundedBy = [] } of running) {
    assert.ok(boundedBy.length > 0, name)
    for (const limit of boundedBy) assert.ok(limits.has(limit), `${name}: ${limit}`)
  }
})

it('long operations: the files that are named look at the deadline', () => {
  const named = running.filter(({ polledIn }) => polledIn !== undefined)
  assert.ok(named.length > 10)
  for (const { name, polledIn = '' } of named)
    assert.match(readFileSync(join(root, 'src', polledIn), 'utf8'), /shouldStop\(\)|[sS]topWord/, `${name}: ${polledIn}`)
})
