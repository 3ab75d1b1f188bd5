/**
 * One server with the default configuration for all test files of a run that need nothing else. It is started
 * by scripts/test.mjs, which names it in the environment; a file that runs alone starts one of its own.
 *
 * Tests are separated by collection, so a file writes only into collections whose names begin with its own
 * (`collectionOf`, or `DocumentsClient.collection`). A file whose assertions look at the whole server
 * (statistics, metrics, lists of all collections, its output, its end) starts its own.
 */
import { basename } from 'node:path'
import { connectTo, type Server, startServer } from './server.js'

export const SHARED_VARIABLE = 'MDS_TEST_SHARED_SERVER'

interface Shared {
  readonly pid: number
  readonly directory: string
  /** What it had printed when it was ready. */
  readonly output: string
}

/** Started by the runner. The text is for `SHARED_VARIABLE`. */
export async function startSharedServer(): Promise<{ readonly server: Server; readonly text: string }> {
  const server = await startServer()
  const shared: Shared = { pid: server.pid, directory: server.directory, output: server.output() }
  return { server, text: JSON.stringify(shared) }
}

/**
 * The server of the run; without one a server of this file. `stop` ends the connections of this file, and the
 * server only if it is the file's own.
 */
export async function sharedServer(): Promise<Server> {
  const text = process.env[SHARED_VARIABLE]
  if (text === undefined) return await startServer()
  const { pid, directory, output } = JSON.parse(text) as Shared
  const connected = connectTo(() => output)
  const refuseEnded = (cause?: unknown): void => {
    if (!isRunning(pid)) throw new Error(`the server that the test files of this run share (pid ${pid}) has ended`, { cause })
  }
  refuseEnded()
  const request: Server['request'] = async (...asked) => {
    try {
      return await connected.request(...asked)
    } catch (error) {
      refuseEnded(error)
      throw error
    }
  }
  return {
    ...connected,
    pid,
    directory,
    output: () => output,
    closeOutput: () => undefined,
    request,
    post: (path, body, headers) => request('POST', path, body, headers),
    get: (path, headers) => request('GET', path, undefined, headers),
    stop: async () => {
      connected.disconnect()
      return await Promise.resolve(0)
    },
    kill: () => Promise.reject(new Error('a file that kills its server starts one of its own')),
    ended: new Promise(() => undefined),
  }
}

/** A name that no other file of the run uses: `listing.test.js` has `listing-<name>`. */
export function collectionOf(name: string): string {
  return `${basename(process.argv[1] ?? '', '.test.js')}-${name}`
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}
