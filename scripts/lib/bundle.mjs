/**
 * Bundles the programs. Each thread of a server then loads one file instead of 400, and the start takes half
 * the time. Types are not checked here; tsc does that.
 */
import { copyFileSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { basename, dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { cacheCode, renewCode } from './code_cache.mjs'
import { hashOf } from './fingerprint.mjs'

/** Entry points of processes and threads, below `src`. Those of surfaces are found by their list. */
const PROGRAMS = [
  'main',
  'cli/main',
  'programs/lane',
  'programs/http_loop',
  'programs/grpc_thread',
  'programs/graphql_thread',
  'programs/mcp_thread',
  'surface/http/gate/gate_thread',
  'programs/password_hashing',
  'programs/webhook_thread',
  'audit/thread',
  'worker/lane/local_model',
  'programs/restore_preparation',
  'programs/doctor_check',
  'programs/converter',
  'programs/conversion_thread',
  'programs/bunzip2',
  'programs/dump_reader',
]

/**
 * Packages that become part of the programs that use them: JavaScript that is loaded with every start, of
 * which little is used. The others stay packages, because they are native or load parts of themselves by
 * name.
 */
const INLINED = ['diff', 'flatbuffers']

/** What every start loads: one in the main thread, one in each lane. */
const CACHED = ['src/server.ts', 'src/programs/lane.ts']

const BUNDLES = join('dist', 'bin')
const SURFACES = 'src/surface/index.ts'

/** The threads of surfaces: `thread.ts` beside a definition that the list of surfaces imports. */
function threadsOfSurfaces(root, changed) {
  const list = changed.get(SURFACES) ?? readFileSync(join(root, SURFACES), 'utf8')
  return [...list.matchAll(/ from '(\.[^']*)'/g)]
    .map(([, definition]) => join(dirname(SURFACES), dirname(definition), 'thread.ts'))
    .filter((path) => existsSync(join(root, path)))
    .map((path) => ({ in: path, out: `surface/${basename(dirname(path))}/thread` }))
}

/** Does nothing if the bundles were built from the present sources. */
export async function bundleWhereChanged(root) {
  const hash = hashOfSources(root)
  const built = builtIn(root)
  if (built.hash !== hash) writeStamp(root, hash, await bundle(root))
  else if (built.node !== process.version) renewCaches(root, built)
}

/** Another Node refuses the code caches of the one that made them. An installation may be read-only. */
function renewCaches(root, { hash, programs }) {
  const scripts = Object.values(programs).flatMap(({ files }) => files.filter((file) => file.endsWith('.code')))
  try {
    for (const script of scripts) renewCode(join(root, BUNDLES, script))
    writeStamp(root, hash, programs)
  } catch (error) {
    if (error.code !== 'EROFS' && error.code !== 'EACCES') throw error
  }
}

function writeStamp(root, hash, programs) {
  writeFileSync(stampOf(root), JSON.stringify({ hash, node: process.version, programs }))
}

const stampOf = (root) => join(root, BUNDLES, '.sources')

function hashOfSources(root) {
  const sources = ['src', 'tsconfig.json', 'package-lock.json', 'scripts/lib/bundle.mjs', 'scripts/lib/code_cache.mjs']
  return hashOf(root, sources)
}

/**
 * What `bundleWhereChanged` has written last: the hash of its sources, the Node, and by program its sources
 * and files.
 */
function builtIn(root) {
  try {
    return JSON.parse(readFileSync(stampOf(root), 'utf8'))
  } catch {
    return { hash: '', programs: {} }
  }
}

/**
 * Writes `dist/bin` below `folder` from `src` below `root`. Programs without a changed source are copied.
 * @param changed sources that replace those on disk or are not there: path below the root -> text
 * @returns by program its sources and files
 */
export async function bundle(root, folder = root, changed = new Map()) {
  const outdir = join(folder, BUNDLES)
  const unchanged = changed.size === 0 ? {} : unchangedPrograms(root, changed)
  // Parts have a content hash in their name, so a new build does not overwrite the old ones.
  rmSync(outdir, { recursive: true, force: true })
  const common = {
    absWorkingDir: root,
    outdir,
    bundle: true,
    // What a program loads later, by `import()`, is a file of its own. Programs share none.
    splitting: true,
    chunkNames: 'parts/[name]-[hash]',
    format: 'esm',
    platform: 'node',
    target: 'node20.15',
    packages: 'external',
    sourcemap: true,
    metafile: true,
    // A copy of the installation may link to the tests of another one, and has sources of its own.
    preserveSymlinks: true,
    logLevel: 'warning',
    plugins: [inlined(), ...(changed.size === 0 ? [] : [withChanges(root, changed)])],
  }
  const entries = [
    ...PROGRAMS.map((name) => ({ in: `src/${name}.ts`, out: name.replace('programs/', '') })),
    ...threadsOfSurfaces(root, changed),
  ]
  const programs = entries.map(async (entry) => {
    if (unchanged[entry.out] !== undefined) return [entry.out, copied(unchanged[entry.out], join(root, BUNDLES), outdir)]
    const { metafile } = await build({ ...common, entryPoints: [entry] })
    const files = Object.keys(metafile.outputs).map((path) => relative(outdir, join(root, path)))
    // A copy with changed sources is started too rarely for a cache.
    const added = changed.size === 0 ? await cacheCodeOf(root, metafile.outputs) : []
    return [entry.out, { sources: Object.keys(metafile.inputs), files: [...files, ...added.map((path) => relative(outdir, path))] }]
  })
  return Object.fromEntries(await Promise.all(programs))
}

/** Those that can be copied; none if the bundles are not those of the present sources. */
function unchangedPrograms(root, changed) {
  const { hash, programs } = builtIn(root)
  if (hash !== hashOfSources(root)) return {}
  return Object.fromEntries(Object.entries(programs).filter(([, { sources }]) => !sources.some((source) => changed.has(source))))
}

function copied(program, from, to) {
  for (const file of program.files) {
    mkdirSync(dirname(join(to, file)), { recursive: true })
    copyFileSync(join(from, file), join(to, file))
  }
  return program
}

async function cacheCodeOf(root, outputs) {
  const cached = Object.entries(outputs).filter(([, { entryPoint }]) => CACHED.includes(entryPoint))
  return (await Promise.all(cached.map(([path, output]) => cacheCode(join(root, path), output)))).flat()
}

/** Packages are external but for these. */
function inlined() {
  return {
    name: 'inlined-packages',
    setup: ({ onResolve }) => {
      onResolve({ filter: new RegExp(`^(?:${INLINED.join('|')})$`) }, ({ path }) => ({ path: fileURLToPath(import.meta.resolve(path)) }))
    },
  }
}

/** A plugin that reads these sources in place of those on disk. */
export function withChanges(root, changed) {
  return {
    name: 'changed-sources',
    setup: ({ onLoad, onResolve }) => {
      // Found here, because a source that is not on disk would not be found.
      onResolve({ filter: /^\./ }, ({ path, resolveDir }) => {
        const source = join(resolveDir, path).replace(/\.js$/, '.ts')
        return changed.has(relative(root, source)) ? { path: source } : undefined
      })
      onLoad({ filter: /\.ts$/ }, ({ path }) => {
        const contents = changed.get(relative(root, path))
        return contents === undefined ? undefined : { contents, loader: 'ts' }
      })
    },
  }
}
