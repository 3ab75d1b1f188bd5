/**
 * clang-tidy over the native sources, those alone that changed since it last passed: what it found clean is
 * remembered by content in native/tidy.json, which is committed with the sources. A hash covers a file, the
 * headers of ours that it includes, how it is compiled and the checks; another version of clang-tidy looks at
 * everything again. clang-tidy takes 8 to 20 s a file.
 */
import { spawn, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { dirname, join, relative } from 'node:path'
import { projectRoot } from './root.mjs'

const FOLDER = 'build-tidy'
const RECORD = 'native/tidy.json'
/** Where `#include "..."` looks besides the folder of the file itself. */
const INCLUDE_FOLDERS = ['native/engine', 'native', 'native/test']

const absolute = (file) => join(projectRoot, file)

/** The file and all headers of ours that it includes, by whatever way; sorted. */
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

/**
 * How each file is compiled, without what differs from one checkout to the next: its own folder. Nothing is
 * compiled for it.
 */
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
    return {} // Absent or damaged: nothing is known to be clean.
  }
}

/** @returns whether clang-tidy has nothing to say about the file; what it says is printed */
async function isClean(file) {
  const child = spawn('clang-tidy', ['--quiet', '-p', FOLDER, file], { cwd: projectRoot, stdio: ['ignore', 'pipe', 'pipe'] })
  let said = ''
  child.stdout.on('data', (text) => (said += text))
  child.stderr.on('data', (text) => (said += text))
  const status = await new Promise((resolve, reject) => child.on('error', reject).on('close', resolve))
  // Even quiet, it counts what it does not show: the warnings in headers of the system.
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
  // After each file: a run that is ended has not looked for nothing.
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
