/** Waits in tests for what a server does by itself: each question is a request or a look at a file. */
import assert from 'node:assert/strict'

/** What a watch of the disk or a start needs on a busy machine, many times over. */
export const UNTIL_MS_MAX = 20_000

/** Asks until the answer is as wanted. */
export async function untilAsked<T>(ask: () => Promise<T>, isWanted: (answer: T) => boolean, msMax = UNTIL_MS_MAX): Promise<T> {
  for (const end = performance.now() + msMax; ;) {
    const answer = await ask()
    if (isWanted(answer)) return answer
    assert.ok(performance.now() < end, 'what was asked for did not come')
    await new Promise((resolve) => setImmediate(resolve))
  }
}
