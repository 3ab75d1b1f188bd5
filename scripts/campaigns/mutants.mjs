/**
 * `npm run campaign -- mutants [--sample n] [--part k/n] [--seed n] [--others n] [row id or prefix*] ...`
 *
 * Mutation testing. For each row of test/contract/coverage.json, applies the mutation that test/mutants lists
 * for it and expects the test named by the row to fail. A mutation is a failure if it survives, hangs (unless
 * its entry says `hangs`), keeps the program from starting, or no longer fits the code. An entry with `whole`
 * runs all tests of the file, because the named test depends on the others.
 *
 * Without arguments: every required row (request fields, defaults, limits, rules) and 100 sampled others.
 * Needs a build with tests. Two tests run at a time.
 *
 * `--check` runs nothing. It lists required rows without a mutation and mutations that do not fit the code.
 */
import { writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { PrivateCopy, testFiles } from '../lib/mutant_tests.mjs'
import { faultsOf, isRequired, mutatedSources, nameOf, readMutants, readRows } from '../lib/mutants.mjs'
import { projectRoot } from '../lib/root.mjs'
import { randomFrom } from '../lib/random.mjs'

const AT_ONCE = 2
const OTHERS = 100
/**
 * Time limit of a run: four times the duration of the test without a mutation, plus a margin for a busy
 * machine.
 */
const RUN_MS_FACTOR = 4
const RUN_MS_MORE = 75_000
const BASELINE_MS_MAX = 300_000
/** Groups of tests in ascending order of cost. */
const CHEAP_FIRST = ['unit', 'property', 'golden', 'contract', 'replay', 'fault']

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    sample: { type: 'string' },
    part: { type: 'string' },
    seed: { type: 'string' },
    others: { type: 'string' },
    report: { type: 'string' },
    verbose: { type: 'boolean' },
    check: { type: 'boolean' },
    root: { type: 'string' },
  },
})
/** The sample changes each day. */
const seed = Number(options.seed ?? process.env.MDS_SEED ?? Math.floor(Date.now() / 86_400_000))

function sampleOf(all, count) {
  const below = randomFrom(seed)
  const left = [...all]
  const taken = []
  while (taken.length < count && left.length > 0) taken.push(...left.splice(below(left.length), 1))
  return taken
}

function chosen(rows, mutants) {
  const isNamed = (id) => positionals.some((name) => (name.endsWith('*') ? id.startsWith(name.slice(0, -1)) : id === name))
  if (positionals.length > 0) return mutants.filter(({ row }) => isNamed(row))
  const isOfRequired = ({ row }) => rows.has(row) && isRequired(rows.get(row))
  const others = mutants.filter((mutant) => !isOfRequired(mutant))
  const all = [...mutants.filter(isOfRequired), ...sampleOf(others, Number(options.others ?? OTHERS))]
  const some = options.sample === undefined ? all : sampleOf(all, Number(options.sample))
  if (options.part === undefined) return some
  const [part, parts] = options.part.split('/').map(Number)
  return some.filter((_, at) => at % parts === part - 1)
}

/** @returns groups of mutations by the test that must fail, cheap ones first */
function groupsOf(mutants, rows, files) {
  const groups = new Map()
  for (const mutant of mutants) {
    const { test, file } = rows.get(mutant.row)?.proof ?? {}
    const found = (files.get(test) ?? []).filter((each) => file === undefined || each === file)
    const name = found.length === 1 ? join('dist/test', found[0].replace(/\.ts$/, '.js')) : undefined
    const group = groups.get(test) ?? { test, file: name, mutants: [] }
    groups.set(test, group)
    group.mutants.push(mutant)
  }
  const costOf = ({ file }) => CHEAP_FIRST.findIndex((folder) => file?.startsWith(`dist/test/${folder}/`))
  return [...groups.values()].sort((one, other) => costOf(one) - costOf(other))
}

const VERDICTS = {
  passed: 'SURVIVED',
  hung: 'HUNG',
  broken: 'does not start',
  absent: 'has no such test',
}

const results = []
function tell(mutant, test, verdict, ms, output = '') {
  results.push({ row: mutant.row, what: nameOf(mutant), verdict, test, ms: Math.round(ms) })
  console.log(
    `${verdict === 'killed' ? 'killed  ' : verdict} ${mutant.row} (${nameOf(mutant).replaceAll(/\s+/g, ' ')}), ${(ms / 1000).toFixed(1)} s`,
  )
  if (verdict !== 'killed' && options.verbose) console.log(output.replaceAll(/^/gm, '    | '))
}

const isWhole = ({ mutants }) => mutants.some(({ whole }) => whole === true)

/** Runs the test once without a mutation. */
function baselineOf(group, copy) {
  group.baseline ??= copy.run(group.file, group.test, BASELINE_MS_MAX, isWhole(group))
  return group.baseline
}

async function runMutant(copy, group, mutant) {
  const { test, file } = group
  if (file === undefined) {
    tell(mutant, test, 'has no such test', 0)
    return
  }
  const baseline = await baselineOf(group, copy)
  if (baseline.outcome === 'skipped') {
    tell(mutant, test, 'skipped', baseline.ms)
    return
  }
  if (baseline.outcome !== 'passed') {
    tell(mutant, test, `${baseline.outcome} without a mutation`, baseline.ms, baseline.output)
    return
  }
  let sources
  try {
    sources = mutatedSources(mutant, projectRoot)
    await copy.mutate(sources)
  } catch (error) {
    tell(mutant, test, `STALE (${error.message})`, 0)
    return
  }
  const { outcome, ms, output } = await copy.run(file, test, baseline.ms * RUN_MS_FACTOR + RUN_MS_MORE, isWhole(group))
  copy.restore(sources)
  const isKilled = outcome === 'failed' || (outcome === 'hung' && mutant.hangs === true) || (outcome === 'broken' && mutant.ends === true)
  tell(mutant, test, isKilled ? 'killed' : VERDICTS[outcome], ms, output)
}

async function main() {
  const rows = new Map(readRows(projectRoot).map((row) => [row.id, row]))
  const mutants = chosen(rows, readMutants(projectRoot))
  const groups = groupsOf(mutants, rows, testFiles(projectRoot))
  console.log(`mutants: seed ${seed}, ${mutants.length} mutations, ${groups.length} tests`)
  const copies = Array.from({ length: AT_ONCE }, () => new PrivateCopy(projectRoot))
  const giveUp = () => {
    for (const copy of copies) copy.remove()
    process.exit(1)
  }
  for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, giveUp)
  try {
    const waiting = groups.flatMap((group) => group.mutants.map((mutant) => ({ group, mutant }))).values()
    await Promise.all(
      copies.map(async (copy) => {
        for (const { group, mutant } of waiting) await runMutant(copy, group, mutant)
      }),
    )
  } finally {
    for (const copy of copies) copy.remove()
  }
  if (options.report !== undefined) writeFileSync(options.report, JSON.stringify(results, null, 1))
  const skipped = results.filter(({ verdict }) => verdict === 'skipped').length
  const left = results.filter(({ verdict }) => verdict !== 'killed' && verdict !== 'skipped')
  for (const { row, what, verdict, test } of left) console.log(`${verdict}: ${row}: ${what}: ${test}`)
  const killed = results.length - left.length - skipped
  console.log(`${killed} killed, ${left.length} not, ${skipped} skipped, because their tests need a tool that is not here`)
  process.exitCode = left.length > 0 || killed === 0 ? 1 : 0
}

/** @returns the exit code */
function check(root) {
  const faults = faultsOf(root)
  for (const fault of faults) console.error(fault)
  console.log(`mutations: ${readMutants(root).length}, ${faults.length} faults`)
  return faults.length > 0 ? 1 : 0
}

if (options.check === true) process.exitCode = check(resolve(options.root ?? projectRoot))
else await main()
