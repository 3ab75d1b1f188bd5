/**
 * Loads the packages of the outbound client on first use, so that no thread loads them at its start
 * (docs/decisions/operation/starting.md). Other files in src import only their types.
 */
import { createRequire } from 'node:module'
import type IpAddr from 'ipaddr.js'

const require = createRequire(import.meta.url)

export function loadIpaddr(): typeof IpAddr {
  return require('ipaddr.js') as typeof IpAddr
}

export function loadUndici(): typeof import('undici') {
  return require('undici') as typeof import('undici')
}

export function loadAws4fetch(): typeof import('aws4fetch') {
  return require('aws4fetch') as typeof import('aws4fetch')
}
