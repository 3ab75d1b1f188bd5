/** What tests of the audit log share: questions to a server, its files, and events for a log without one. */
import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { lineOf } from '../../../src/audit/event_line.js'
import type { ExporterState } from '../../../src/wire/messages/audit_messages.js'
import { execFile } from '../process/owned_processes.js'
import { type Server, type ServerOptions, startServer } from './server.js'

const MDS = fileURLToPath(new URL('../../../../bin/mds.mjs', import.meta.url))

export interface EventJson {
  readonly ts: number
  readonly actor: string
  readonly action: string
  readonly resource: string
  readonly collection?: string
  readonly key?: string
  readonly result: string
  readonly ip: string
  readonly userAgent: string
  readonly detail?: string
}

export interface AuditJson {
  readonly events: readonly EventJson[]
  readonly count: number
  readonly dropped: number
}

export type ExporterJson = ExporterState

const started: Server[] = []

/** A server with an audit log. */
export async function startAudited(options: ServerOptions = {}): Promise<Server> {
  const server = await startServer({ ...options, env: { SVC_AUDIT_ENABLED: 'true', ...options.env } })
  started.push(server)
  return server
}

/** After a test has failed its servers still run, and would keep the file from ending. */
export async function killStarted(): Promise<void> {
  await Promise.all(started.map((server) => server.kill()))
}

/** @param query without the question mark */
export async function auditOf(server: Server, query = '', headers: Readonly<Record<string, string>> = {}): Promise<AuditJson> {
  const answer = await server.get(`/v1/audit?${query}`, headers)
  assert.equal(answer.status, 200, answer.text)
  return answer.json<AuditJson>()
}

/** The digits of the times of the events, newest first. JSON.parse would lose the last ones. */
export async function timesOf(server: Server, query = '', headers: Readonly<Record<string, string>> = {}): Promise<string[]> {
  const { text } = await server.get(`/v1/audit?${query}`, headers)
  return [...text.matchAll(/"ts":(\d+)/g)].map(([, digits = '']) => digits)
}

export async function exportersOf(server: Server): Promise<readonly ExporterJson[]> {
  return (await server.get('/v1/audit/exporters')).json<{ exporters: readonly ExporterJson[] }>().exporters
}

/** Writes documents at once. @returns the number of those that were stored */
export async function addDocuments(server: Server, collection: string, count: number): Promise<number> {
  const adding = Array.from({ length: count }, (_, at) =>
    server.post('/v1/add', { collection, key: `k${at}`, lang: 'en', meta: {}, contentMd: 'text' }),
  )
  return (await Promise.all(adding)).filter(({ status }) => status === 200).length
}

/** Paths of the files of a log, oldest first. */
export function auditFiles(folder: string): string[] {
  return readdirSync(folder)
    .filter((name) => name.endsWith('.jsonl'))
    .sort()
    .map((name) => join(folder, name))
}

/** Without their newlines. */
export function linesOf(path: string): string[] {
  return readFileSync(path, 'utf8').split('\n').slice(0, -1)
}

/** `mds audit verify`. */
export function verify(...args: readonly string[]): Promise<{ readonly code: number; readonly output: string }> {
  return new Promise((resolve) => {
    execFile(process.execPath, [MDS, 'audit', 'verify', ...args], (error, stdout, stderr) => {
      resolve({ code: error === null ? 0 : Number(error.code), output: stdout + stderr })
    })
  })
}

/** Whole lines of events. @param first number of the first one, which is also its time */
export function eventLines(first: number, count: number, text = 'x'): Uint8Array {
  const event = { actor: 'ada', action: 'auth.login', resource: '/v1/auth/login', result: 'ok', ip: '192.0.2.1', userAgent: text } as const
  return Buffer.from(Array.from({ length: count }, (_, at) => lineOf(String(first + at), event)).join(''))
}
