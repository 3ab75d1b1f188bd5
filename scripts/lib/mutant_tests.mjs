/**
 * Runs one named test over a private copy of the compiled files, with or without mutated sources. The files
 * of the copy are hard links to `dist`. Mutated sources are compiled one by one into separate files. They are
 * in the copy's `src`, too, from which some tests build programs of their own (test/harness/scratch_copy.ts).
 */
import { spawn, spawnSync } from 'node:child_process'
import {
  cpSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import ts from 'typescript'
import { bundle } from './bundle.mjs'

const BUNDLES = join('dist', 'bin')
/** Not hard-linked. */
const OWN = ['bin', 'dist', 'src', '.git']
const OUTPUT_CHARACTERS_MAX = 4_000_000
/** The program itself does not run, so the outcome proves nothing about a row. */
const BROKEN = /\b(?:SyntaxError|ReferenceError|ERR_MODULE_NOT_FOUND)\b|the server did not start/

/** The test was skipped because a tool is missing, not because its name does not match the pattern. */
const SKIPPED_ITSELF = /^\s*ok .* # SKIP(?! test name does not match pattern)/m

const COMPILER = { target: 'ES2023', module: 'ESNext', verbatimModuleSyntax: true, isolatedModules: true }

export class PrivateCopy {
  constructor(root) {
    this.root = root
    this.running = undefined
    this.folder = mkdtempSync(join(tmpdir(), 'mds-mutants-'))
    mkdirSync(join(this.folder, 'tmp'))
    for (const name of readdirSync(root)) {
      if (!OWN.includes(name)) symlinkSync(join(root, name), join(this.folder, name))
    }
    // Node resolves symbolic links and would load the imports from the link's target, so bin is copied.
    cpSync(join(root, 'bin'), join(this.folder, 'bin'), { recursive: true })
    linkTree(join(root, 'dist'), join(this.folder, 'dist'))
    linkTree(join(root, 'src'), join(this.folder, 'src'))
  }

  /** @throws Error if a mutated source is not valid TypeScript */
  async mutate(sources) {
    for (const [file, text] of sources) {
      if (!isCompiled(file)) {
        this.#replace(file, (path) => writeFileSync(path, text))
        continue
      }
      const { outputText, diagnostics } = ts.transpileModule(text, { compilerOptions: COMPILER, reportDiagnostics: true })
      if (diagnostics.length > 0) throw new Error(`${file}: ${ts.flattenDiagnosticMessageText(diagnostics[0].messageText, ' ')}`)
      this.#replace(compiledName(file), (path) => writeFileSync(path, outputText))
      if (isOfProgram(file)) this.#replace(file, (path) => writeFileSync(path, text))
    }
    if ([...sources.keys()].some(isBundled)) await bundle(this.root, this.folder, sources)
  }

  restore(sources) {
    for (const source of sources.keys())
      for (const file of filesOf(source)) this.#replace(file, (path) => linkSync(join(this.root, file), path))
    if (![...sources.keys()].some(isBundled)) return
    rmSync(join(this.folder, BUNDLES), { recursive: true })
    linkTree(join(this.root, BUNDLES), join(this.folder, BUNDLES))
  }

  #replace(file, write) {
    const path = join(this.folder, file)
    unlinkSync(path)
    write(path)
  }

  /**
   * @param file the compiled test file, relative to the root
   * @param isWhole the tests of the file depend on each other: all of them run, and the outcome of the named
   *   one counts
   * @returns {outcome: 'passed' | 'failed' | 'hung' | 'broken' | 'skipped' | 'absent', ms, output}
   */
  async run(file, name, msMax, isWhole = false) {
    const begun = performance.now()
    const named = isWhole ? [] : ['--test-name-pattern', namePattern(name)]
    const args = ['--test', '--test-reporter=tap', ...named, join(this.folder, file)]
    const env = { ...process.env, TMPDIR: join(this.folder, 'tmp') }
    delete env.NODE_TEST_CONTEXT
    const child = spawn(process.execPath, args, { cwd: this.folder, env, detached: true, stdio: ['ignore', 'pipe', 'pipe'] })
    this.running = child.pid
    let output = ''
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8')
      stream.on('data', (chunk) => {
        if (output.length < OUTPUT_CHARACTERS_MAX) output += chunk
      })
    }
    let isHung = false
    const timer = setTimeout(() => {
      isHung = true
      killGroup(child.pid)
    }, msMax)
    await new Promise((resolve) => child.on('exit', resolve))
    clearTimeout(timer)
    killGroup(child.pid)
    this.running = undefined
    for (const left of readdirSync(join(this.folder, 'tmp'))) removeLeft(join(this.folder, 'tmp', left))
    return { outcome: isHung ? 'hung' : isWhole ? outcomeOfNamed(output, name) : outcomeOf(output), ms: performance.now() - begun, output }
  }

  /** Also ends the processes that run in it. */
  remove() {
    if (this.running !== undefined) killGroup(this.running)
    rmSync(this.folder, { recursive: true, force: true })
  }
}

/** A test that was killed may have left a small file system mounted. */
function removeLeft(path) {
  try {
    rmSync(path, { recursive: true, force: true })
  } catch {
    spawnSync('umount', ['-l', path], { stdio: 'ignore' })
    rmSync(path, { recursive: true, force: true })
  }
}

function outcomeOf(output) {
  const count = (what) => Number(new RegExp(`^# ${what} (\\d+)$`, 'm').exec(output)?.[1] ?? 0)
  if (count('fail') + count('cancelled') > 0) return BROKEN.test(output) ? 'broken' : 'failed'
  if (count('pass') > 0) return 'passed'
  return SKIPPED_ITSELF.test(output) ? 'skipped' : 'absent'
}

/** The outcome of the named test when others ran as well. */
function outcomeOfNamed(output, name) {
  const line = new RegExp(`^ *(not )?ok \\d+ -.*${namePattern(name).replace(/\$$/, '')}( # SKIP.*)?$`, 'm').exec(output)
  if (line === null) return 'absent'
  const [, isNot, isSkipped] = line
  if (isSkipped !== undefined) return 'skipped'
  // Later output is ignored: later tests may fail because of this failure.
  return isNot === undefined ? 'passed' : BROKEN.test(output.slice(0, line.index)) ? 'broken' : 'failed'
}

/** A pattern for a name. The variable parts of a template name (`mode ${mode}: ...`) match any text. */
function namePattern(name) {
  const parts = name.split(/\$\{[^}]*\}/).map((part) => part.replaceAll(/[\\^$.*+?()[\]{}|/]/g, '\\$&'))
  return `(?:^|\\s)${parts.join('.*')}$`
}

const isOfProgram = (file) => file.startsWith('src/')
/** Others, such as the proto of gRPC, are read when the program runs. */
const isCompiled = (file) => file.endsWith('.ts')
const isBundled = (file) => isOfProgram(file) && isCompiled(file)
const filesOf = (source) => (!isCompiled(source) ? [source] : isOfProgram(source) ? [source, compiledName(source)] : [compiledName(source)])
const compiledName = (file) => join('dist', file.replace(/\.ts$/, '.js'))

function linkTree(from, to) {
  cpSync(from, to, {
    recursive: true,
    filter: (path) => {
      if (relative(from, path) === '.tsbuildinfo') return false
      if (!/\.(?:js|map|ts)$/.test(path)) return true
      linkSync(path, join(to, relative(from, path)))
      return false
    },
  })
}

function killGroup(pid) {
  try {
    process.kill(-pid, 'SIGKILL')
  } catch (error) {
    if (error.code !== 'ESRCH') throw error
  }
}

/** The compiled files that contain tests of these names: name -> files. */
export function testFiles(root) {
  const names = new Map()
  const folder = join(root, 'test')
  for (const entry of readdirSync(folder, { withFileTypes: true, recursive: true })) {
    if (!entry.isFile() || !entry.name.endsWith('.test.ts')) continue
    const path = join(entry.parentPath ?? entry.path, entry.name)
    for (const [, , raw] of readFileSync(path, 'utf8').matchAll(/(?<![\w.])(?:it|test)\(\s*(['"`])((?:\\.|(?!\1)[\s\S])*)\1\s*,/g)) {
      const name = raw.replaceAll(/\\(['"`\\])/g, '$1')
      names.set(name, [...(names.get(name) ?? []), relative(folder, path)])
    }
  }
  return names
}
