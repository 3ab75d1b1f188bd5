/**
 * How long a start takes for a client: from the exec of node to the first right answer of each kind. A probe is right when it answers what it answered before the server ended; anything else,
 * a refused connection or a 503 included, is not yet an answer. Starts run without the supervisor, with its flags.
 */
import { setTimeout as pause } from 'node:timers/promises'
import { startServer, type Server } from '../test/harness/server.js'

const POLL_MS = 1
const START_MS_MAX = 120_000

export interface Probe {
  readonly path: string
  readonly body: object
  /** What of the answer must stay the same over a restart. */
  readonly essence: (answer: string) => string
}

export interface Start {
  readonly server: Server
  /** Per probe, in order: milliseconds since the exec. */
  readonly millis: readonly number[]
}

export async function answersOf(server: Server, probes: readonly Probe[]): Promise<readonly string[]> {
  const answers: string[] = []
  for (const { path, body, essence } of probes) {
    const answer = await server.post(path, body)
    if (answer.status !== 200) throw new Error(`${path} answers ${answer.status}: ${answer.text.slice(0, 300)}`)
    answers.push(essence(answer.text))
  }
  return answers
}

/** @param expected what the probes answered earlier */
export async function timedStart(directory: string, probes: readonly Probe[], expected: readonly string[]): Promise<Start> {
  const begun = performance.now()
  const server = await startServer({ directory })
  const millis = await Promise.all(probes.map((probe, at) => firstRight(server, probe, expected[at]!, begun)))
  return { server, millis }
}

async function firstRight(server: Server, { path, body, essence }: Probe, expected: string, begun: number): Promise<number> {
  while (performance.now() - begun < START_MS_MAX) {
    const answer = await server.post(path, body)
    if (answer.status === 200 && essence(answer.text) === expected) return performance.now() - begun
    await pause(POLL_MS)
  }
  throw new Error(`${path} gives no right answer after ${START_MS_MAX} ms:\n${server.output().slice(-2_000)}`)
}
