/**
 * Profiles the thread that it runs in, when the front end asks for it on a port: one CPU profile at a time,
 * or what the heap has now. The heap is sampled from the start of the thread on, as only allocations that
 * were seen can be shown. Loaded only with `SVC_PPROF_ENABLED`.
 */
import { Session } from 'node:inspector/promises'
import { setTimeout as waitFor } from 'node:timers/promises'
import type { MessagePort } from 'node:worker_threads'
import { PROFILE_HEAP_SAMPLE_BYTES, PROFILE_SAMPLE_US } from '../limits/process.js'
import { cpuToPprof, heapToPprof } from './pprof.js'
import type { NumberedAsk, ProfileAsk, ProfileMade } from './profile_messages.js'

/** Frames of a stack in a heap profile. V8's default. */
const PROFILE_STACK_FRAMES_MAX = 128

/** The port does not keep the thread alive. */
export async function serveProfiles(port: MessagePort): Promise<void> {
  const profiler = await ThreadProfiler.start()
  port.on('message', (ask: NumberedAsk) => void answer(port, profiler, ask))
  port.unref()
}

async function answer(port: MessagePort, profiler: ThreadProfiler, { number, ...ask }: NumberedAsk): Promise<void> {
  try {
    const body = await profiler.profile(ask)
    port.postMessage({ number, body } satisfies ProfileMade)
  } catch (error) {
    port.postMessage({ number, error: error instanceof Error ? error.message : String(error) } satisfies ProfileMade)
  }
}

class ThreadProfiler {
  readonly #session: Session
  #isRunning = false

  private constructor(session: Session) {
    this.#session = session
  }

  static async start(): Promise<ThreadProfiler> {
    const session = new Session()
    session.connect()
    await session.post('Profiler.enable')
    await session.post('Profiler.setSamplingInterval', { interval: PROFILE_SAMPLE_US })
    const sampling = { samplingInterval: PROFILE_HEAP_SAMPLE_BYTES, stackDepth: PROFILE_STACK_FRAMES_MAX }
    await session.post('HeapProfiler.startSampling', sampling)
    return new ThreadProfiler(session)
  }

  async profile({ kind, format, seconds }: ProfileAsk): Promise<Uint8Array> {
    const startedAt = Date.now()
    if (kind === 'heap') {
      const { profile } = await this.#session.post('HeapProfiler.getSamplingProfile')
      return format === 'v8' ? jsonOf(profile) : heapToPprof(profile, startedAt)
    }
    if (this.#isRunning) throw new Error('a profile of the thread is under way')
    this.#isRunning = true
    try {
      await this.#session.post('Profiler.start')
      await waitFor(seconds * 1000, undefined, { ref: false })
      const { profile } = await this.#session.post('Profiler.stop')
      return format === 'v8' ? jsonOf(profile) : cpuToPprof(profile, startedAt)
    } finally {
      this.#isRunning = false
    }
  }
}

function jsonOf(profile: unknown): Uint8Array {
  return Buffer.from(JSON.stringify(profile))
}
