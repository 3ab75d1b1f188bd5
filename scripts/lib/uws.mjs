/**
 * Provides uWebSockets.js for the Node that runs: uws-pack has binaries for some Nodes. For others, a second
 * package is installed beside the project, in build/uws, at the version and with the integrity of
 * scripts/uws/package-lock.json (docs/decisions/operation/starting.md). The names of the binaries tell which
 * Nodes work. No dependencies: this runs before the build.
 */
import { spawnSync } from 'node:child_process'
import { copyFileSync, existsSync, mkdirSync, readdirSync } from 'node:fs'
import { join } from 'node:path'

const PACKED = join('node_modules', 'uWebSockets.js', 'dist', 'bin')
export const UWS_FOLDER = join('build', 'uws')
const BESIDE = join(UWS_FOLDER, 'node_modules', '@btc-vision', 'uwebsockets.js')
/** The binaries of the second package for Linux need symbols of this version. */
const GLIBC_MIN = [2, 38]
/** Node's names of its ABIs (its doc/abi_version_registry.json), without releases that are refused anyway. */
const RELEASES = new Map([
  [115, 20],
  [127, 22],
  [131, 23],
  [137, 24],
  [141, 25],
  [147, 26],
])

/** The parts of a system on which a binary depends. */
export function thisSystem() {
  const { platform, arch, versions } = process
  // The report looks up names of network interfaces unless it is told not to.
  process.report.excludeNetwork = true
  const glibc = platform === 'linux' ? process.report.getReport().header.glibcVersionRuntime : undefined
  return { platform, arch, node: versions.node, abi: Number(versions.modules), glibc }
}

/**
 * @param install makes build/uws current
 * @returns null, or in one line why this Node does not work and which ones do
 */
export async function provideUws(root, install, system = thisSystem()) {
  const packed = abisIn(join(root, PACKED), system)
  if (packed.includes(system.abi)) return null
  const usesBeside = canLoadBeside(system)
  if (usesBeside) await install()
  const beside = usesBeside ? abisIn(join(root, BESIDE), system) : []
  if (beside.includes(system.abi)) return loadingFails(root, system)
  return refusal(system, [...packed, ...beside])
}

/** Copies the manifest and the lock file of the second package to where it is installed. */
export function copyLock(root) {
  mkdirSync(join(root, UWS_FOLDER), { recursive: true })
  for (const name of ['package.json', 'package-lock.json']) copyFileSync(join(root, 'scripts', 'uws', name), join(root, UWS_FOLDER, name))
  copyFileSync(join(root, '.npmrc'), join(root, UWS_FOLDER, '.npmrc'))
}

function abisIn(folder, { platform, arch }) {
  if (!existsSync(folder)) return []
  const name = new RegExp(`^uws_${platform}_${arch}_(\\d+)\\.node$`)
  return readdirSync(folder).flatMap((file) => {
    const abi = name.exec(file)?.[1]
    return abi === undefined ? [] : [Number(abi)]
  })
}

function canLoadBeside({ platform, glibc }) {
  if (platform !== 'linux') return true
  if (glibc === undefined) return false // musl
  const [major, minor] = glibc.split('.').map(Number)
  return major > GLIBC_MIN[0] || (major === GLIBC_MIN[0] && minor >= GLIBC_MIN[1])
}

function loadingFails(root, { node, platform, arch, abi }) {
  const path = join(root, BESIDE, `uws_${platform}_${arch}_${abi}.node`)
  const { status, signal, stderr } = spawnSync(process.execPath, ['-e', 'require(process.argv[1])', path], { encoding: 'utf8' })
  if (status === 0) return null
  const reason = /^Error: (.*)$/m.exec(stderr)?.[1] ?? `it ends with ${signal ?? status}`
  return `Node ${node} does not work here: ${path} does not load: ${reason}`
}

function refusal({ node, platform, arch, glibc }, abis) {
  const releases = [...new Set(abis.flatMap((abi) => RELEASES.get(abi) ?? []))].sort((a, b) => a - b)
  const system =
    platform === 'linux' ? `${platform}-${arch}, ${glibc === undefined ? 'no glibc' : `glibc ${glibc}`}` : `${platform}-${arch}`
  const working = releases.length === 0 ? 'no Node' : `Node ${releases.join(', ')}`
  return `Node ${node} does not work here (${system}): uWebSockets.js has binaries for ${working}${hint(platform, glibc)}.`
}

function hint(platform, glibc) {
  return platform === 'linux' && glibc !== undefined && !canLoadBeside({ platform, glibc })
    ? `; for some newer ones from glibc ${GLIBC_MIN.join('.')} on`
    : ''
}
