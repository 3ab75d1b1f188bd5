/**
 * The packages of the outbound client, taken when they are first needed: no thread's start pays for them
 * (docs/decisions/0051-what-a-start-loads.md). Nothing else in src imports them but for types.
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
