/**
 * Docs/decisions/0168 states for every operation where it checks its deadline, or what bounds it. This test
 * compares it with the table of operations, the named files and the named limits.
 */
import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { it } from 'node:test'
import { laneOperations } from '../../src/operations/index.js'

const root = join(import.meta.dirname, '../../..')
const boundNames = new Set(
  readdirSync(join(root, 'src/limits'))
    .map((file) => readFileSync(join(root, 'src/limits', file), 'utf8'))
    .flatMap((layer) => [...layer.matchAll(/^export const (\w+)/gm)].map(([, name]) => name)),
)
const text = readFileSync(join(root, 'docs/decisions/0168-what-one-request-may-take.md'), 'utf8')
// Operations that the front end answers itself have no work to stop.
const running = laneOperations.filter(({ cost }) => cost !== 'loop')
const rows = [...text.matchAll(/^\| (`.*`) \| (.*) \| (.*) \|$/gm)].map((row) =>
  row.slice(1).map((cell) => [...cell.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name)),
)

it('long operations: every operation is in the table, once', () => {
  const named = rows.flatMap(([names = []]) => names)
  assert.deepEqual([...named].sort(), running.map(({ name }) => name).sort())
})

it('long operations: the files that are named look at the deadline, and the bounds exist', () => {
  for (const [names = [], files = [], bounds = []] of rows) {
    for (const file of files)
      assert.match(readFileSync(join(root, 'src', file), 'utf8'), /shouldStop\(\)|[sS]topWord/, `${names.join()}: ${file}`)
    assert.ok(bounds.length > 0, names.join())
    for (const bound of bounds) assert.ok(boundNames.has(bound), `${names.join()}: ${bound}`)
  }
})
