/**
 * Prepares a checkout to run: installs the packages, then builds zstd-napi, the native engine, TypeScript and
 * the bundled programs in parallel. Runs as `prestart` and `pretest`; needs only Node. A step is skipped if
 * the hash of its inputs is unchanged since its last build, so that a second start costs a fraction of a
 * second. With `--start` the programs are bundled and tsc is skipped, because a user waits for the first
 * start; `npm test` and .ci/run check the types.
 */
import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync, readdirSync, rmSync } from 'node:fs'
import { delimiter, dirname, join } from 'node:path'
import { runStep, seconds } from './lib/child.mjs'
import { filesUnder, hashOf, openStamps } from './lib/fingerprint.mjs'
import { projectRoot } from './lib/root.mjs'
import { copyLock, provideUws, UWS_FOLDER } from './lib/uws.mjs'

const root = projectRoot
const forStart = process.argv.includes('--start')
const stamps = openStamps(join(root, 'build', 'setup.json'))
/** A shorter setup prints nothing. */
const REPORT_FROM_MS = 1000
/** The folder in `dist` that tsc does not write. */
const BUNDLES = 'bin'
const logFile = (step) => join(root, 'build', 'log', `${step}.log`)

function refuse(text) {
  console.error(`mds setup: ${text}`)
  process.exit(1)
}

function checkNodeVersion() {
  const [major, minor] = process.versions.node.split('.').map(Number)
  const supported = (major === 20 && minor >= 15) || major >= 22
  if (!supported) refuse(`Node ${process.versions.node} is not supported: Node 20.15 or a later 20.x, or Node 22 or later, is needed.`)
}

function isOnPath(program) {
  return (process.env.PATH ?? '').split(delimiter).some((folder) => folder !== '' && existsSync(join(folder, program)))
}

/** Called only when native code has to be built: a start that builds nothing needs no compiler. */
function checkBuildTools() {
  const missing = ['python3', 'make', 'g++', 'cmake'].filter((program) => !isOnPath(program))
  if (missing.length === 0) return
  const install = isOnPath('apt-get')
    ? 'apt-get install -y python3 make g++ cmake'
    : isOnPath('dnf')
      ? 'dnf install -y python3 make gcc-c++ cmake'
      : isOnPath('apk')
        ? 'apk add python3 make g++ cmake linux-headers'
        : isOnPath('brew')
          ? 'xcode-select --install && brew install python cmake'
          : 'the package manager of this system'
  refuse(`${missing.join(', ')} not found: the native engine is compiled on this machine. Install with: ${install}`)
}

/**
 * Packages are current if npm's record of the installed packages has the versions of package-lock.json. npm
 * writes the record last, so an interrupted install leaves none.
 */
function packagesAreCurrent(folder = root, lockFolder = folder) {
  const recordPath = join(folder, 'node_modules', '.package-lock.json')
  if (!existsSync(recordPath)) return false
  const wanted = JSON.parse(readFileSync(join(lockFolder, 'package-lock.json'), 'utf8')).packages
  const installed = JSON.parse(readFileSync(recordPath, 'utf8')).packages
  for (const [path, wantedPackage] of Object.entries(wanted)) {
    if (path === '') continue
    const installedPackage = installed[path]
    if (installedPackage === undefined ? !wantedPackage.optional : installedPackage.version !== wantedPackage.version) return false
  }
  return true
}

const zstdIsBuilt = () => existsSync(join(root, 'node_modules', 'zstd-napi', 'build', 'Release', 'binding.node'))

/**
 * zstd-napi compiles through node-gyp, which uses one process unless JOBS sets more. node-gyp downloads
 * Node's headers unless it is given their location: beside the running node, where its distribution installed
 * them. npm 11 knows only the second variable, older versions only the first.
 */
function buildEnvironment() {
  const environment = { JOBS: 'max', ...process.env }
  const prefix = dirname(dirname(process.execPath))
  if (!existsSync(join(prefix, 'include', 'node', 'node_api.h'))) return environment
  const npmVersion =
    /npm\/(\d+)/.exec(process.env.npm_config_user_agent ?? '')?.[1] ??
    execFileSync('npm', ['--version'], { encoding: 'utf8' }).split('.')[0]
  const name = Number(npmVersion) >= 11 ? 'npm_package_config_node_gyp_nodedir' : 'npm_config_nodedir'
  return { ...environment, [name]: prefix }
}

/** Removes compiled files whose source no longer exists, so that a deleted test does not run again. */
function removeOrphans() {
  const dist = join(root, 'dist')
  if (!existsSync(dist)) return
  for (const folder of readdirSync(dist)) {
    if (folder === BUNDLES) continue
    for (const file of filesUnder(root, `dist/${folder}`)) {
      const source = file.replace(/^dist\//, '').replace(/(\.js|\.js\.map)$/, '.ts')
      if (/\.js(\.map)?$/.test(file) && !existsSync(join(root, source))) rmSync(join(root, file))
    }
  }
}

/**
 * Installs without install scripts, which npm runs one after the other. The two that matter run in parallel
 * with the other builds.
 */
async function installPackages() {
  if (packagesAreCurrent()) return
  checkBuildTools()
  // Warnings are hidden. The only one is that uws-pack declares Node 22 as its engine, although it also ships
  // binaries for Node 20.
  const command = ['npm', 'ci', '--ignore-scripts', '--loglevel=error']
  await runStep('installing packages (npm ci)', command, { cwd: root, logPath: logFile('packages') })
  if (!packagesAreCurrent()) throw new Error('npm ci ended well but left packages out: remove node_modules and try again')
}

/**
 * The second package of uWebSockets.js, for Nodes without a binary in the first. npm compares it with the
 * integrity of its lock file. The folder is named, because npm start has told npm that of the project.
 */
async function installUws() {
  const folder = join(root, UWS_FOLDER)
  if (packagesAreCurrent(folder, join(root, 'scripts', 'uws'))) return
  copyLock(root)
  const command = ['npm', 'ci', '--prefix', folder, '--ignore-scripts', '--loglevel=error']
  await runStep('installing uWebSockets.js for this Node', command, { cwd: folder, logPath: logFile('uws') })
}

/**
 * zstd-napi has no prebuilt binary. lmdb has prebuilt binaries, and compiles itself on platforms without one.
 */
async function buildPackages() {
  if (zstdIsBuilt()) return
  checkBuildTools()
  const command = ['npm', 'rebuild', '--loglevel=error', 'zstd-napi', 'lmdb']
  await runStep('compiling zstd', command, { cwd: root, env: buildEnvironment(), logPath: logFile('zstd') })
  if (!zstdIsBuilt()) throw new Error(`npm rebuild ended well but zstd-napi has no binary: see ${logFile('zstd')}`)
}

/** The module is committed, so that users need no Rust. */
function checkWasm() {
  if (!existsSync(join(root, 'wasm', 'pkg', 'mds.wasm')))
    throw new Error('wasm/pkg/mds.wasm is missing: the checkout is incomplete (git checkout wasm/pkg)')
}

async function buildNative(lockHash) {
  const hash = hashOf(root, ['native', 'CMakeLists.txt', 'scripts/build-native.mjs'], lockHash)
  if (stamps.matches('native', hash) && existsSync(join(root, 'build', 'mds_engine.node'))) return
  checkBuildTools()
  const command = [process.execPath, join(root, 'scripts', 'build-native.mjs')]
  await runStep('compiling the native engine', command, { cwd: root, logPath: logFile('native') })
  stamps.set('native', hash)
}

/** Needed by tests and benches, which import modules of `src` one by one. */
async function compileTypeScript(lockHash) {
  if (forStart) return
  const hash = hashOf(root, ['src', 'clients', 'test', 'bench', 'loadtest', 'tsconfig.json'], lockHash)
  const hasDist = existsSync(join(root, 'dist', 'src', 'main.js'))
  if (hasDist && stamps.matches('typescript', hash)) return
  removeOrphans()
  if (!hasDist) rmSync(join(root, 'dist', '.tsbuildinfo'), { force: true }) // Otherwise tsc would assume that its output still exists.
  const compiler = join(root, 'node_modules', 'typescript', 'bin', 'tsc')
  await runStep('compiling TypeScript', [process.execPath, compiler, '-p', root], { cwd: root, logPath: logFile('typescript') })
  stamps.set('typescript', hash)
}

/** Imported late, because the module needs the installed packages. */
async function bundlePrograms() {
  const { bundleWhereChanged } = await import('./lib/bundle.mjs')
  await bundleWhereChanged(root)
}

/** Waits until all steps have ended, so that no compiler keeps running. Then throws the first failure. */
async function sideBySide(...steps) {
  const ends = await Promise.allSettled(steps)
  const failed = ends.find((end) => end.status === 'rejected')
  if (failed !== undefined) throw failed.reason
}

async function setUp() {
  checkNodeVersion()
  const startMs = Date.now()
  await installPackages()
  const obstacle = await provideUws(root, installUws)
  if (obstacle !== null) refuse(obstacle)
  const lockHash = hashOf(root, ['package-lock.json'], `${process.platform} ${process.arch}`)
  checkWasm()
  await sideBySide(buildPackages(), buildNative(lockHash), compileTypeScript(lockHash), bundlePrograms())
  if (Date.now() - startMs > REPORT_FROM_MS) console.log(`mds setup: ready after ${seconds(startMs)}`)
}

setUp().catch((error) => refuse(error.message))
