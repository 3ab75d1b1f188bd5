/**
 * The output of a start: warnings, the address of the server, and first requests to try. Main thread, at
 * start. In text format these lines have no time and level, because people read them and scripts wait for
 * `ready on`. In JSON format they are ordinary log lines.
 */
import type { Config } from './config/config.js'
import { isExposed } from './system/loop_answers.js'
import { log, logsJson, print } from './telemetry/log.js'

const EXPOSED = [
  'access control is off and the server listens beyond this machine:',
  'every client that reaches the port can read and write everything.',
  'To keep it to this machine: --http-addr 127.0.0.1:11023',
]

export function printWarnings(config: Config): void {
  const exposed = isExposed(config)
  if (logsJson()) {
    for (const warning of config.warnings) log.warn(warning)
    if (exposed) log.warn(EXPOSED.join(' '))
    return
  }
  const frame = '*'.repeat(72)
  const lines = [...config.warnings, ...(exposed ? [frame, ...EXPOSED, frame] : [])]
  print(
    'warn',
    lines.map((line) => `warning: ${line}`),
  )
}

/** Of the surfaces, by name, in the order in which they listen. */
type Addresses = ReadonlyMap<string, string>

/** HTTP's if there is one. */
function mainAddress(addresses: Addresses): string {
  return [...addresses.values()][0] ?? ''
}

export function printListening(addresses: Addresses): void {
  const address = mainAddress(addresses)
  if (logsJson()) log.info('listening; opening the store', { address, ...Object.fromEntries(addresses) })
  else print('info', [`listening on ${address}; opening the store`])
}

/** @param user who may log in; null while access control is off */
export function printReady(addresses: Addresses, startMs: number, user: string | null, hasTls: boolean): void {
  const address = mainAddress(addresses)
  const others = [...addresses].filter(([name]) => name !== 'http')
  if (logsJson()) {
    log.info('ready', { address, ms: startMs, ...Object.fromEntries(others) })
    return
  }
  const served = others.map(([name, where]) => `${name} on ${where}`).join(', ')
  if (!addresses.has('http')) {
    print('info', [`ready on ${address} after ${startMs} ms: ${served}`])
    return
  }
  const { option, base } = curlTarget(address, hasTls)
  const add = JSON.stringify({ collection: 'notes', key: 'first', lang: 'en', contentMd: '# Hello\n\nMarkdown, versioned and searchable.' })
  const search = JSON.stringify({ collection: 'notes', query: 'searchable' })
  const credentials = user === null ? '' : '-H "Authorization: Bearer $token" '
  print('info', [
    `ready on ${address} after ${startMs} ms. Try:`,
    ...(user === null ? [] : [`  token=$(${loginCommand(`${option}${base}`, user)})`]),
    `  curl ${option}${credentials}-X POST ${base}/v1/add -d '${add}'`,
    `  curl ${option}${credentials}-X POST ${base}/v1/fts -d '${search}'`,
    `  API reference: ${base}/docs`,
    ...(served === '' ? [] : [`  also: ${served}`]),
  ])
}

/** A command that asks for nothing and prints the token; the reader replaces the password. */
function loginCommand(target: string, user: string): string {
  const login = JSON.stringify({ username: user, password: 'PASSWORD' })
  return `curl -s ${target.replace(/(\S+)$/, '$1/v1/auth/login')} -d '${login}' | sed 's/.*"token":"\\([^"]*\\)".*/\\1/'`
}

/**
 * The unspecified address is for listening only. Not every system connects to it, and a page opened under it
 * counts as foreign (surface/http/local_guard.ts).
 */
export function curlTarget(address: string, hasTls = false): { readonly option: string; readonly base: string } {
  if (address.startsWith('unix:')) return { option: `--unix-socket ${address.slice('unix:'.length)} `, base: 'http://localhost' }
  const [, host = address, port = ''] = /^(.*)(:\d+)$/.exec(address) ?? []
  const named = ['', '0.0.0.0'].includes(host) ? '127.0.0.1' : host === '[::]' ? '[::1]' : host
  return { option: '', base: `${hasTls ? 'https' : 'http'}://${named}${port}` }
}
