/**
 * Runs clang-tidy over the native sources that have changed since they last passed. Hashes of clean files are
 * recorded in native/tidy.json, which is committed with the sources. A hash covers the file, the project
 * headers that it includes, its compile command and the checks. Another version of clang-tidy checks all
 * files again. clang-tidy takes 8 to 20 s per file.
 */
import { spawn, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { dirname, join, relative } from 'node:path'
import { projectRoot } from './root.mjs'

const FOLDER = 'build-tidy'
const RECORD = 'native/tidy.json'
/** Search folders of `#include "..."` besides the folder of the file itself. */
const INCLUDE_FOLDERS = ['native/engine', 'native', 'native/test']

const absolute = (file) => join(projectRoot, file)

/** The file and all project headers that it includes directly or indirectly, sorted. */
function closureOf(file, known = new Set()) {
  if (known.has(file)) return known
  known.add(file)
  for (const [, name] of readFileSync(absolute(file), 'utf8').matchAll(/^\s*#\s*include\s+"([^"]+)"/gm)) {
    const found = [dirname(file), ...INCLUDE_FOLDERS].map((folder) => join(folder, name)).find((path) => existsSync(absolute(path)))
    if (found !== undefined) closureOf(found, known)
  }
  return known
}

function hashOf(file, options, rules) {
  const hash = createHash('sha256').update(rules).update(options)
  for (const part of [...closureOf(file)].sort()) hash.update(`\0${part}\0`).update(readFileSync(absolute(part)))
  return hash.digest('hex')
}

/** The compile command of each file, without the path of the checkout. Nothing is compiled to obtain it. */
function compilations() {
  const configured = spawnSync(
    'cmake',
    ['-S', '.', '-B', FOLDER, '-DCMAKE_EXPORT_COMPILE_COMMANDS=ON', '-DMDS_TESTS=OFF', '-DMDS_BENCH=OFF', '-DMDS_UNITY=OFF'],
    { cwd: projectRoot, stdio: ['ignore', 'ignore', 'inherit'] },
  )
  if (configured.status !== 0) return undefined
  const entries = JSON.parse(readFileSync(absolute(join(FOLDER, 'compile_commands.json')), 'utf8'))
  return new Map(
    entries
      .map(({ file, command }) => [relative(projectRoot, file), command.replaceAll(projectRoot, '.')])
      .filter(([file]) => file.startsWith('native/') && file.endsWith('.cc')),
  )
}

function readRecord() {
  try {
    return JSON.parse(readFileSync(absolute(RECORD), 'utf8'))
  } catch {
    return {} // Absent or damaged: no file counts as clean.
  }
}

/** @returns whether clang-tidy reports nothing for the file; reports are printed */
async function isClean(file) {
  const child = spawn('clang-tidy', ['--quiet', '-p', FOLDER, file], { cwd: projectRoot, stdio: ['ignore', 'pipe', 'pipe'] })
  let said = ''
  child.stdout.on('data', (text) => (said += text))
  child.stderr.on('data', (text) => (said += text))
  const status = await new Promise((resolve, reject) => child.on('error', reject).on('close', resolve))
  // Even with --quiet, clang-tidy prints the number of suppressed warnings in system headers.
  const findings = said.replace(/^\d+ warnings? generated\.$/gm, '').trim()
  if (findings !== '') console.log(findings)
  return status === 0
}

/** @returns whether all native sources are clean */
export async function tidyNative() {
  const compiled = compilations()
  if (compiled === undefined) return false
  const [version] = spawnSync('clang-tidy', ['--version'], { encoding: 'utf8' }).stdout.match(/version \S+/) ?? ['']
  const rules = `${version}\0${readFileSync(absolute('.clang-tidy'), 'utf8')}`
  const hashes = new Map([...compiled].map(([file, command]) => [file, hashOf(file, command, rules)]))
  const recorded = readRecord()
  const changed = [...hashes.keys()].filter((file) => recorded[file] !== hashes.get(file))
  console.log(`clang-tidy: ${changed.length} of ${hashes.size} files changed since they were found clean`)
  const clean = new Map(Object.entries(recorded).filter(([file, hash]) => hashes.get(file) === hash))
  // Written after each file, so that an interrupted run keeps its results.
  const write = () => {
    const entries = [...clean].sort(([a], [b]) => (a < b ? -1 : 1))
    writeFileSync(absolute(RECORD), `${JSON.stringify(Object.fromEntries(entries), null, 2)}\n`)
  }
  const waiting = [...changed]
  async function lane() {
    for (let file = waiting.shift(); file !== undefined; file = waiting.shift()) {
      if (!(await isClean(file))) continue
      clean.set(file, hashes.get(file))
      write()
    }
  }
  await Promise.all(Array.from({ length: availableParallelism() }, lane))
  return clean.size === hashes.size
}
