/**
 * The I/O failure sweep: servers run one after the other on one directory. In each, under a load of writes
 * and chores, the n-th call of a kind fails. The server may refuse, answer 503 or end. Checked afterwards:
 *   - each request is answered or its connection ended in time
 *   - a server that continues is healthy, and one that is not healthy ends
 *   - acknowledged data is present
 *   - a start from the data on disk succeeds
 * A failure that the server survives needs no restart: the next one is armed in the same process. Used by
 * io_failure.test.ts and scripts/campaigns/io-failure.mjs.
 */
import { mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { Random } from '../../harness/random.js'
import { ANSWER_MS_MAX, NoAnswer, type Reply } from '../../harness/server/http_client.js'
import { ServerProcess } from '../../harness/server/server_process.js'
import { type ChoreOutcome, Chores } from '../load/chores.js'
import { Ledger } from '../load/ledger.js'
import { verifyStore } from '../load/verification.js'
import { COLLECTION, type LoadOutcome, WriteLoad } from '../load/write_load.js'
import { type Fault, FaultControl } from '../shim/fault_control.js'

/**
 * Maximum number of rounds until the failing call occurs: 300 writes are some ten rounds. Calls of rare kinds
 * do not occur within it, and the report says so.
 */
const ROUNDS_MAX = 12
const REQUESTS_PER_CLIENT = 8
/**
 * Full rounds, with calls of every chore, begin this many calls before the failing one. The calls before that
 * are made in the cheapest way, so that the failing call meets the same load at any n.
 */
const NEAR_CALLS = 64
/** Backups per round for calls of the kind `name`, which backups mostly consist of. */
const BACKUPS_FOR_NAMES = 6
/** Bytes of binlog kept, so that it is trimmed and copied quickly. */
const BINLOG_BYTES = String(16 << 20)
/**
 * A restore, by far the most expensive chore, runs once in this many rounds of the whole run. A failure is as
 * likely to occur in such a round as in one of the others.
 */
const RESTORE_EVERY = 3
/** A start follows after this many survived failures, so that each is near a start. */
const SURVIVED_MAX = 5
/** Characters shown of the end of a server's output. */
const OUTPUT_CHARS = 4000
const MASTER_KEY = Buffer.alloc(32, 7).toString('base64')
/** The names that a start may leave in the data directory, and in its folder of backups. */
const PERMITTED = /^(CURRENT|LOCK|RESERVE|backups|secrets\.key|gen-\d{6})$/

export interface PointReport {
  /** Calls of the kind up to the end, and how many of them failed: none if the run was too short. */
  readonly calls: number
  readonly hits: number
  /** The first failed call. */
  readonly hit: string
  /**
   * Whether the server ended itself. It must after a refused commit, because the content of its page cache is
   * unknown.
   */
  readonly serverEnded: boolean
  readonly acknowledged: number
  readonly refused: number
  readonly unanswered: number
  /** Requests that neither got an answer nor an end in time. */
  readonly hung: number
  /** One sentence each; empty if all guarantees hold. */
  readonly complaints: readonly string[]
}

export class FailureRun {
  readonly #scratch = mkdtempSync(path.join(tmpdir(), 'mds-io-failure-'))
  readonly #directory = path.join(this.#scratch, 'db')
  readonly #control = new FaultControl(path.join(this.#scratch, 'control'))
  readonly #environment: Readonly<Record<string, string>>
  readonly #ledger = new Ledger()
  readonly #load: WriteLoad
  readonly #chores: Chores
  #server!: ServerProcess
  #survived = 0
  #rounds = 0

  /** @param isSealed the collection is encrypted, and its keys are rotated */
  constructor(
    seed: number,
    readonly isSealed: boolean,
  ) {
    mkdirSync(this.#directory)
    const keys = isSealed ? { SVC_ENCRYPTION_KEY: MASTER_KEY } : {}
    this.#environment = { ...this.#control.environment(this.#directory), ...keys, SVC_BINLOG_MAX_SIZE: BINLOG_BYTES }
    this.#load = new WriteLoad(seed, this.#ledger)
    this.#chores = new Chores(this.#directory, new Random(seed + 1), isSealed)
  }

  /**
   * Ends with a collection that exists: the first point may begin with exports, which refuse an absent one.
   */
  async begin(): Promise<void> {
    this.#server = await ServerProcess.start(this.#directory, this.#environment)
    if (this.isSealed) {
      const sealed = await this.#server.client.send(
        'PUT',
        '/v1/collection-config',
        JSON.stringify({ collection: COLLECTION, encrypted: true }),
      )
      if (sealed.status !== 200) throw new Error(`the collection is not sealed: ${JSON.stringify(sealed.body)}`)
    }
    const { refused, unanswered } = await this.#load.run(this.#server.client, REQUESTS_PER_CLIENT)
    if (refused.size > 0 || unanswered > 0) throw new Error(`the first writes failed: ${this.#server.output.slice(-OUTPUT_CHARS)}`)
  }

  /** Checks all acknowledged data once more, in a process without the shim. */
  async end(): Promise<readonly string[]> {
    await this.#server.kill()
    const keys = this.isSealed ? { SVC_ENCRYPTION_KEY: MASTER_KEY } : {}
    this.#server = await ServerProcess.start(this.#directory, keys)
    const complaints = await this.#verify().finally(() => this.#server.kill())
    this.remove()
    return complaints
  }

  /** Ends without checking the server, after an error of the run itself. */
  async abandon(): Promise<string> {
    await this.#server.kill()
    return this.#directory
  }

  remove(): void {
    this.#control.close()
    rmSync(this.#scratch, { recursive: true, force: true })
  }

  /** A call fails while the server is running. */
  async failUnderLoad(fault: Fault): Promise<PointReport> {
    this.#control.arm(fault)
    const writes: LoadOutcome = { acknowledged: 0, unanswered: 0, hung: 0, refused: new Map() }
    const chores: ChoreOutcome = { done: 0, refused: 0, unanswered: 0, hung: 0, complaints: [] }
    await this.#approach(fault, writes, chores)
    for (let round = 0; round < ROUNDS_MAX && !this.#server.ended && this.#control.state().hits === 0; round++) {
      const [outcome] = await Promise.all([
        this.#load.run(this.#server.client, REQUESTS_PER_CLIENT),
        this.#chores.beside(this.#server.client, chores, fault.kind === 'name' ? BACKUPS_FOR_NAMES : 2),
      ])
      addTo(writes, outcome)
      await this.#chores.alone(this.#server.client, chores, fault.kind === 'truncate' || this.#rounds++ % RESTORE_EVERY === 0)
    }
    const state = this.#control.state()
    this.#control.disarm()
    const complaints = [...chores.complaints]
    const refused = [...writes.refused.values()].reduce((sum, count) => sum + count, chores.refused)
    if (state.hits === 0 && (refused > 0 || this.#server.ended)) complaints.push('something was refused though nothing failed')
    const serverEnded = await this.#endOrWell(complaints)
    complaints.push(...(await this.#recover(serverEnded, state.hits > 0)))
    return {
      ...state,
      serverEnded,
      acknowledged: writes.acknowledged + chores.done,
      refused,
      unanswered: writes.unanswered + chores.unanswered,
      hung: writes.hung + chores.hung,
      complaints,
    }
  }

  /**
   * Runs until the failing call is near. Writes alone produce the calls of writing; backups and exports alone
   * produce those on names.
   */
  async #approach({ kind, at, only }: Fault, writes: LoadOutcome, chores: ChoreOutcome): Promise<void> {
    if (only !== undefined || kind === 'truncate') return
    for (let last = -1; ;) {
      const { calls } = this.#control.state()
      if (calls >= at - NEAR_CALLS || calls === last || this.#server.ended) return
      last = calls
      if (kind === 'name') await this.#chores.copies(this.#server.client, chores, BACKUPS_FOR_NAMES)
      else addTo(writes, await this.#load.run(this.#server.client, REQUESTS_PER_CLIENT))
    }
  }

  /** A call fails while the server starts: the server starts anyway, or reports the reason and ends. */
  async failAtStart(fault: Fault): Promise<PointReport> {
    await this.#server.kill()
    this.#control.arm(fault)
    const complaints: string[] = []
    const begun = Date.now()
    let serverEnded = false
    try {
      this.#server = await ServerProcess.start(this.#directory, this.#environment)
    } catch (cause) {
      serverEnded = true
      if (!/can't start|fatal|storage failure/.test(String(cause)))
        complaints.push(`a start ended without a word: ${String(cause).slice(-300)}`)
    }
    const hung = serverEnded && Date.now() - begun > ANSWER_MS_MAX ? 1 : 0
    const state = this.#control.state()
    this.#control.disarm()
    if (serverEnded && state.hits === 0) complaints.push('a start was refused though nothing failed')
    if (!serverEnded) serverEnded = await this.#endOrWell(complaints)
    complaints.push(...(await this.#recover(serverEnded, true)))
    return { ...state, serverEnded, acknowledged: 0, refused: 0, unanswered: 0, hung, complaints }
  }

  /**
   * Checks that health and behaviour agree. With 200 the server accepts writes and its index reaches the
   * disk; otherwise it is unhealthy and ends.
   * @returns whether it has ended
   */
  async #endOrWell(complaints: string[]): Promise<boolean> {
    const deadline = Date.now() + ANSWER_MS_MAX
    while (!this.#server.ended && Date.now() < deadline) {
      try {
        const health = await this.#server.client.send('GET', '/health')
        if (health.status === 200 && !warningsOf(health).includes('index_not_stored')) {
          const probe = { collection: 'probes', key: 'probe', lang: 'en', contentMd: 'probe' }
          const { status, body } = await this.#server.client.post('/v1/add', probe)
          if (status === 200) return false
          // Health may have changed between the two requests.
          if (status !== 503) complaints.push(`healthy, and a write answers ${status} ${JSON.stringify(body)}`)
        }
      } catch (cause) {
        if (!(cause instanceof NoAnswer)) throw cause
        if (cause.hung) complaints.push('no answer to a question about health')
      }
      await new Promise((resolve) => setTimeout(resolve, 5))
    }
    if (!this.#server.ended) complaints.push(`neither well nor ended after ${ANSWER_MS_MAX} ms`)
    return this.#server.ended
  }

  async #recover(serverEnded: boolean, wasHit: boolean): Promise<readonly string[]> {
    const leftovers: string[] = []
    if (serverEnded || ++this.#survived >= SURVIVED_MAX) {
      await this.#server.kill()
      this.#server = await ServerProcess.start(this.#directory, this.#environment)
      this.#survived = 0
      const names = readdirSync(this.#directory).filter((name) => !PERMITTED.test(name))
      const generations = readdirSync(this.#directory).filter((name) => name.startsWith('gen-'))
      const unfinished = readdirSync(path.join(this.#directory, 'backups')).filter((name) => name.startsWith('.'))
      const left = [...names, ...unfinished, ...generations.slice(1)]
      if (left.length > 0) leftovers.push(`left behind: ${left.join(', ')}`)
    }
    return wasHit ? [...leftovers, ...(await this.#verify())] : leftovers
  }

  /** Includes the server's output, which alone gives the reason of a 500. */
  async #verify(): Promise<readonly string[]> {
    const { complaints, found } = await verifyStore(this.#server.client, this.#ledger).catch((cause: unknown) => {
      throw new Error(`the store can not be looked at: ${this.#server.output.slice(-OUTPUT_CHARS)}`, { cause })
    })
    for (const [key, state] of found) this.#ledger.observe(key, state)
    return [...complaints, ...(await this.#chores.verify(this.#server.client))]
  }
}

function warningsOf({ body }: Reply): readonly string[] {
  return (body as { readonly persistence: { readonly warnings: readonly { readonly code: string }[] } }).persistence.warnings.map(
    ({ code }) => code,
  )
}

function addTo(sum: LoadOutcome, outcome: LoadOutcome): void {
  sum.acknowledged += outcome.acknowledged
  sum.unanswered += outcome.unanswered
  sum.hung += outcome.hung
  for (const [status, count] of outcome.refused) sum.refused.set(status, (sum.refused.get(status) ?? 0) + count)
}
