/** The ordered list of services: started in order, stopped in reverse, and stopped during the start. */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { service, Services, sideBySide } from '../../../src/services.js'

function recorded(steps: string[], name: string): ReturnType<typeof service> {
  return service(name, { start: () => void steps.push(`start ${name}`), stop: () => void steps.push(`stop ${name}`) })
}

it('services: start in order, one after the other, and stop in reverse', async () => {
  const steps: string[] = []
  const services = new Services([recorded(steps, 'one'), service('none', {}), recorded(steps, 'two')])
  await services.start()
  await services.stop()
  assert.deepEqual(steps, ['start one', 'start two', 'stop two', 'stop one'])
})

it('services: those side by side begin their stops together, and the one before them waits for all', async () => {
  const steps: string[] = []
  let finish = (): void => undefined
  const slow = service('slow', {
    stop: async () => {
      steps.push('slow begins')
      await new Promise<void>((resolve) => (finish = resolve))
      steps.push('slow ends')
    },
  })
  const services = new Services([recorded(steps, 'before'), sideBySide('both', [slow, recorded(steps, 'quick')])])
  const stopped = services.stop()
  await Promise.resolve()
  await Promise.resolve()
  assert.deepEqual(steps, ['slow begins', 'stop quick'])
  finish()
  await stopped
  assert.deepEqual(steps.slice(2), ['slow ends', 'stop before'])
})

it('services: a stop during the start stops every one, and those behind the one that was starting never start', async () => {
  const steps: string[] = []
  let finish = (): void => undefined
  const slow = service('slow', {
    start: () => new Promise<void>((resolve) => (finish = resolve)),
    stop: () => void steps.push('stop slow'),
  })
  const services = new Services([slow, recorded(steps, 'late')])
  const started = services.start()
  await services.stop()
  finish()
  await started
  assert.deepEqual(steps, ['stop late', 'stop slow'])
})
