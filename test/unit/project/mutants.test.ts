/**
 * The list of mutations (test/mutants): every row of the contract's coverage that must have a mutation has
 * one, and each still fits the code. The campaign (npm run campaign -- mutants) runs them against the tests.
 */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, it } from 'node:test'
import { pathToFileURL } from 'node:url'

const ROOT = join(import.meta.dirname, '..', '..', '..', '..')
const directory = mkdtempSync(join(tmpdir(), 'mds-mutants-check-'))
after(() => rmSync(directory, { recursive: true }))

const LIST = pathToFileURL(join(ROOT, 'scripts/lib/mutants.mjs')).href
const { faultsOf } = (await import(LIST)) as { readonly faultsOf: (root: string) => readonly string[] }

const faultsIn = (mutants: readonly object[], rows?: readonly object[]): string => faultsOf(repository(mutants, rows)).join('\n')

const ROW = { id: 'a.row', source: 'contract', kind: 'limit', text: 'at most 7', proof: { test: 'takes seven' } }
const MUTANT = { row: 'a.row', in: 'src/bounds.ts', find: 'MOST = 7', replace: 'MOST = 8' }
const PAIR = 'export class Pair {\n  first() {\n    return 1\n  }\n  second() {\n    return 1\n  }\n}\n'
let made = 0

function repository(mutants: readonly object[], rows: readonly object[] = [ROW]): string {
  const root = join(directory, String(made++))
  for (const folder of ['test/contract', 'test/mutants', 'src']) mkdirSync(join(root, folder), { recursive: true })
  writeFileSync(join(root, 'test/contract/coverage.json'), JSON.stringify(rows))
  writeFileSync(join(root, 'test/mutants/all.json'), JSON.stringify(mutants))
  writeFileSync(join(root, 'src/bounds.ts'), 'export const MOST = 7\nexport const LEAST = 1\nexport const FIRST = 1\n' + PAIR)
  return root
}

describe('mutations', () => {
  it('every request field, default, limit and rule that a test proves has a mutation (CONTRIBUTING.md says how to add one), and each fits the code', () => {
    const program = join(ROOT, 'scripts/campaigns/mutants.mjs')
    const { status, stderr } = spawnSync(process.execPath, [program, '--check'], { encoding: 'utf8' })
    assert.equal(status, 0, stderr)
  })

  it('a row without a mutation is named; one that need not have one, or comes later, is not', () => {
    assert.equal(faultsIn([MUTANT]), '')
    const other = { ...ROW, id: 'another.row' }
    assert.equal(faultsIn([MUTANT], [ROW, other]), 'another.row has no mutation: at most 7')
    const free = [{ ...other, kind: 'metric' }, { ...other, id: 'late.row', proof: { later: 'because' } }] // prettier-ignore
    assert.equal(faultsIn([MUTANT], [ROW, ...free]), '')
  })

  it('a row whose text names a request field needs no entry', () => {
    const field = { ...ROW, id: 'add.key', kind: 'request field', text: 'POST /v1/add: request field key' }
    assert.doesNotMatch(faultsIn([MUTANT], [ROW, field]), /add\.key has no mutation/)
    const other = { ...field, text: 'POST /v1/add: the key' }
    assert.match(faultsIn([MUTANT], [ROW, other]), /add\.key has no mutation/)
  })

  it('a phrase is looked for in the declaration that the entry names', () => {
    assert.equal(faultsIn([{ ...MUTANT, of: 'FIRST', find: '1', replace: '2' }]), '')
    assert.equal(faultsIn([{ ...MUTANT, of: 'Pair.second', find: '1', replace: '2' }]), '')
  })

  it('a mutation that does not fit the code any more is named', () => {
    const cases: readonly (readonly [object, RegExp])[] = [
      [{ ...MUTANT, find: 'MOST = 9' }, /a\.row: src\/bounds\.ts has no "MOST = 9" any more/],
      [{ ...MUTANT, find: ' = 1' }, /a\.row: src\/bounds\.ts has " = 1" more than once/],
      [{ ...MUTANT, of: 'LEAST' }, /a\.row: src\/bounds\.ts has no "MOST = 7" in LEAST any more/],
      [{ ...MUTANT, of: 'Pair.third' }, /a\.row: src\/bounds\.ts declares no Pair\.third any more/],
      [{ ...MUTANT, replace: 'MOST = 7' }, /a\.row: nothing changes/],
      [{ row: 'a.row' }, /a\.row: an entry has exactly one of/],
      [{ ...MUTANT, option: 'path' }, /a\.row: an entry has exactly one of/],
      [{ ...MUTANT, row: 'no.row' }, /no\.row is no row that a test proves/],
    ]
    for (const [mutant, fault] of cases) assert.match(faultsIn([MUTANT, mutant]), fault)
  })
})
