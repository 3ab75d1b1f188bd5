/**
 * `npm run campaign -- node [PART...]`: contract tests on Node 24, with the uWebSockets.js that the setup
 * takes there (docs/decisions/operation/starting.md), in a Debian 13 made by debootstrap below build/trixie.
 * PART selects files as for `npm test`; default: all of test/contract. Needs root and debootstrap, else exit
 * code 77. The system is kept for the next run; mounts are of a namespace of this run.
 */
import { spawnSync } from 'node:child_process'
import { copyFileSync, existsSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { projectRoot } from '../lib/root.mjs'
import { copyLock, UWS_FOLDER } from '../lib/uws.mjs'

const SKIPPED = 77
const PACKAGES = 'openssl,git,curl,procps,ca-certificates'
const root = projectRoot
const system = join(root, 'build', 'trixie')
const nodes = join(root, 'build', 'nodes')

function run(command, args, cwd = root) {
  const { status, signal, error } = spawnSync(command, args, { cwd, stdio: 'inherit' })
  if (status !== 0) throw new Error(`${command} ${args[0]} ended with ${error?.message ?? signal ?? status}`)
}

const install = (folder) => run('npm', ['ci', '--prefix', folder, '--ignore-scripts', '--loglevel=error'], folder)

/** Mounts the checkout at its own path, and the Node; the kernel unmounts them with the last process. */
const ENTER = `
set -eu
for at in "$2" /opt/node; do mkdir -p "$1$at"; done
mount --bind "$2" "$1$2"
mount --bind "$3" "$1/opt/node"
mount -t proc proc "$1/proc"
mount --rbind /dev "$1/dev"
at=$2; to=$1; shift 3
exec chroot "$to" env -i HOME=/root PATH=/opt/node/bin:/usr/sbin:/usr/bin:/sbin:/bin sh -c 'cd "$0" && node scripts/setup.mjs --start && exec node scripts/test.mjs "$@"' "$at" "$@"`

const parts = process.argv.slice(2)
const canRun = process.platform === 'linux' && process.arch === 'x64' && process.getuid() === 0
if (!canRun || spawnSync('debootstrap', ['--version']).status !== 0) {
  console.log('debootstrap, or root, is missing: apt-get install debootstrap')
  process.exit(SKIPPED)
}
if (!existsSync(join(system, 'etc', 'debian_version'))) run('debootstrap', ['--variant=minbase', `--include=${PACKAGES}`, 'trixie', system])
mkdirSync(nodes, { recursive: true })
for (const name of ['package.json', 'package-lock.json']) copyFileSync(join(root, 'scripts', 'nodes', name), join(nodes, name))
copyFileSync(join(root, '.npmrc'), join(nodes, '.npmrc'))
install(nodes)
copyLock(root)
install(join(root, UWS_FOLDER))
const node = join(nodes, 'node_modules', 'node-24')
run('unshare', ['--mount', 'sh', '-c', ENTER, 'enter', system, root, node, ...(parts.length === 0 ? ['contract'] : parts)])
