/**
 * House rules that a compiler cannot check: permitted imports, names restricted to certain files, file
 * lengths. Reads the sources, not the compiled files.
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

function sourcesUnder(folder: string, extension = '.ts'): string[] {
  if (!existsSync(join(root, folder))) return []
  return readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = `${folder}/${entry.name}`
    if (entry.isDirectory()) return ['node_modules', 'dist', 'target', 'pkg'].includes(entry.name) ? [] : sourcesUnder(path, extension)
    return path.endsWith(extension) ? [path] : []
  })
}

/** More files beside each other have subjects, and each subject is a folder. */
const FOLDER_FILES_MAX = 25

interface Folder {
  readonly folder: string
  readonly files: number
}

function filesOfFolders(folder: string): Folder[] {
  const entries = readdirSync(join(root, folder), { withFileTypes: true })
  const inner = entries.filter((entry) => entry.isDirectory() && !['node_modules', 'dist', 'target', 'pkg'].includes(entry.name))
  return [
    { folder, files: entries.filter((entry) => entry.isFile()).length },
    ...inner.flatMap((entry) => filesOfFolders(`${folder}/${entry.name}`)),
  ]
}

const read = (path: string): string => readFileSync(join(root, path), 'utf8')
const isGenerated = (path: string): boolean => /\bgenerated\b/i.test(read(path).split('\n', 1)[0] ?? '')

interface Import {
  readonly from: string
  readonly target: string
  readonly typeOnly: boolean
}

/** @param text of the file at `path` */
function importsIn(path: string, text: string): Import[] {
  const statements = text.matchAll(
    /^\s*(?:import|export)\s+(type\s)?[^'"]*?from\s+['"]([^'"]+)['"]|import\(\s*['"]([^'"]+)['"]\s*\)|^import\s+['"]([^'"]+)['"]/gm,
  )
  return [...statements].map((match) => {
    const specifier = match[2] ?? match[3] ?? match[4] ?? ''
    const target = specifier.startsWith('.') ? posix.join(posix.dirname(path), specifier) : specifier
    return { from: path, target, typeOnly: match[1] !== undefined }
  })
}
const importsOf = (path: string): Import[] => importsIn(path, read(path))

/** The source of what is imported: scripts import what tsc compiles into `dist`. */
const sourceOf = (target: string): string => target.replace(/^dist\//, '').replace(/\.js$/, '.ts')

/**
 * Folders from the socket to the disk: a folder imports only from itself and from later ones. `store` and
 * `engine` do not import each other.
 */
const LAYERS: readonly (readonly string[])[] = [
  ['surface'],
  ['system'],
  ['background'],
  ['dispatch'],
  ['worker', 'resident'],
  ['consumers', 'replication'],
  ['domain'],
  ['store', 'engine'],
]
/** The last layer of the main thread. */
const MAIN_THREAD = LAYERS.findIndex((folders) => folders.includes('dispatch'))

/** The halves of surfaces that run on lanes: src/programs/lane.ts passes them to the lane. */
const LANE_HALF = /^src\/surface\/\w+\/lane\//

/**
 * Pure data, measures, authorisation, conversion to markdown and the client for outgoing requests, imported
 * by every layer. They import only types from layers.
 */
const SHARED: readonly string[] = ['operations', 'access', 'passwords', 'telemetry', 'conversion', 'outbound', 'wire', 'limits', 'base']

const folderOf = (path: string): string => /^src\/([^/]+)\//.exec(path)?.[1] ?? ''
const layerOf = (folder: string): number => LAYERS.findIndex((folders) => folders.includes(folder))

function breaksDirection({ from, target, typeOnly }: Import): boolean {
  const [source, destination] = [folderOf(from), folderOf(target)]
  if (source === destination || layerOf(destination) < 0 || typeOnly) return false
  if (LANE_HALF.test(from)) return destination !== 'worker'
  if (SHARED.includes(source)) return true
  if (layerOf(source) < 0) return false
  // The thread boundary: code on the main thread loads neither engine nor store, and reaches the lanes by
  // messages.
  if (layerOf(source) <= MAIN_THREAD && layerOf(destination) > MAIN_THREAD) return true
  return layerOf(destination) <= layerOf(source)
}

const sources = sourcesUnder('src')
const imports = sources.flatMap(importsOf)

/** All that is written in TypeScript or JavaScript. */
const programs = ['src', 'clients', 'test', 'bench', 'loadtest', 'scripts', 'bin'].flatMap((folder) =>
  ['.ts', '.mjs'].flatMap((extension) => sourcesUnder(folder, extension)),
)

describe('house rules', () => {
  it('imports go one way: surface, dispatch, worker, domain, then store and engine', () => {
    assert.ok(imports.length > 20)
    assert.deepEqual(
      imports.filter(breaksDirection).map(({ from, target }) => `${from} imports ${target}`),
      [],
    )
  })

  it('every form of import is one, and says whether it is of types only', () => {
    const targetOf = (text: string): [string, boolean][] => importsIn('src/a/x.ts', text).map(({ target, typeOnly }) => [target, typeOnly])
    assert.deepEqual(targetOf("import type { A } from './b.js'\n"), [['src/a/b.js', true]])
    assert.deepEqual(targetOf("export type { A } from '../b.js'\n"), [['src/b.js', true]])
    assert.deepEqual(targetOf("type T = import('./b.js').T\n"), [['src/a/b.js', false]])
    assert.deepEqual(targetOf("import {\n  a,\n  type B,\n} from './b.js'\n"), [['src/a/b.js', false]])
    assert.deepEqual(targetOf("import a, * as b from 'b'\nimport './c.js'\nexport * from './d.js'\nawait import('./e.js')\n"), [
      ['b', false],
      ['src/a/c.js', false],
      ['src/a/d.js', false],
      ['src/a/e.js', false],
    ])
    assert.deepEqual(targetOf('const from = \'b\'\nconst text = "import"\n'), [])
  })

  it('no folder or file imports in a circle, type imports included', () => {
    const known = new Set(programs)
    const targetsOf = (path: string): string[] => importsOf(path).map(({ target }) => sourceOf(target))
    // Texts in tests may contain imports of files that do not exist.
    const edges = new Map(programs.map((path) => [path, targetsOf(path).filter((target) => known.has(target))]))
    for (const folder of ['test/', 'bench/', 'loadtest/', 'scripts/'])
      assert.ok(
        [...edges].some(([path, targets]) => path.startsWith(folder) && targets.length > 0),
        `no import is found in ${folder}`,
      )
    assert.deepEqual(circlesOf(edges), [])
  })

  it('every folder of src is in the order of layers, or named as shared, or outside it', () => {
    const outside = ['audit', 'cli', 'config', 'programs']
    const folders = readdirSync(join(root, 'src'), { withFileTypes: true }).filter((entry) => entry.isDirectory())
    assert.deepEqual(
      folders.map((entry) => entry.name).filter((name) => layerOf(name) < 0 && !SHARED.includes(name) && !outside.includes(name)),
      [],
    )
  })

  it('nothing that serves requests imports the command line', () => {
    assert.deepEqual(
      imports.filter(({ from, target }) => folderOf(target) === 'cli' && folderOf(from) !== 'cli').map(({ from }) => from),
      [],
    )
  })

  it('the domain knows no thread, message or configuration: it imports store, engine and pure data alone', () => {
    const allowed = ['domain', 'store', 'engine', 'operations', 'access', 'passwords', 'conversion', 'outbound', 'limits']
    const own = imports.filter(({ from, target }) => folderOf(from) === 'domain' && target.startsWith('src/'))
    assert.deepEqual(
      own.filter(({ target }) => !allowed.includes(folderOf(target)) && !/^src\/(?:errors|base\/bounded_cache)\.js$/.test(target)),
      [],
    )
  })

  it('only src/store imports lmdb', () => {
    assert.deepEqual(
      imports.filter(({ from, target }) => /^lmdb(\/|$)/.test(target) && folderOf(from) !== 'store').map(({ from }) => from),
      [],
    )
  })

  it('only src/outbound sends requests: nothing else imports a client, or calls fetch', () => {
    const clients = /^(?:undici|aws4fetch|(?:node:)?(?:https?|http2|tls|net|dgram))(?:\/|$)/
    // The gate listens, and connects to the event loops of its process. Reading a pair makes a context of it.
    // MCP listens on node's server, and standard input and output are sockets where they are pipes.
    const listening = [
      'src/surface/grpc/connections.ts',
      'src/surface/grpc/open_sessions.ts',
      'src/surface/grpc/guards.ts',
      'src/surface/http/gate/gate_thread.ts',
      'src/surface/tls/tls_texts.ts',
      'src/surface/mcp/http/http_server.ts',
      'src/surface/mcp/stdio.ts',
    ]
    const serving = imports.filter(
      ({ from, typeOnly }) => !['cli', 'outbound'].includes(folderOf(from)) && !listening.includes(from) && !typeOnly,
    )
    assert.deepEqual(
      serving.filter(({ target }) => clients.test(target)).map(({ from }) => from),
      [],
    )
    // The script of the reference page sends requests from the reader's browser.
    const calling = sources.filter(
      (path) => !['cli', 'outbound'].includes(folderOf(path)) && path !== 'src/surface/http/pages/docs_assets.ts',
    )
    assert.deepEqual(
      calling.filter((path) => /\bfetch\(/.test(withoutComments(read(path)))),
      [],
    )
  })

  it('no lane loads the client for requests: the front end fetches objects for the lanes', () => {
    const client =
      /^src\/outbound\/(?:safe_fetch|object_stores|s3_client)\b|^src\/outbound\/embedding\/(?:providers|remote_provider|ollama)\b/
    assert.deepEqual(
      imports
        .filter(({ from, target, typeOnly }) => folderOf(from) === 'worker' && !typeOnly && client.test(target))
        .map(({ from }) => from),
      [],
    )
  })

  it('no wait is bounded by AbortSignal.timeout or AbortSignal.any, which a garbage collection may disarm: TimeLimit', () => {
    assert.deepEqual(
      sources.filter((path) => /\bAbortSignal\.(?:any|timeout)\b/.test(withoutComments(read(path)))),
      [],
    )
  })

  it('only the command line, the greeting and a refused configuration write to the console; everything else goes through the log', () => {
    // What bunzip2.ts decompresses is its output.
    const writing = sources.filter((path) => /\bconsole\.|process\.std(?:out|err)\b/.test(withoutComments(read(path))))
    assert.deepEqual(
      writing.filter((path) => folderOf(path) !== 'cli' && !['src/greeting.ts', 'src/main.ts', 'src/programs/bunzip2.ts'].includes(path)),
      [],
    )
  })

  it("only exchange.ts and its three parts touch uWebSockets.js's response and request; front_end.ts names them to hand them over", () => {
    const allowed = ['exchange', 'request_head', 'body/request_body', 'answer/answer_writer', 'front_end'].map(
      (name) => `src/surface/http/${name}.ts`,
    )
    const touching = sources.filter((path) => /\bHttp(Response|Request)\b/.test(withoutComments(read(path))))
    assert.deepEqual(
      touching.filter((path) => !allowed.includes(path)),
      [],
    )
  })

  it('no file is over 450 lines, unless it is generated', () => {
    const native = ['native', 'wasm'].flatMap((folder) => ['.cc', '.h', '.rs'].flatMap((extension) => sourcesUnder(folder, extension)))
    const long = [...programs, ...native].filter((path) => !isGenerated(path) && read(path).split('\n').length > 451)
    assert.deepEqual(long, [])
  })

  it('no folder has more than 25 files beside its folders, but for golden data', () => {
    const counts = ['src', 'clients', 'test', 'native', 'wasm', 'bench', 'loadtest', 'scripts', 'docs', 'bin'].flatMap((folder) =>
      filesOfFolders(folder),
    )
    assert.ok(counts.length > 100)
    assert.deepEqual(
      counts.filter(({ folder, files }) => files > FOLDER_FILES_MAX && !folder.startsWith('test/golden/')),
      [],
    )
  })

  it('comments wrap at 110 columns, unless they are generated', () => {
    const extensions = ['.ts', '.mjs', '.cc', '.h', '.rs', '.java', '.py', '.go']
    const files = ['src', 'clients', 'native', 'wasm', 'test', 'bench', 'loadtest', 'scripts', 'bin'].flatMap((folder) =>
      extensions.flatMap((extension) => sourcesUnder(folder, extension)),
    )
    const long = files
      .filter((path) => !isGenerated(path) && !path.startsWith('src/wire/envelope/'))
      .flatMap((path) =>
        read(path)
          .split('\n')
          .flatMap((line, at) => (/^\s*(?:\/\/|\/\*|\*(?:\s|$))/.test(line) && [...line].length > 110 ? [`${path}:${at + 1}`] : [])),
      )
    assert.deepEqual(long, [])
  })

  it('every file of src begins by saying what it is, unless it is generated', () => {
    assert.deepEqual(
      sources.filter((path) => !isGenerated(path) && !read(path).startsWith('/**')),
      [],
    )
  })

  it('nothing is exported as default', () => {
    assert.deepEqual(
      sources.filter((path) => !isGenerated(path) && /^export\s+default\b|\bas\s+default\b/m.test(read(path))),
      [],
    )
  })

  it('no committed source names a path of the machine it was written on, or a registry', () => {
    const folders = ['src', 'clients', 'test', 'bench', 'loadtest', 'scripts', 'bin', 'native', 'wasm', 'docs']
    const extensions = ['.ts', '.mjs', '.cc', '.h', '.rs', '.md', '.txt', '.toml', '.json', '.fbs']
    const files = [
      ...folders.flatMap((folder) => extensions.flatMap((extension) => sourcesUnder(folder, extension))),
      'package.json',
      'package-lock.json',
    ]
    // Written so that this file itself does not contain the names.
    const forbidden = new RegExp(
      [
        '/wo' + 'rk/(main|shared)',
        '/ro' + 'ot/',
        '/ho' + 'me/[a-z]',
        'registry\\.np' + 'mjs',
        'index\\.crat' + 'es\\.io',
        'deb\\.deb' + 'ian',
      ].join('|'),
    )
    assert.deepEqual(
      files.filter((path) => forbidden.test(read(path))),
      [],
    )
  })
})

function withoutComments(text: string): string {
  return text.replace(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, '')
}
