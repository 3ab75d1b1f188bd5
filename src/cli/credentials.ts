/**
 * The credentials of requests: MDS_TOKEN or MDS_API_KEY, else the token that `mds login` stored for the
 * server. A stored token is sent only to the origin (scheme, host and port) that issued it.
 */
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import { makeFolders } from '../base/folders.js'
import { readPrivateFile, replacePrivateFile } from './private_file.js'
import { CommandError } from './terminal.js'

interface Entry {
  readonly token: string
  /** Unix seconds. */
  readonly expiresAt: number
}

const VERSION = 1

/** @returns no header if there are no credentials for this server. @throws CommandError */
export function credentialHeaders(base: string, env: NodeJS.ProcessEnv): Readonly<Record<string, string>> {
  if (env.MDS_TOKEN) return { authorization: `Bearer ${plain('MDS_TOKEN', env.MDS_TOKEN)}` }
  if (env.MDS_API_KEY) return { 'x-api-key': plain('MDS_API_KEY', env.MDS_API_KEY) }
  const entry = readEntries(credentialsPath(env)).get(new URL(base).origin)
  return entry === undefined ? {} : { authorization: `Bearer ${entry.token}` }
}

/** @throws CommandError for what cannot be a header, without the value: fetch would show it */
function plain(name: string, value: string): string {
  if (!/^[\x21-\x7e]+$/.test(value)) throw new CommandError(`${name} has characters that no credential has`)
  return value
}

/** @throws CommandError */
export function storeToken(base: string, entry: Entry, env: NodeJS.ProcessEnv): void {
  const path = credentialsPath(env)
  makeFolders(dirname(path))
  writeEntries(path, readEntries(path).set(new URL(base).origin, entry))
}

/** @returns whether there was one. @throws CommandError */
export function removeToken(base: string, env: NodeJS.ProcessEnv): boolean {
  const path = credentialsPath(env)
  const entries = readEntries(path)
  if (!entries.delete(new URL(base).origin)) return false
  writeEntries(path, entries)
  return true
}

/** MDS_CREDENTIALS_FILE, else a file in the XDG configuration folder. */
export function credentialsPath(env: NodeJS.ProcessEnv): string {
  return env.MDS_CREDENTIALS_FILE || join(env.XDG_CONFIG_HOME || join(homedir(), '.config'), 'mds', 'credentials.json')
}

function readEntries(path: string): Map<string, Entry> {
  const text = readPrivateFile(path)
  if (text === undefined) return new Map()
  try {
    const { version, servers } = JSON.parse(text) as { version?: unknown; servers?: unknown }
    if (version === VERSION && typeof servers === 'object' && servers !== null)
      return new Map(Object.entries(servers).filter((entry): entry is [string, Entry] => isEntry(entry[1])))
  } catch {
    // Not JSON: as a file of another kind.
  }
  throw new CommandError(`${path} is no credentials file of this version; remove it, and log in with \`mds login\``)
}

function writeEntries(path: string, entries: ReadonlyMap<string, Entry>): void {
  replacePrivateFile(path, `${JSON.stringify({ version: VERSION, servers: Object.fromEntries(entries) }, null, 2)}\n`)
}

function isEntry(value: unknown): value is Entry {
  const { token, expiresAt } = (value ?? {}) as Record<string, unknown>
  return typeof token === 'string' && typeof expiresAt === 'number'
}
