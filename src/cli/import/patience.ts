/**
 * Repeats a request to a server that is busy, restarts or is not there yet. Waits grow from 0.25 s to 8 s.
 * Only for requests that may be repeated. Main thread of the CLI.
 */
import { setTimeout as wait } from 'node:timers/promises'
import { ConnectionError } from '../client.js'

/**
 * Sends of one request before an import gives up. Waits of 0.25 s, doubled up to 8 s, add up to about 40 s,
 * longer than a restart.
 */
const IMPORT_ATTEMPTS_MAX = 10
/** Longest wait before a request is sent again, whatever `Retry-After` requests. */
const IMPORT_RETRY_WAIT_MS_MAX = 8_000
/** Wait after the first attempt. It doubles with each further one, up to IMPORT_RETRY_WAIT_MS_MAX. */
const FIRST_WAIT_MS = 250

/** Every further request would be refused as well, or the server is unreachable. */
export class ImportStopped extends Error {}

/** The server answers 503. */
export class ServerBusy extends Error {
  constructor(
    reason: string,
    readonly retryAfterMs = 0,
  ) {
    super(`the server answers 503: ${reason}`)
  }
}

/**
 * @param attempt throws ServerBusy or ConnectionError where it is to be repeated
 * @param onWait called with the reason before a request is sent again
 * @throws ImportStopped after IMPORT_ATTEMPTS_MAX attempts
 */
export async function patiently<Result>(attempt: () => Promise<Result>, onWait: (reason: string) => void): Promise<Result> {
  for (let attempts = 1; ; attempts += 1) {
    try {
      return await attempt()
    } catch (error) {
      if (!(error instanceof ConnectionError || error instanceof ServerBusy)) throw error
      if (attempts === IMPORT_ATTEMPTS_MAX) throw new ImportStopped(`${error.message} (tried ${attempts} times)`)
      onWait(error.message)
      const requestedMs = error instanceof ServerBusy ? error.retryAfterMs : 0
      await wait(Math.min(Math.max(FIRST_WAIT_MS * 2 ** (attempts - 1), requestedMs), IMPORT_RETRY_WAIT_MS_MAX))
    }
  }
}
