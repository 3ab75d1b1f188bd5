/**
 * A flipped bit in the truth env, one for each kind of page and of row part, drawn by MDS_TEST_SEED: no
 * answer contains another document's or collection's data, and nothing is changed or deleted without a
 * request. All kinds and tables: npm run campaign -- flips. docs/decisions/store/integrity.md.
 */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { Random, runSeed } from '../../harness/random.js'
import { type FlipReport, FlipRun } from './flip_run.js'

/** Kinds of pages, and the parts of rows that identify their owners. */
const KINDS = [
  ...['meta', 'meta header', 'record of a table', 'main: key', 'free list: key', 'free list: value'],
  ...['branch header', 'branch pointers', 'branch page number', 'branch key', 'leaf header', 'leaf pointers', 'leaf node header'],
  ...['overflow header', 'entry of an overflow page', 'heads: key', 'heads: value', 'heads: trailer', 'bodies: value', 'revisions: value'],
  ...[
    'identities: key',
    'identities: value',
    'sealed-identities: value',
    'collections: key',
    'collections: value',
    'counters: key',
    'counters: value',
  ],
]
const SIDE_BY_SIDE = 2

it('flips: a flipped bit in each kind of page and row never exposes, overwrites or deletes another record, and the server logs why it ends', async (context) => {
  const seed = runSeed()
  context.diagnostic(`MDS_TEST_SEED=${seed}`)
  const random = new Random(seed)
  const run = await FlipRun.begin()
  const reports: FlipReport[] = []
  try {
    for (const kind of KINDS) assert.ok(run.targets.has(kind), kind)
    const rest = KINDS[Symbol.iterator]()
    const flipOn = async (): Promise<void> => {
      for (const kind of rest) reports.push(await run.flip(kind, random))
    }
    await Promise.all(Array.from({ length: SIDE_BY_SIDE }, flipOn))
  } finally {
    await run.end()
  }
  assert.deepEqual(
    reports.filter(({ outcome }) => outcome === 'wrong'),
    [],
  )
})
