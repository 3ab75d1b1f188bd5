/**
 * Builds the native engine into build/mds_engine.node. The build is skipped when nothing has changed: a hash
 * over native/, CMakeLists.txt and the platform is stored beside the output.
 *   --tests               builds and runs the native tests in the same tree, from the addon's objects
 *   --sanitize=address    builds and runs the tests in build-asan/; --sanitize=thread in build-tsan/
 *   --share=K/N           runs only the K-th of N shares of a sanitizer's tests
 *   --fuzz                builds the fuzz targets in build-asan/, from the objects of its tests
 *   --bench               builds the engine side of bench/{search_engine,vector_search}.ts in build-bench/
 * Needs cmake and a C++ compiler; downloads nothing.
 */
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = join(dirname(fileURLToPath(import.meta.url)), '..')
const sanitizers = { address: { folder: 'build-asan', flags: 'address,undefined' }, thread: { folder: 'build-tsan', flags: 'thread' } }

function fail(line) {
  console.error(line)
  process.exit(1)
}

function runs(command) {
  return spawnSync(command, ['--version'], { stdio: 'ignore' }).status === 0
}

function requireTools() {
  const missing = []
  if (!runs('cmake')) missing.push('cmake')
  const compilers = process.env.CXX ? [process.env.CXX] : ['c++', 'g++', 'clang++']
  if (!compilers.some(runs)) missing.push('a C++ compiler')
  if (missing.length === 0) return
  const how =
    process.platform === 'darwin'
      ? 'xcode-select --install && brew install cmake'
      : 'apt-get install cmake g++ make (or the same of your distribution)'
  fail(`The native engine needs ${missing.join(' and ')}: ${how}`)
}

function sourceHash() {
  const hash = createHash('sha256').update(`${process.platform} ${process.arch} ${process.env.CXX ?? ''} ${process.env.CXXFLAGS ?? ''}`)
  const files = readdirSync(join(root, 'native'), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /\.(cc|h|txt)$/.test(entry.name))
    .map((entry) => join(entry.parentPath ?? entry.path, entry.name))
    .sort()
  for (const file of [join(root, 'CMakeLists.txt'), ...files]) hash.update(file.slice(root.length)).update(readFileSync(file))
  return hash.digest('hex')
}

/** Runs a build step. Its output is shown live with `live`, otherwise only when the step fails. */
function step(title, command, args, live) {
  console.log(`native: ${title}`)
  const result = spawnSync(command, args, { cwd: root, encoding: 'utf8', stdio: live ? 'inherit' : 'pipe', maxBuffer: 64 << 20 })
  if (result.status === 0) return
  if (!live) console.error(`${result.stdout ?? ''}${result.stderr ?? ''}`)
  fail(`native: ${title} failed (${result.error?.message ?? `exit ${result.status ?? result.signal}`})`)
}

function configureAndBuild(folder, options, ...targets) {
  const generator = !existsSync(join(root, folder, 'CMakeCache.txt')) && runs('ninja') ? ['-G', 'Ninja'] : []
  step(`configure ${folder}`, 'cmake', ['-S', '.', '-B', folder, ...generator, ...options], false)
  step(
    `compile in ${folder} (minutes when everything is new)`,
    'cmake',
    ['--build', folder, '--target', ...targets, '--parallel', String(availableParallelism())],
    false,
  )
}

function buildAddon() {
  const output = join(root, 'build/mds_engine.node')
  const stamp = join(root, 'build/mds_engine.hash')
  const hash = sourceHash()
  if (existsSync(output) && existsSync(stamp) && readFileSync(stamp, 'utf8') === hash) return
  if (!existsSync(join(root, 'node_modules/node-api-headers'))) fail('The native engine needs the npm package node-api-headers: npm ci')
  requireTools()
  configureAndBuild('build', [], 'mds_engine')
  writeFileSync(stamp, hash)
  console.log('native: build/mds_engine.node is ready')
}

function buildBench() {
  requireTools()
  configureAndBuild('build-bench', ['-DMDS_BENCH=ON'], 'mds_search_bench', 'mds_vector_bench')
}

/**
 * CMake options of a sanitizer's build tree. The AddressSanitizer tree uses clang where it is installed,
 * because the fuzz targets link with its objects.
 */
function sanitizedOptions(sanitizer) {
  const clang = sanitizer === sanitizers.address && process.env.CXX === undefined && runs('clang++')
  return [
    '-DMDS_TESTS=ON',
    `-DMDS_SANITIZE=${sanitizer.flags}`,
    ...(clang ? ['-DCMAKE_C_COMPILER=clang', '-DCMAKE_CXX_COMPILER=clang++'] : []),
  ]
}

/** @param share `K/N`: runs the K-th of N shares of the tests; K counts from 1 */
function runTests(folder, options, share) {
  requireTools()
  const [index, count] = share.split('/').map(Number)
  configureAndBuild(folder, [...options, `-DMDS_SHARE_INDEX=${index - 1}`, `-DMDS_SHARE_COUNT=${count}`], 'mds_tests')
  step('tests', 'ctest', ['--test-dir', folder, '--output-on-failure', '--parallel', String(availableParallelism())], true)
}

const argument = process.argv[2]
const share = process.argv.find((each) => each.startsWith('--share='))?.slice('--share='.length) ?? '1/1'
if (argument === undefined) {
  buildAddon()
} else if (argument === '--tests') {
  runTests('build', ['-DMDS_TESTS=ON'], share)
} else if (argument === '--bench') {
  buildBench()
} else if (argument === '--fuzz') {
  requireTools()
  configureAndBuild(sanitizers.address.folder, sanitizedOptions(sanitizers.address), 'mds_fuzz')
} else {
  const sanitizer = argument.startsWith('--sanitize=') ? sanitizers[argument.slice('--sanitize='.length)] : undefined
  if (sanitizer === undefined)
    fail('usage: build-native.mjs [--tests | --bench | --fuzz | --sanitize=address | --sanitize=thread] [--share=K/N]')
  runTests(sanitizer.folder, sanitizedOptions(sanitizer), share)
}
