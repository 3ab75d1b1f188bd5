/**
 * V8's code cache for the largest programs. Node 20 has none for modules, so a program gets a second form: a
 * script that V8 takes from its cache instead of parsing a megabyte. A cache of another version of V8, or of
 * a process with other flags, is refused by V8, which then compiles the script.
 */
import { createHash } from 'node:crypto'
import { readFileSync, renameSync, writeFileSync } from 'node:fs'
import { basename } from 'node:path'
import { Script } from 'node:vm'
import { transform } from 'esbuild'

/** What stands for these in the script. */
const OF_MODULE = { 'import.meta.url': '__meta.url', 'import.meta.resolve': '__meta.resolve' }

/**
 * Replaces a module that esbuild has written by one that runs the script and has the same exports.
 * @param path of the module, which may have no `await` outside of functions
 * @param output its description in esbuild's metafile
 * @returns the further files
 */
export async function cacheCode(path, { exports, imports }) {
  const { code } = await transform(readFileSync(path, 'utf8'), { format: 'cjs', platform: 'node', target: 'node20.15', define: OF_MODULE })
  const named = (kind) => [...new Set(imports.filter((one) => one.kind === kind).map((one) => nameOf(path, one)))]
  // In brackets, the function is compiled with the script, so the cache has it.
  const text = `(function (require, module, exports, __meta, __import) {${throughCallback(code, named('dynamic-import'))}\n})`
  // Both files have the hash in their names: the cache of another text of the same length would be accepted.
  const name = `${path.replace(/\.js$/, '')}-${createHash('sha256').update(text).digest('hex').slice(0, 8)}`
  writeFileSync(`${name}.code`, text)
  renewCode(`${name}.code`)
  const kept = path.replace(/\.js$/, '.module.js')
  renameSync(path, kept)
  writeFileSync(path, moduleOf(basename(name), basename(kept), named('import-statement').filter(isPart), exports))
  return [`${name}.code`, `${name}.cache`, kept]
}

/** Writes the cache of a script, as this Node takes it. */
export function renewCode(path) {
  const script = new Script(readFileSync(path, 'utf8'), { filename: path })
  writeFileSync(path.replace(/\.code$/, '.cache'), script.createCachedData())
}

const isPart = (name) => name.startsWith('./')

/** As the module names it: packages by their names. */
function nameOf(path, imported) {
  if (imported.external === true) return imported.path
  return `./${path.includes('/parts/') ? '' : 'parts/'}${basename(imported.path)}`
}

/** A script from a cache can't import by itself. */
function throughCallback(code, names) {
  return names.reduce((text, name) => {
    if (!text.includes(`import("${name}")`)) throw new Error(`the bundle has no import("${name}")`)
    return text.replaceAll(`import("${name}")`, `__import("${name}")`)
  }, code)
}

/** Stack traces of a script have no lines of the sources, so whoever wants these gets the module. */
function moduleOf(name, kept, parts, exports) {
  return `import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'
import { Script } from 'node:vm'
${parts.map((part, at) => `import * as part${at} from '${part}'`).join('\n')}

// A copy without the cache is compiled.
function cached() {
  try {
    return readFileSync(fileURLToPath(new URL('./${name}.cache', import.meta.url)))
  } catch {
    return undefined
  }
}

function run() {
  const filename = fileURLToPath(new URL('./${name}.code', import.meta.url))
  const script = new Script(readFileSync(filename, 'utf8'), { filename, cachedData: cached() })
  const parts = { ${parts.map((part, at) => `'${part}': part${at}`).join(', ')} }
  const load = createRequire(import.meta.url)
  const module = { exports: {} }
  script.runInThisContext()((id) => parts[id] ?? load(id), module, module.exports, import.meta, (id) => import(id))
  return module.exports
}

export const { ${exports.join(', ')} } = process.sourceMapsEnabled ? await import('./${kept}') : run()
`
}
