// Builds the WASM modules from wasm/ into wasm/pkg. The output is committed, so that users need no Rust.
//   npm run build:wasm              builds if the sources differ from those that pkg was built from
//   npm run build:wasm -- --check   reports whether pkg is stale; exit code 1 if it is
// Toolchain: Rust with the target wasm32-unknown-unknown (rustup), or Debian's rustc-web, cargo-web,
// rust-web-src and lld-19; wasm-bindgen-cli in the version of wasm/bindings/Cargo.toml. wasm-opt (binaryen)
// is optional and makes the module smaller and faster.
import { createHash } from 'node:crypto'
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { homedir, tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../wasm/', import.meta.url))
const packageFolder = join(root, 'pkg')
const record = join(packageFolder, 'SOURCES.json')
const target = 'wasm32-unknown-unknown'
/**
 * WebAssembly features that the optimizer may use: those enabled for the compiler and those that it enables
 * by default.
 */
const features = [
  '--enable-simd',
  '--enable-bulk-memory',
  '--enable-sign-ext',
  '--enable-mutable-globals',
  '--enable-nontrapping-float-to-int',
  '--enable-reference-types',
  '--enable-multivalue',
]
const notSources = new Set(['target', 'pkg', 'tests', 'NOTICE', 'tables'])
/** Crates and the names of the modules built from them. */
const modules = [
  { crate: 'mds-bindings', name: 'mds' },
  { crate: 'mds-model-bindings', name: 'static_model' },
]
// 96 MiB: lexicon (2 x 4 MB of slots, 12 MB of bytes), one record (8 MB) and its result (8 MB), each doubled
// while it grows.
const memoryBytesMax = 96 << 20

function sourceFiles(folder) {
  return readdirSync(folder)
    .filter((name) => !notSources.has(name))
    .map((name) => join(folder, name))
    .flatMap((path) => (statSync(path).isDirectory() ? sourceFiles(path) : [path]))
    .sort()
}

function sourceHash() {
  const hash = createHash('sha256')
  for (const path of sourceFiles(root)) {
    hash
      .update(`${relative(root, path)}\0`)
      .update(readFileSync(path))
      .update('\0')
  }
  return hash.digest('hex')
}

function fail(text) {
  console.error(`build-wasm: ${text}`)
  process.exit(1)
}

/** Returns the first line that the command prints, or undefined if the command is missing or fails. */
function firstLine(command, args, env = process.env) {
  const result = spawnSync(command, args, { encoding: 'utf8', env })
  return result.status === 0 ? result.stdout.split('\n')[0].trim() : undefined
}

function rustToolchain() {
  const rustup = spawnSync('rustup', ['target', 'list', '--installed'], { encoding: 'utf8' })
  if (rustup.status === 0 && rustup.stdout.includes(target)) return { cargo: 'cargo', rustc: 'rustc', env: {}, args: [] }
  const linker = ['wasm-ld-19', 'wasm-ld'].find((name) => firstLine(name, ['--version']) !== undefined)
  if (existsSync('/usr/bin/rustc') && existsSync('/usr/lib/rustlib/src/rust/library') && linker !== undefined) {
    // Debian ships the standard library as source. Building it requires an unstable flag, which
    // RUSTC_BOOTSTRAP permits.
    const env = { RUSTC: '/usr/bin/rustc', RUSTC_BOOTSTRAP: '1', CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_LINKER: linker }
    return { cargo: '/usr/bin/cargo', rustc: '/usr/bin/rustc', env, args: ['-Zbuild-std=std,panic_abort'] }
  }
  return fail(
    `no Rust for ${target}: run "rustup target add ${target}", or on Debian "apt-get install rustc-web cargo-web rust-web-src lld-19 binaryen"`,
  )
}

function bindgenVersion() {
  const manifest = readFileSync(join(root, 'bindings/Cargo.toml'), 'utf8')
  return /wasm-bindgen = "=([\d.]+)"/.exec(manifest)?.[1] ?? fail('wasm/bindings/Cargo.toml names no exact wasm-bindgen version')
}

function findBindgen(version) {
  const candidates = ['wasm-bindgen', join(homedir(), '.cargo/bin/wasm-bindgen')]
  const found = candidates.find((command) => firstLine(command, ['--version']) === `wasm-bindgen ${version}`)
  return found ?? fail(`no wasm-bindgen ${version}: run "cargo install wasm-bindgen-cli --version ${version}"`)
}

function run(command, args, env) {
  const result = spawnSync(command, args, { cwd: root, env: { ...process.env, ...env }, stdio: ['ignore', 'inherit', 'inherit'] })
  if (result.status !== 0) fail(`${command} failed`)
}

const modulePath = (name) => join(packageFolder, `${name}.wasm`)

function build(hash) {
  const version = bindgenVersion()
  const toolchain = rustToolchain()
  const bindgen = findBindgen(version)
  const flags = `-C target-feature=+simd128,+bulk-memory -C link-arg=--max-memory=${memoryBytesMax} --remap-path-prefix=${root}=wasm --remap-path-prefix=${homedir()}=home`
  const crates = modules.flatMap(({ crate }) => ['-p', crate])
  run(toolchain.cargo, ['build', '--release', '--locked', ...crates, '--target', target, ...toolchain.args], {
    ...toolchain.env,
    RUSTFLAGS: flags,
  })
  mkdirSync(packageFolder, { recursive: true })
  const optimizer = firstLine('wasm-opt', ['--version'])
  for (const { crate, name } of modules) {
    const output = mkdtempSync(join(tmpdir(), 'mds-wasm-'))
    const module = join(root, 'target', target, 'release', `${crate.replaceAll('-', '_')}.wasm`)
    run(bindgen, ['--target', 'web', '--no-typescript', '--remove-producers-section', '--out-dir', output, '--out-name', name, module], {})
    const built = join(output, `${name}_bg.wasm`)
    if (optimizer !== undefined) run('wasm-opt', ['-O3', ...features, built, '-o', built], {})
    writeFileSync(modulePath(name), readFileSync(built))
    rmSync(output, { recursive: true })
    console.log(`build-wasm: wasm/pkg/${name}.wasm, ${statSync(modulePath(name)).size} bytes`)
  }
  const rustc = firstLine(toolchain.rustc, ['--version'])
  writeFileSync(record, `${JSON.stringify({ sources: hash, rustc, wasmBindgen: version, wasmOpt: optimizer ?? null }, null, 2)}\n`)
}

const hash = sourceHash()
const isCurrent =
  existsSync(record) &&
  modules.every(({ name }) => existsSync(modulePath(name))) &&
  JSON.parse(readFileSync(record, 'utf8')).sources === hash
if (process.argv.includes('--check')) {
  console.log(isCurrent ? 'build-wasm: wasm/pkg is current' : 'build-wasm: wasm/pkg is stale, run "npm run build:wasm"')
  process.exit(isCurrent ? 0 : 1)
}
if (!isCurrent) build(hash)
