import assert from 'node:assert/strict'
import { test } from 'node:test'
import { BodyWatch } from '../../../src/surface/http/bounds/body_watch.js'

const PROGRESS_MS_MAX = 30
const LOOKS_PAUSED = 3

test('the time in which a body must make progress begins after a pause of the server', async () => {
  const watch = new BodyWatch(PROGRESS_MS_MAX)
  let looks = 0
  let resumedAt = 0
  // The watch keeps no process alive.
  const running = setInterval(() => undefined, 1_000)
  const waited = await new Promise<number>((resolve) => {
    const body = {
      received: 0,
      get isPaused() {
        if (++looks <= LOOKS_PAUSED) return true
        resumedAt ||= performance.now()
        return false
      },
      waitLonger: () => undefined,
      endSlow() {
        watch.delete(body)
        resolve(performance.now() - resumedAt)
      },
    }
    watch.add(body)
  })
  clearInterval(running)
  assert.ok(looks > LOOKS_PAUSED + 1, `ended at look ${looks}`)
  assert.ok(waited >= PROGRESS_MS_MAX, `${waited} ms`)
})
