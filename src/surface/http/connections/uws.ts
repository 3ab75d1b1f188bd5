/**
 * uWebSockets.js, from the package that has a binary for this Node: uws-pack, else the package that the setup
 * installed beside the project (scripts/lib/uws.mjs). Every thread that listens loads it once.
 */
import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type * as Uws from 'uWebSockets.js'
import { projectFolder } from '../../../base/installation.js'

const require = createRequire(import.meta.url)
const BINARY = `uws_${process.platform}_${process.arch}_${process.versions.modules}.node`

/** The package that is packed has a module around its binary, and no more. */
function load(): typeof Uws {
  const packed = join(dirname(fileURLToPath(import.meta.resolve('uWebSockets.js'))), 'bin', BINARY)
  if (existsSync(packed)) return require(packed) as typeof Uws
  const beside = join(projectFolder(), 'build', 'uws', 'node_modules', '@btc-vision', 'uwebsockets.js')
  if (existsSync(join(beside, BINARY))) return require(beside) as typeof Uws
  const reason = `uWebSockets.js has no binary for Node ${process.versions.node} (${BINARY}): npm start sets it up, or names the Nodes that work`
  throw Object.assign(new Error(reason), { code: 'MODULE_NOT_FOUND' })
}

export const uWS = load()
