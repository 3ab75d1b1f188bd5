#!/usr/bin/env node
/**
 * Checks that every sentence of the contract is accounted for. Reads test/contract/coverage.json, issues.json
 * and the names of all tests, and prints the counts. Exits with 1 for an entry without proof, for an entry
 * whose test does not exist (or whose test name occurs twice and has no `file`), for one whose campaign is no
 * step of .ci/run, and for an entry whose issue is not in the list.
 * Usage: node scripts/coverage-check.mjs [--root DIR] [--open ISSUE TITLE].
 * With --open, entries that wait for that issue are also reported. No dependencies.
 */
import { existsSync, readFileSync, readdirSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'

const KINDS = ['test', 'campaign', 'issue', 'later']

/**
 * Names given to `it(` and `test(` in all test files: name -> files. `it.skip(` is not matched, because a
 * skipped test proves nothing.
 */
function testNames(folder) {
  const names = new Map()
  for (const entry of readdirSync(folder, { withFileTypes: true, recursive: true })) {
    if (!entry.isFile() || !entry.name.endsWith('.test.ts')) continue
    const path = join(entry.parentPath ?? entry.path, entry.name)
    const source = readFileSync(path, 'utf8')
    for (const [, , raw] of source.matchAll(/(?<![\w.])(?:it|test)\(\s*(['"`])((?:\\.|(?!\1)[\s\S])*)\1\s*,/g)) {
      const name = raw.replaceAll(/\\(['"`\\])/g, '$1')
      names.set(name, [...(names.get(name) ?? []), relative(folder, path)])
    }
  }
  return names
}

/** Names of campaigns that .ci/run runs. A scratch copy of a test may have none. */
function campaignNames() {
  const path = join(root, '.ci/run')
  return new Set(existsSync(path) ? [...readFileSync(path, 'utf8').matchAll(/ campaign campaign ([\w-]+)/g)].map(([, name]) => name) : [])
}

function faultOf(entry, { names, campaigns, issues }, ids) {
  const { id, source, kind, text, proof } = entry
  for (const [field, value] of Object.entries({ id, source, kind, text })) {
    if (typeof value !== 'string' || value === '') return `has no ${field}`
  }
  if (ids.has(id)) return 'is there twice'
  ids.add(id)
  const given = KINDS.filter((name) => typeof proof?.[name] === 'string' && proof[name] !== '')
  if (given.length !== 1) return 'needs exactly one of test, campaign, issue and later'
  if (given[0] === 'issue' && !issues.has(proof.issue)) return `waits for an issue that is not in issues.json: ${proof.issue}`
  if (given[0] === 'campaign' && !campaigns.has(proof.campaign))
    return `is proved by a campaign that .ci/run does not run: ${proof.campaign}`
  if (given[0] !== 'test') return undefined
  const files = (names.get(proof.test) ?? []).filter((file) => proof.file === undefined || file === proof.file)
  if (files.length === 0)
    return `is proved by a test that does not exist: ${proof.test}${proof.file === undefined ? '' : ` in ${proof.file}`}`
  if (files.length > 1) return `is proved by a name that several tests have (${files.join(', ')}): say which \`file\``
  return undefined
}

function argument(name) {
  const at = process.argv.indexOf(name)
  return at < 0 ? undefined : process.argv[at + 1]
}

const root = resolve(argument('--root') ?? join(dirname(fileURLToPath(import.meta.url)), '..'))
const read = (name) => JSON.parse(readFileSync(join(root, 'test/contract', name), 'utf8'))
const entries = read('coverage.json')
const issues = new Set(read('issues.json'))
const known = { names: testNames(join(root, 'test')), campaigns: campaignNames(), issues }

const ids = new Set()
const faults = entries.flatMap((entry) => {
  const fault = faultOf(entry, known, ids)
  return fault === undefined ? [] : [`${entry.id ?? JSON.stringify(entry)} ${fault}`]
})

const count = (keep) => entries.filter(({ proof }) => keep(proof ?? {})).length
console.log(
  `contract: ${entries.length} entries, ${count((proof) => 'test' in proof)} proved by a test, ${count((proof) => 'campaign' in proof)} by a campaign, ${count((proof) => 'issue' in proof)} wait for an issue, ${count((proof) => 'later' in proof)} later`,
)
for (const issue of issues) console.log(`  ${String(count((proof) => proof.issue === issue)).padStart(5)}  ${issue}`)
const open = argument('--open')
if (open !== undefined) for (const { id, text, proof } of entries) if (proof.issue === open) console.log(`${id}: ${text}`)
for (const fault of faults) console.error(fault)
process.exitCode = faults.length > 0 || entries.length === 0 ? 1 : 0
