/**
 * Rounds of background work by a clock of the test: when they run and rest, and the effects of a failure, a
 * wake-up, a stop and the role.
 */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { Chore, type ChoreOptions, type Rest } from '../../../src/chore.js'
import { CHORE_NAMES, type ChoreName, CHORES, type ChoreState } from '../../../src/chore_list.js'
import { CHORE_STANDBY_MS } from '../../../src/limits/lanes.js'
import { mayWriteUnasked, type Role, ROLES } from '../../../src/role.js'
import { ControlBlock } from '../../../src/wire/control_block.js'
import { StillClock } from '../../harness/chore_tools.js'

class Subject {
  readonly clock = new StillClock()
  readonly role: { role: Role } = { role: 'leader' }
  readonly counted: boolean[] = []
  readonly states: ChoreState[] = []
  /** Start time of each round. */
  readonly begun: number[] = []
  readonly chore: Chore

  constructor(round: () => Rest | Promise<Rest>, options: Partial<ChoreOptions> = {}) {
    const telemetry = {
      countRound: (_: ChoreName, __: number, isFailed: boolean) => void this.counted.push(isFailed),
      setChoreState: (_: ChoreName, state: ChoreState) => void this.states.push(state),
    }
    this.chore = new Chore(
      { role: this.role, telemetry, clock: this.clock },
      {
        name: 'health-watch',
        failure: 'not done',
        round: () => {
          this.begun.push(this.clock.now())
          return round()
        },
        ...options,
      },
    )
  }
}

describe('a chore', () => {
  it('chore: runs after its first rest, and then whenever the rest that a round has given is over', async () => {
    const rests: Rest[] = [100, 50, 'idle']
    const subject = new Subject(() => rests.shift() ?? 'idle', { first: 10 })
    subject.chore.start()
    await subject.clock.advance(1000)
    assert.deepEqual(subject.begun, [10, 110, 160])
    assert.equal(subject.chore.state, 'idle')
    assert.equal(subject.clock.nextAt, undefined)
  })

  it('chore: a commit wakes one that is idle, or whose rest commits end; never one that rests by itself or retries', async () => {
    const roundsWith = async (round: () => Rest, options: Partial<ChoreOptions>): Promise<readonly number[]> => {
      const subject = new Subject(round, { retry: { firstMs: 30_000, longestMs: 30_000 }, ...options })
      subject.chore.start()
      for (let second = 0; second < 3; second++) {
        await subject.clock.advance(1000)
        subject.chore.noteCommit()
      }
      await subject.clock.advance(1000)
      return subject.begun
    }
    const fails = (): Rest => {
      throw new Error('not now')
    }
    assert.deepEqual(await roundsWith(() => 'idle', { afterCommitMs: 500 }), [0, 1500, 2500, 3500])
    assert.deepEqual(await roundsWith(() => 'idle', {}), [0])
    assert.deepEqual(await roundsWith(() => 30_000, { afterCommitMs: 500 }), [0])
    assert.deepEqual(await roundsWith(() => 30_000, { afterCommitMs: 500, commitsEndRest: true }), [0, 1500, 2500, 3500])
    assert.deepEqual(await roundsWith(fails, { afterCommitMs: 500, commitsEndRest: true }), [0])
  })

  it('chore: a commit during a round counts after it, unless the round gives a rest or fails', async () => {
    for (const [rest, rounds] of [
      ['idle', [0, 500]],
      [30_000, [0]],
    ] as const) {
      // prettier-ignore
      let isFirst = true
      const subject: Subject = new Subject(
        () => {
          if (isFirst) subject.chore.noteCommit()
          isFirst = false
          return rest
        },
        { afterCommitMs: 500 },
      )
      subject.chore.start()
      await subject.clock.advance(10_000)
      assert.deepEqual(subject.begun, rounds)
    }
  })

  it('chore: a wake-up ends the rest, at once or after a delay, and never makes it longer', async () => {
    const subject = new Subject(() => 1000)
    subject.chore.start()
    await subject.clock.advance(100)
    subject.chore.wake()
    await subject.clock.advance(100)
    subject.chore.wake(300)
    subject.chore.wake(5000)
    await subject.clock.advance(1299)
    assert.deepEqual(subject.begun, [0, 100, 500])
    await subject.clock.advance(1)
    assert.deepEqual(subject.begun, [0, 100, 500, 1500])
  })

  it('chore: one that waits for its first wake-up runs by it, also where it came before the start', async () => {
    const late = new Subject(() => 'idle', { first: 'idle' })
    late.chore.start()
    await late.clock.advance(10_000)
    assert.deepEqual(late.begun, [])
    late.chore.wake()
    await late.clock.advance(0)
    assert.deepEqual(late.begun, [10_000])
    const early = new Subject(() => 'idle', { first: 'idle' })
    early.chore.wake()
    early.chore.start()
    await early.clock.advance(0)
    assert.deepEqual(early.begun, [0])
  })

  it('chore: rounds never overlap; a wake-up during a round brings another one after it', async () => {
    let finish = (): void => undefined
    const subject = new Subject(() => new Promise<Rest>((resolve) => (finish = () => resolve('idle'))))
    subject.chore.start()
    await subject.clock.advance(0)
    subject.chore.wake()
    subject.chore.wake()
    await subject.clock.advance(1000)
    assert.deepEqual(subject.begun, [0])
    finish()
    await subject.clock.advance(0)
    assert.deepEqual(subject.begun, [0, 1000])
    finish()
    await subject.clock.advance(1000)
    assert.deepEqual(subject.begun, [0, 1000])
  })

  it('chore: rounds never overlap where a round wakes its own chore before it waits for anything', async () => {
    const ends: (() => void)[] = []
    const subject: Subject = new Subject(() => {
      if (subject.begun.length === 1) subject.chore.wake()
      return new Promise<Rest>((resolve) => ends.push(() => resolve('idle')))
    })
    subject.chore.start()
    await subject.clock.advance(1000)
    assert.deepEqual(subject.begun, [0])
    ends[0]?.()
    await subject.clock.advance(1000)
    assert.deepEqual(subject.begun, [0, 1000])
    ends[1]?.()
    await subject.clock.advance(1000)
    assert.deepEqual([subject.begun, subject.chore.state], [[0, 1000], 'idle'])
  })

  it('chore: a round that fails is tried again after a rest that doubles up to its bound, and begins small after a success', async () => {
    let isFailing = true
    const round = (): Rest => {
      if (isFailing) throw new Error('no')
      return 5000
    }
    const subject = new Subject(round, { retry: { firstMs: 100, longestMs: 300 } })
    subject.chore.start()
    await subject.clock.advance(700)
    assert.deepEqual(subject.begun, [0, 100, 300, 600])
    assert.equal(subject.chore.state, 'retrying')
    isFailing = false
    await subject.clock.advance(200)
    assert.equal(subject.chore.state, 'resting')
    isFailing = true
    await subject.clock.advance(5100)
    assert.deepEqual(subject.begun.slice(4), [900, 5900, 6000])
    assert.deepEqual(subject.counted, [true, true, true, true, false, true, true])
  })

  it('chore: a wake-up ends the rest after a failure, also of a round that threw at once', async () => {
    const subject = new Subject(() => {
      throw new Error('no')
    })
    subject.chore.start()
    await subject.clock.advance(1)
    assert.equal(subject.begun.length, 1)
    subject.chore.wake()
    await subject.clock.advance(1)
    assert.equal(subject.begun.length, 2)
  })

  it('chore: stop aborts the signal of the running round, waits for it, and nothing runs afterwards', async () => {
    let finish = (): void => undefined
    let told: AbortSignal | undefined
    const round = (signal: AbortSignal): Promise<Rest> => {
      told = signal
      return new Promise((resolve) => (finish = () => resolve(0)))
    }
    const subject = new Subject(() => 0, { round })
    subject.chore.start()
    await subject.clock.advance(0)
    let isStopped = false
    const stopped = subject.chore.stop().then(() => (isStopped = true))
    await subject.clock.advance(1000)
    assert.deepEqual([isStopped, told?.aborted], [false, true])
    finish()
    await stopped
    subject.chore.wake()
    subject.chore.start()
    await subject.clock.advance(10_000)
    assert.deepEqual([subject.clock.nextAt, subject.chore.state, subject.counted.length], [undefined, 'stopped', 1])
  })

  it('chore: a stop before the start leaves nothing to run', async () => {
    const subject = new Subject(() => 0)
    await subject.chore.stop()
    subject.chore.start()
    await subject.clock.advance(1000)
    assert.deepEqual(subject.begun, [])
  })

  it('role: no chore of the list that writes unasked runs on a follower or over a data directory that is read only', async () => {
    for (const role of ROLES) {
      const ran: ChoreName[] = []
      const clock = new StillClock()
      const telemetry = { countRound: (name: ChoreName) => void ran.push(name), setChoreState: () => undefined }
      const chores = CHORE_NAMES.map((name) => new Chore({ role: { role }, telemetry, clock }, { name, failure: '', round: () => 'idle' }))
      for (const chore of chores) chore.start()
      await clock.advance(3 * CHORE_STANDBY_MS)
      for (const chore of chores) chore.wake()
      await clock.advance(0)
      const allowed = CHORE_NAMES.filter((name) => role === 'leader' || !CHORES[name].writesUnasked)
      assert.deepEqual([...new Set(ran)].sort(), [...allowed].sort(), role)
      assert.equal(mayWriteUnasked({ role }), role === 'leader')
      for (const chore of chores) if (!allowed.includes(chore.name)) assert.equal(chore.state, 'standby', chore.name)
    }
  })

  it('role: work that a follower deferred runs when it becomes the leader, and all threads share one role', async () => {
    const control = ControlBlock.create()
    assert.equal(control.role, 'leader')
    const ofAnotherThread = new ControlBlock(control.buffer)
    ofAnotherThread.role = 'follower'
    const clock = new StillClock()
    let rounds = 0
    const telemetry = { countRound: () => undefined, setChoreState: () => undefined }
    const chore = new Chore({ role: control, telemetry, clock }, { name: 'expiry', failure: '', round: () => (rounds++, 'idle') })
    chore.start()
    await clock.advance(10 * CHORE_STANDBY_MS)
    assert.equal(rounds, 0)
    ofAnotherThread.role = 'leader'
    await clock.advance(CHORE_STANDBY_MS)
    assert.equal(rounds, 1)
    await chore.stop()
  })
})
