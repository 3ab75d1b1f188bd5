/**
 * The threads of the server that can be profiled, and the one profile that may be under way. A thread that
 * does not answer in time, or ends, fails its profile. Front-end thread only.
 */
import type { MessagePort } from 'node:worker_threads'
import { PROFILE_LATE_MS_MAX } from '../limits/process.js'
import type { NumberedAsk, ProfileAsk, ProfileMade } from '../telemetry/profile_messages.js'

/** `busy`: another profile is under way. `unknown`: there is no such thread. */
type ProfileOutcome = Uint8Array | 'busy' | 'unknown' | 'late' | { readonly failure: string }

/** Kinds of which there are several threads: their names have numbers. */
const NUMBERED = new Set(['read', 'http'])

export class ProfiledThreads {
  readonly #ports = new Map<string, MessagePort>()
  #lastNumber = 0
  /** Ends the profile that is under way. */
  #settle: ((outcome: ProfileOutcome) => void) | undefined

  get names(): readonly string[] {
    return [...this.#ports.keys()].sort()
  }

  /**
   * @param kind `main`, `http`, or the kind of the lane; a thread that takes over gets the name that is free
   */
  add(kind: string, port: MessagePort): void {
    const name = NUMBERED.has(kind) ? this.#freeName(kind) : kind
    this.#ports.set(name, port)
    port.on('close', () => {
      if (this.#ports.get(name) === port) this.#ports.delete(name)
    })
    port.unref()
  }

  /** @param thread one of `names` */
  profile(thread: string, ask: ProfileAsk): Promise<ProfileOutcome> {
    const port = this.#ports.get(thread)
    if (port === undefined) return Promise.resolve('unknown')
    if (this.#settle !== undefined) return Promise.resolve('busy')
    const number = ++this.#lastNumber
    return new Promise((resolve) => {
      const settle = (outcome: ProfileOutcome): void => {
        clearTimeout(late)
        port.off('message', take)
        port.off('close', onEnd)
        port.unref()
        this.#settle = undefined
        resolve(outcome)
      }
      const take = (made: ProfileMade): void => {
        if (made.number === number) settle('body' in made ? made.body : { failure: made.error })
      }
      const onEnd = (): void => settle({ failure: 'the thread has ended' })
      const msMax = (ask.kind === 'cpu' ? ask.seconds * 1000 : 0) + PROFILE_LATE_MS_MAX
      const late = setTimeout(() => settle('late'), msMax)
      this.#settle = settle
      port.on('message', take)
      port.on('close', onEnd)
      port.postMessage({ number, ...ask } satisfies NumberedAsk)
    })
  }

  /** For the shutdown: nobody waits for the profile that is under way any more. */
  stop(): void {
    this.#settle?.({ failure: 'the server is shutting down' })
  }

  #freeName(kind: string): string {
    for (let number = 1; ; number++) if (!this.#ports.has(`${kind}-${number}`)) return `${kind}-${number}`
  }
}
