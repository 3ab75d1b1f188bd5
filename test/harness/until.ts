/** Polling in tests for what a server does in the background: each poll is a request or a look at a file. */
import assert from 'node:assert/strict'

/** Many times what a watch of the disk or a start needs on a busy machine. */
export const UNTIL_MS_MAX = 20_000

/** Polls until the answer is as wanted. */
export async function untilAsked<T>(ask: () => Promise<T>, isWanted: (answer: T) => boolean, msMax = UNTIL_MS_MAX): Promise<T> {
  for (const end = performance.now() + msMax; ;) {
    const answer = await ask()
    if (isWanted(answer)) return answer
    assert.ok(performance.now() < end, 'what was asked for did not come')
    await new Promise((resolve) => setImmediate(resolve))
  }
}
