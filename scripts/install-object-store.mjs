/**
 * Installs versitygw, the S3-compatible server of the tests, into .cache/bin, unless it is there or on the
 * path, and prints its path. Exit code 77 if it cannot be installed: no Go, or no network.
 */
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { projectRoot } from './lib/root.mjs'

const VERSION = 'v1.8.0'
const SKIPPED = 77
const INSTALL_MS_MAX = 20 * 60_000

const folder = join(projectRoot, '.cache', 'bin')
const cached = join(folder, 'versitygw')
const onPath = spawnSync('versitygw', ['--version']).status === 0

if (!onPath && !existsSync(cached)) {
  const { status, error } = spawnSync('go', ['install', `github.com/versity/versitygw/cmd/versitygw@${VERSION}`], {
    env: { ...process.env, GOBIN: folder, GOFLAGS: '-p=2' },
    stdio: ['ignore', 'inherit', 'inherit'],
    timeout: INSTALL_MS_MAX,
  })
  if (status !== 0) {
    console.error(`versitygw can't be installed: ${error?.message ?? `go ended with ${status}`}; tests against an object store are skipped`)
    process.exit(SKIPPED)
  }
}
console.log(onPath ? 'versitygw' : cached)
