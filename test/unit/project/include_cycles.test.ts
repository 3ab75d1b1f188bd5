/**
 * The order of the native sources: which file may include which. Reads the sources; folders may form a cycle
 * although the code compiles.
 */
import assert from 'node:assert/strict'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join, posix } from 'node:path'
import { describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'
import { circlesOf } from '../../harness/cycles.js'

/** The checkout: the nearest folder above the compiled test that has a package.json. */
function findRoot(folder: string): string {
  return existsSync(join(folder, 'package.json')) ? folder : findRoot(dirname(folder))
}
const root = findRoot(dirname(fileURLToPath(import.meta.url)))

/**
 * The search folders of quoted includes besides the file's own folder: the include folders of CMakeLists.txt.
 */
const INCLUDE_FOLDERS = ['native/engine', 'native', 'native/test']

function sourcesUnder(folder: string): string[] {
  return readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = `${folder}/${entry.name}`
    if (entry.isDirectory()) return sourcesUnder(path)
    return /\.(?:h|cc)$/.test(path) ? [path] : []
  })
}

const sources = sourcesUnder('native')
const known = new Set(sources)

/** A header and its source are one unit. */
const unitOf = (path: string): string => path.replace(/\.(?:h|cc)$/, '')

interface Include {
  readonly from: string
  readonly name: string
  readonly target: string | undefined
}

function includesOf(path: string): Include[] {
  const names = readFileSync(join(root, path), 'utf8').matchAll(/^\s*#\s*include\s+"([^"]+)"/gm)
  return [...names].map(([, name = '']) => {
    const candidates = [posix.dirname(path), ...INCLUDE_FOLDERS].map((folder) => posix.join(folder, name))
    return { from: path, name, target: candidates.find((candidate) => known.has(candidate)) }
  })
}

function edgesOf(includes: readonly Include[]): Map<string, string[]> {
  const edges = new Map<string, string[]>()
  for (const { from, target } of includes) {
    if (target === undefined || unitOf(target) === unitOf(from)) continue
    edges.set(unitOf(from), [...(edges.get(unitOf(from)) ?? []), unitOf(target)])
  }
  return edges
}

describe('circles of imports', () => {
  const circles = (edges: Record<string, string[]>): string[] => circlesOf(new Map(Object.entries(edges)))

  it('are found among the files of a folder, and a file that imports itself is one', () => {
    assert.deepEqual(circles({ 'a/x': ['a/y'], 'a/y': ['a/z'], 'a/z': ['a/x'], 'a/w': ['a/x'] }), ['a/: a/x, a/y, a/z'])
    assert.deepEqual(circles({ 'a/x': ['a/x'] }), ['a/: a/x'])
    assert.deepEqual(circles({ x: ['y'], y: ['x'], u: ['v'], v: ['u'] }), ['.: u, v', '.: x, y'])
  })

  it('are found among folders, and among a folder and a file, though no file is in one', () => {
    assert.deepEqual(circles({ 'a/x': ['b/y'], 'b/z': ['a/w'] }), ['.: a/, b/'])
    assert.deepEqual(circles({ 'a/b/x': ['a/c/y'], 'a/c/z': ['a/d/v'], 'a/d/w': ['a/b/u'] }), ['a/: a/b/, a/c/, a/d/'])
    assert.deepEqual(circles({ 'a/search': ['a/plan/x'], 'a/plan/y': ['a/search'] }), ['a/: a/plan/, a/search'])
  })

  it('are not found where imports go one way', () => {
    assert.deepEqual(circles({ 'a/x': ['a/y', 'b/z'], 'a/y': ['b/z', 'b/w'], 'b/z': ['b/w'], 'a/search': ['a/search/x'] }), [])
    assert.deepEqual(circles({}), [])
  })
})

describe('native includes', () => {
  const includes = sources.flatMap(includesOf)

  it('are of files that exist', () => {
    assert.ok(includes.length > 500)
    assert.deepEqual(
      includes.filter(({ target, name }) => target === undefined && name !== 'lmdb.h').map(({ from, name }) => `${from} includes ${name}`),
      [],
    )
  })

  it('no folder or file of native includes in a circle', () => {
    assert.deepEqual(circlesOf(edgesOf(includes)), [])
  })
})
