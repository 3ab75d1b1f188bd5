/**
 * Measures the start as a client sees it: from the exec of node to the first correct answer of a search. An
 * answer is correct if it equals the server's answer before it ended. Anything else, including a refused
 * connection or a 503, does not count.
 */
import { setTimeout as pause } from 'node:timers/promises'
import { type Server, type ServerOptions, startServer } from '../../test/harness/server/server.js'
import { cpuSeconds } from './process_cpu.js'

const POLL_MS = 1
const START_MS_MAX = 120_000

export interface Start {
  readonly server: Server
  /** Since the exec. */
  readonly seconds: number
  /** Processor time of all threads of the started process up to the answer. */
  readonly cpuSeconds: number
}

/** The document keys that a search returns, in order. */
export async function keysOf(server: Server, request: object): Promise<string> {
  const keys = await foundKeys(server, request)
  if (keys === null || keys === '') throw new Error(`no answer to ${JSON.stringify(request)}`)
  return keys
}

/** @param expected the result of `keysOf` for the same request before the restart */
export async function timedStart(options: ServerOptions, request: object, expected: string): Promise<Start> {
  const begun = performance.now()
  const server = await startServer(options)
  while (performance.now() - begun < START_MS_MAX) {
    if ((await foundKeys(server, request)) === expected)
      return { server, seconds: (performance.now() - begun) / 1000, cpuSeconds: cpuSeconds(server.pid) }
    await pause(POLL_MS)
  }
  throw new Error(`no right answer after ${START_MS_MAX} ms:\n${server.output().slice(-2_000)}`)
}

/** Null if the answer is not 200. */
async function foundKeys(server: Server, request: object): Promise<string | null> {
  const answer = await server.post('/v1/fts', request)
  if (answer.status !== 200) return null
  const { results } = answer.json<{ readonly results: readonly { readonly document: { readonly key: string } }[] }>()
  return results.map((result) => result.document.key).join('\n')
}
