/**
 * Contract coverage: every endpoint, field, variable, limit and text of the contract is proved by a test,
 * waits for an open issue, or states why it comes later. The rules are in scripts/coverage-check.mjs; this
 * test runs it over the repository and over broken copies.
 */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, it } from 'node:test'

const ROOT = join(import.meta.dirname, '..', '..', '..')
const directory = mkdtempSync(join(tmpdir(), 'mds-coverage-'))
after(() => rmSync(directory, { recursive: true }))

function check(root: string): { readonly status: number | null; readonly output: string; readonly faults: string } {
  const { status, stdout, stderr } = spawnSync(process.execPath, [join(ROOT, 'scripts/coverage-check.mjs'), '--root', root], {
    encoding: 'utf8',
  })
  return { status, output: stdout, faults: stderr }
}

const GOOD = { id: 'a', source: 'contract / section', kind: 'rule', text: 'a rule', proof: { test: 'keeps a rule' } }
let made = 0

/** A repository with one test file and these entries. */
function repository(entries: readonly unknown[], source = "it('keeps a rule', () => {})\n"): string {
  const root = join(directory, String(made++))
  mkdirSync(join(root, 'test/contract'), { recursive: true })
  writeFileSync(join(root, 'test/contract/coverage.json'), JSON.stringify(entries))
  writeFileSync(join(root, 'test/contract/issues.json'), JSON.stringify(['an open issue']))
  writeFileSync(join(root, 'test/some.test.ts'), source)
  return root
}

describe('contract coverage', () => {
  it('coverage: every entry of the contract is proved by a test that exists, waits for an issue, or says why later', (test) => {
    const { status, output, faults } = check(ROOT)
    for (const line of output.trimEnd().split('\n')) test.diagnostic(line)
    assert.equal(status, 0, faults)
  })

  it('coverage: a good entry passes', () => {
    assert.equal(check(repository([GOOD])).status, 0)
    assert.equal(check(repository([{ ...GOOD, proof: { issue: 'an open issue' } }])).status, 0)
    assert.equal(check(repository([{ ...GOOD, proof: { later: 'because' } }])).status, 0)
  })

  it('coverage: an entry without proof, with two, with an unknown issue or a missing test fails', () => {
    const cases: readonly (readonly [unknown, RegExp])[] = [
      [{ ...GOOD, proof: {} }, /exactly one/],
      [{ ...GOOD, proof: undefined }, /exactly one/],
      [{ ...GOOD, proof: { later: '' } }, /exactly one/],
      [{ ...GOOD, proof: { test: 'keeps a rule', later: 'x' } }, /exactly one/],
      [{ ...GOOD, proof: { issue: 'a closed issue' } }, /not in issues\.json/],
      [{ ...GOOD, proof: { test: 'keeps another rule' } }, /does not exist/],
      [{ ...GOOD, proof: { test: 'keeps a rule', file: 'other.test.ts' } }, /does not exist/],
      [{ ...GOOD, text: '' }, /has no text/],
    ]
    for (const [entry, fault] of cases) {
      const { status, faults } = check(repository([entry]))
      assert.equal(status, 1, JSON.stringify(entry))
      assert.match(faults, fault)
    }
    assert.match(check(repository([GOOD, GOOD])).faults, /twice/)
    assert.equal(check(repository([])).status, 1)
  })

  it('coverage: an entry may be proved by a campaign, if it is a step of .ci/run', () => {
    const root = repository([{ ...GOOD, proof: { campaign: 'some-clients' } }])
    assert.match(check(root).faults, /campaign that \.ci\/run does not run: some-clients/)
    mkdirSync(join(root, '.ci'))
    writeFileSync(join(root, '.ci/run'), '  step campaign-some-clients "${in_shell[@]}" campaign campaign some-clients || true\n')
    assert.equal(check(root).status, 0)
  })

  it('coverage: a skipped test and a name in two tests prove nothing', () => {
    assert.equal(check(repository([GOOD], "it.skip('keeps a rule', () => {})\n")).status, 1)
    const twice = "it('keeps a rule', () => {})\nit('keeps a rule', () => {})\n"
    assert.match(check(repository([GOOD], twice)).faults, /several tests/)
  })

  it('coverage: names are found in every kind of quotes and over lines', () => {
    const source = 'it(\n  "it\'s a rule",\n  () => {})\ntest(`rule ${n}`, () => {})\n'
    assert.equal(check(repository([{ ...GOOD, proof: { test: "it's a rule" } }], source)).status, 0)
    assert.equal(check(repository([{ ...GOOD, proof: { test: 'rule ${n}' } }], source)).status, 0)
  })
})
