/**
 * Polling in tests for what a server does in the background: each poll is a request or a look at a file. The
 * first polls follow each other at once; then there is a pause between them, because a test that waits must
 * not take the processor from what it waits for, nor from the tests beside it.
 */
import assert from 'node:assert/strict'
import { setImmediate as turn, setTimeout as pause } from 'node:timers/promises'

/** Many times what a watch of the disk or a start needs on a busy machine. */
export const UNTIL_MS_MAX = 20_000
/** Enough for an answer that is on its way. */
const EAGER_POLLS = 5
/** A hundredth of the shortest pause of a supervisor, and of the shortest time to live. */
const POLL_MS = 10

/** What lies between two polls. @param polls how many there were */
export async function betweenPolls(polls: number): Promise<void> {
  if (polls <= EAGER_POLLS) await turn()
  else await pause(POLL_MS)
}

/** Polls until the answer is as wanted. */
export async function untilAsked<T>(ask: () => Promise<T> | T, isWanted: (answer: T) => boolean, msMax = UNTIL_MS_MAX): Promise<T> {
  const end = performance.now() + msMax
  for (let polls = 1; ; polls++) {
    const answer = await ask()
    if (isWanted(answer)) return answer
    assert.ok(performance.now() < end, 'what was asked for did not come')
    await betweenPolls(polls)
  }
}

/** Polls until the condition holds. @param what for the message, if it never does */
export async function untilHolds(holds: () => Promise<boolean> | boolean, what: () => string, msMax = UNTIL_MS_MAX): Promise<void> {
  const end = performance.now() + msMax
  for (let polls = 1; !(await holds()); polls++) {
    assert.ok(performance.now() < end, `still waiting: ${what()}`)
    await betweenPolls(polls)
  }
}
