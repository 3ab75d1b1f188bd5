/**
 * How long a start takes for a client: from the exec of node to the first right answer of a search. An answer
 * is right when it is what the server answered before it ended; anything else, a refused connection or a 503
 * included, is not yet an answer.
 */
import { setTimeout as pause } from 'node:timers/promises'
import { startServer, type Server, type ServerOptions } from '../test/harness/server.js'
import { cpuSeconds } from './process_cpu.js'

const POLL_MS = 1
const START_MS_MAX = 120_000

export interface Start {
  readonly server: Server
  /** Since the exec. */
  readonly seconds: number
  /** Processor time of the process that was started, all its threads, until then. */
  readonly cpuSeconds: number
}

/** The keys that a search finds, in order. */
export async function keysOf(server: Server, request: object): Promise<string> {
  const keys = await foundKeys(server, request)
  if (keys === null || keys === '') throw new Error(`no answer to ${JSON.stringify(request)}`)
  return keys
}

/** @param expected what `keysOf` the same request was before */
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

/** Null where the answer is not 200. */
async function foundKeys(server: Server, request: object): Promise<string | null> {
  const answer = await server.post('/v1/fts', request)
  if (answer.status !== 200) return null
  const { results } = answer.json<{ readonly results: readonly { readonly document: { readonly key: string } }[] }>()
  return results.map((result) => result.document.key).join('\n')
}
