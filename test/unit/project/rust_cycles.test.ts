/**
 * The order of the Rust sources: which module may use which. The compiler accepts modules that use each
 * other. A module and those below it are one unit: what a file of a folder takes from its `mod.rs` is no
 * cycle.
 */
import assert from 'node:assert/strict'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { projectFolder } from '../../../src/base/installation.js'
import { circlesOf } from '../../harness/cycles.js'

/** The sources of a crate: path below `src` -> text. */
type Crate = ReadonlyMap<string, string>

/** `highlight/text` for `crate::highlight::text`; the root of the crate is `''`. */
const moduleOf = (file: string): string => file.replace(/\.rs$/, '').replace(/(?:^|\/)(?:mod|lib|main)$/, '')

const isWithin = (inner: string, outer: string): boolean => outer === '' || inner === outer || inner.startsWith(`${outer}/`)

/** Without comments, and without the tests, which may use any module of the crate. */
const codeOf = (text: string): string => (text.split('#[cfg(test)]\nmod ')[0] ?? '').replace(/\/\/.*$/gm, '')

/** `a::{b, c::{d, e}}` names `a::b`, `a::c::d` and `a::c::e`. */
function namesIn(tree: string): string[] {
  const group = /^([^{]*)\{(.*)\}$/s.exec(tree.trim())
  if (group === null) return [tree.trim()]
  const [, head = '', members = ''] = group
  let depth = 0
  const parts = ['']
  for (const letter of members) {
    depth += letter === '{' ? 1 : letter === '}' ? -1 : 0
    if (letter === ',' && depth === 0) parts.push('')
    else parts.push((parts.pop() ?? '') + letter)
  }
  return parts.flatMap(namesIn).map((name) => head.trim() + name)
}

/** The paths in a file that begin at the crate, at its own module or at the one above. */
function pathsIn(code: string): string[] {
  const groups = [...code.matchAll(/\b((?:crate|self|super)(?:::\w+)*::\{[^;]*\})/g)].flatMap(([, tree = '']) => namesIn(tree))
  const plain = [...code.matchAll(/\b(?:crate|self|super)(?:::\w+)+/g)].map(([path]) => path)
  return [...groups, ...plain]
}

/** The module that holds what a path names. */
function targetOf(path: string, from: string, modules: ReadonlySet<string>): string {
  const names = path.split('::')
  let at = names[0] === 'crate' ? '' : from
  if (names[0] !== 'super') names.shift()
  for (const name of names) {
    if (name === 'super') at = at.replace(/(?:^|\/)\w+$/, '')
    else if (modules.has(at === '' ? name : `${at}/${name}`)) at = at === '' ? name : `${at}/${name}`
    else break
  }
  return at
}

function edgesOf(crate: Crate): Map<string, string[]> {
  const modules = new Set([...crate.keys()].map(moduleOf))
  // A module with modules below it lies in their folder, whether its file is `a.rs` or `a/mod.rs`.
  const unitOf = (module: string): string => ([...modules].some((other) => other.startsWith(`${module}/`)) ? `${module}/mod` : module)
  const edges = new Map<string, string[]>()
  for (const [file, text] of crate) {
    const from = moduleOf(file)
    const targets = pathsIn(codeOf(text)).map((path) => targetOf(path, from, modules))
    const others = targets.filter((target) => !isWithin(target, from) && !isWithin(from, target))
    edges.set(unitOf(from), [...new Set(others.map(unitOf))])
  }
  return edges
}

const circles = (crate: Readonly<Record<string, string>>): string[] => circlesOf(edgesOf(new Map(Object.entries(crate))))

describe('circles of Rust modules', () => {
  it('are found among the modules of a folder, whatever the form of the path', () => {
    const found = ['high/: high/json, high/text']
    const parts = { 'lib.rs': 'mod high;', 'high/mod.rs': 'mod json;\nmod text;', 'high/text.rs': 'use super::json::resolve;\n' }
    for (const use of [
      'use super::text::Jump;',
      'use super::{\n  query::Query,\n  text::{Jump, Text},\n};',
      'use crate::{high::{text}, record::Found};',
      'fn skip() -> crate::high::text::Jump {}',
      'use self::super::text;',
    ])
      assert.deepEqual(circles({ ...parts, 'high/json.rs': use }), found, use)
  })

  it('are found among folders, and a module beside its folder belongs to it', () => {
    const crate = { 'scanner.rs': 'mod skim;', 'scanner/skim.rs': 'use crate::words::end;', 'words.rs': 'use crate::scanner::Scanner;' }
    assert.deepEqual(circles(crate), ['.: scanner/, words'])
  })

  it('are none between a module and those below it, in tests and in comments', () => {
    assert.deepEqual(circles({ 'lib.rs': 'use crate::a::X;', 'a.rs': 'use crate::Y;\nuse super::Z;' }), [])
    assert.deepEqual(circles({ 'a/mod.rs': 'use self::b::X;', 'a/b.rs': 'use super::{Y, Z};' }), [])
    assert.deepEqual(
      circles({ 'a.rs': 'use crate::b::X;', 'b.rs': '// use crate::a::X;\n#[cfg(test)]\nmod tests {\nuse crate::a::X;\n}' }),
      [],
    )
  })
})

describe('Rust modules', () => {
  const wasm = join(projectFolder(), 'wasm')
  const crates = readdirSync(wasm).filter((name) => existsSync(join(wasm, name, 'src')))

  it('no folder or file of a crate uses another in a circle', () => {
    assert.ok(crates.includes('analyzer') && crates.includes('chunker'))
    const found = crates.flatMap((name) => {
      const source = join(wasm, name, 'src')
      const files = readdirSync(source, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.rs'))
      const edges = edgesOf(new Map(files.map((file) => [file, readFileSync(join(source, file), 'utf8')])))
      if (files.length > 3) assert.ok([...edges.values()].flat().length > 0, `no use is found in ${name}`)
      return circlesOf(edges).map((circle) => `${name}: ${circle}`)
    })
    assert.deepEqual(found, [])
  })
})
