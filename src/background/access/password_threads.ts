/**
 * Hashes of passwords, made in threads of their own. Logins and changes of accounts have a bounded queue each
 * and take turns, so that a flood of either doubles the wait of the other, and refuses nothing of it. A queue
 * is first come, first served: an attacker who sends logins gets its share of one slow thread, and no more.
 * The threads start with the first hash. Front-end thread only.
 */
import { availableParallelism } from 'node:os'
import { Worker } from 'node:worker_threads'
import { programPath } from '../../base/installation.js'
import { serviceError } from '../../errors.js'
import { log } from '../../telemetry/log.js'

/** Hashes at a time, on machines with more than two cores; otherwise one. */
const PASSWORD_THREADS_MAX = 2
/** Logins that wait for a hash: 6 s of work of one thread, 12 s beside changes. */
const PASSWORDS_WAITING_MAX = 32
/** New and old passwords that wait for a hash, in a queue of their own. */
const CHANGES_WAITING_MAX = 32

/** A password to be hashed, or, with the hash of another one, to be compared. */
export interface HashRequest {
  readonly password: string
  readonly hash: string | null
}

/** `workerData` of the thread: the cost of new hashes. */
export interface HashStart {
  readonly cost: number
}

/** The hash, or whether the password is the one of the hash. */
export type HashResult = string | boolean

interface Waiting {
  readonly request: HashRequest
  readonly resolve: (result: HashResult) => void
  readonly reject: (error: Error) => void
}

/** What a hash is for. */
export type HashQueue = 'login' | 'change'

const WAITING_MAX: Readonly<Record<HashQueue, number>> = { login: PASSWORDS_WAITING_MAX, change: CHANGES_WAITING_MAX }

const NO_THREAD = 'a thread that hashes passwords has ended, or could not be started'

/** Above this number of cores, there are two threads. */
const CORES_FOR_ONE = 2

export class PasswordThreads {
  readonly #threadsMax = availableParallelism() > CORES_FOR_ONE ? PASSWORD_THREADS_MAX : 1
  readonly #queues: Readonly<Record<HashQueue, Waiting[]>> = { login: [], change: [] }
  /** The queue that is served next, if something waits in it. */
  #turn: HashQueue = 'login'
  readonly #idle: Worker[] = []
  readonly #busy = new Map<Worker, Waiting>()
  #isClosed = false

  /**
   * @param cost of new hashes; that of a hash which is compared is its own
   * @param onFull told when the queue of logins becomes full, and when it has space again
   */
  constructor(
    readonly cost: number,
    readonly onFull: (isFull: boolean) => void = () => undefined,
  ) {}

  /** @returns false if the queue is full: the request must be refused */
  hasSpace(queue: HashQueue): boolean {
    return this.#queues[queue].length < WAITING_MAX[queue]
  }

  /**
   * @returns the bcrypt hash, with a salt of its own
   * @throws ServiceError `overloaded`, also from `matches`: no thread could make it
   */
  async hash(password: string): Promise<string> {
    return (await this.#run('change', { password, hash: null })) as string
  }

  /** The time does not depend on where the password differs. */
  async matches(queue: HashQueue, password: string, hash: string): Promise<boolean> {
    return (await this.#run(queue, { password, hash })) as boolean
  }

  async close(): Promise<void> {
    this.#isClosed = true
    for (const queue of Object.values(this.#queues)) for (const { reject } of queue.splice(0)) reject(serviceError('shuttingDown'))
    await Promise.all([...this.#idle, ...this.#busy.keys()].map((worker) => worker.terminate()))
  }

  #run(queue: HashQueue, request: HashRequest): Promise<HashResult> {
    return new Promise((resolve, reject) => {
      this.#queues[queue].push({ request, resolve, reject })
      this.#next()
      if (!this.hasSpace('login')) this.onFull(true)
    })
  }

  #next(): void {
    const { login, change } = this.#queues
    if (login.length + change.length === 0 || this.#isClosed) return
    const worker = this.#idle.pop() ?? (this.#busy.size < this.#threadsMax ? this.#start() : undefined)
    if (worker === undefined) return this.#refuseIfStuck()
    const isFull = !this.hasSpace('login')
    const served = this.#queues[this.#turn].length > 0 ? this.#turn : other(this.#turn)
    this.#turn = other(served)
    const waiting = this.#queues[served].shift()!
    if (isFull && this.hasSpace('login')) this.onFull(false)
    this.#busy.set(worker, waiting)
    worker.postMessage(waiting.request)
  }

  /** Nothing waits where no thread is at work: the next request tries to start one again. */
  #refuseIfStuck(): void {
    if (this.#busy.size > 0) return
    const isFull = !this.hasSpace('login')
    for (const queue of Object.values(this.#queues)) for (const { reject } of queue.splice(0)) reject(serviceError('overloaded'))
    if (isFull) this.onFull(false)
  }

  /** Undefined: the system has no thread or no descriptor left. */
  #start(): Worker | undefined {
    let worker: Worker
    try {
      worker = new Worker(programPath('password_hashing'), { workerData: { cost: this.cost } satisfies HashStart })
    } catch (error) {
      log.error(NO_THREAD, { fault: error })
      return undefined
    }
    worker.unref()
    worker.on('message', (result: HashResult) => {
      this.#busy.get(worker)?.resolve(result)
      this.#busy.delete(worker)
      this.#idle.push(worker)
      this.#next()
    })
    worker.on('error', (error) => log.error(NO_THREAD, { fault: error }))
    worker.on('exit', () => {
      this.#busy.get(worker)?.reject(serviceError('overloaded'))
      this.#busy.delete(worker)
      const at = this.#idle.indexOf(worker)
      if (at >= 0) this.#idle.splice(at, 1)
      this.#next()
    })
    return worker
  }
}

function other(queue: HashQueue): HashQueue {
  return queue === 'login' ? 'change' : 'login'
}
