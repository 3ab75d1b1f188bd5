/**
 * `mds backup`, `mds restore` and `mds vector-reindex`: operations that may run on the server for a long
 * time.
 */
import { request, requestLong } from './client.js'
import { formatBackups, formatReindex } from './output.js'
import { CommandError } from './terminal.js'

export interface BackupOptions {
  readonly url: string
  readonly list: boolean
  readonly delete?: string
  readonly json: boolean
}

/** @returns the result for stdout */
export async function backup(name: string | undefined, options: BackupOptions): Promise<string> {
  const { url, list, json } = options
  if ([name !== undefined, list, options.delete !== undefined].filter(Boolean).length > 1)
    throw new CommandError('a name for a new backup, --list or --delete: one of them')
  const shown = (answer: unknown, format: (answer: unknown) => string): string =>
    json ? `${JSON.stringify(answer, null, 2)}\n` : format(answer)
  if (list) return shown(await request(url, 'GET', '/v1/backups'), formatBackups)
  if (options.delete !== undefined)
    return shown(await request(url, 'DELETE', `/v1/backups/${encodeURIComponent(options.delete)}`), lineOf('deleted'))
  const query = name === undefined ? '' : `?to=${encodeURIComponent(name)}`
  return shown(await requestLong(url, 'GET', `/v1/backup${query}`), lineOf('backup'))
}

export async function restore(name: string, url: string): Promise<string> {
  return lineOf('restored')(await requestLong(url, 'POST', '/v1/restore', { from: name }))
}

/** Documents that could not be embedded cause exit code 1. */
export async function vectorReindex(collection: string, options: { url: string; force: boolean; json: boolean }): Promise<string> {
  const { url, force, json } = options
  const answer = await requestLong(url, 'POST', '/v1/vector-reindex', { collection, force })
  if ((answer as { readonly failed?: unknown }).failed !== 0) process.exitCode = 1
  return json ? `${JSON.stringify(answer, null, 2)}\n` : formatReindex(answer)
}

function lineOf(field: 'backup' | 'deleted' | 'restored'): (answer: unknown) => string {
  return (answer) => {
    const name = (answer as Readonly<Record<string, unknown>> | null)?.[field]
    if (typeof name !== 'string') throw new CommandError(`the answer says nothing of ${field}; is this the right address?`)
    return `${field} ${name}\n`
  }
}
