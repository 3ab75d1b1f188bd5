/**
 * Flips one bit of a closed store, starts a server over it, sends all requests, writes to part of it and
 * sends them again. Invariants: every answer is correct, an error or an absence; nothing is changed or
 * deleted without a request; and the flip is harmless, or reported by the server or by `mds doctor`.
 */
import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Random } from '../../harness/random.js'
import { runToEnd, type Server, startServer } from '../../harness/server/server.js'
import { type Answer, askAll, type Question, questions, showsAnother, withoutTimes } from './flip_questions.js'
import { documentOf, FlipStore } from './flip_store.js'
import { type Targets, targetsOf } from './flip_targets.js'

/**
 * `ended`: a signal ended the server, because LMDB trusts its pages; its supervisor prints one line about it.
 * `unreported`: data is missing without a report. `wrong`: an answer with other data, a change without a
 * request, a server that hangs, or one that exits without a line that gives the reason.
 */
export const OUTCOMES = ['harmless', 'reported', 'ended', 'unreported', 'wrong'] as const
export type Outcome = (typeof OUTCOMES)[number]

export interface FlipReport {
  readonly kind: string
  /** Position in the file. */
  readonly byte: number
  readonly bit: number
  readonly outcome: Outcome
  /** What reported it. */
  readonly by: string
  readonly notes: readonly string[]
}

type Answers = ReadonlyMap<string, Answer>

interface Write {
  readonly path: string
  readonly body: { readonly collection: string; readonly key?: string; readonly lang?: string }
}

const TRUTH = path.join('gen-000001', 'truth.mdb')
const CLI = fileURLToPath(new URL('../../../../bin/mds.mjs', import.meta.url))
/** A flip takes some seconds to check; one that hangs the server is wrong. */
const FLIP_MS_MAX = 90_000
const NOTES_MAX = 6
const NOTE_CHARACTERS_MAX = 300
const TELLS = /corrupt|damage|checksum|not whole|can't start|can't read/iu

const VERSION_WRITTEN = 9
const WRITES: readonly Write[] = [
  ...['alpha', 'sealed'].flatMap((collection) => [
    { path: '/v1/add', body: { collection, ...documentOf(collection, 'doc-3', VERSION_WRITTEN) } },
    { path: '/v1/delete', body: { collection, key: 'doc-5', lang: 'en' } },
    { path: '/v1/add', body: { collection, ...documentOf(collection, 'doc-900', VERSION_WRITTEN) } },
  ]),
  { path: '/v1/delete-collection', body: { collection: 'gone' } },
]
const WRITTEN = new Set(WRITES.map(({ body }) => body.collection))

export class FlipRun {
  readonly #scratch: string
  readonly #store: FlipStore
  readonly #questions: readonly Question[]
  readonly #bytes: Buffer
  readonly targets: Targets
  #before: Answers = new Map()
  #after: Answers = new Map()
  #copies = 0

  private constructor(scratch: string, store: FlipStore) {
    this.#scratch = scratch
    this.#store = store
    this.#questions = questions(store.jobs)
    this.#bytes = readFileSync(path.join(store.directory, TRUTH))
    this.targets = targetsOf(this.#bytes)
  }

  static async begin(): Promise<FlipRun> {
    const scratch = mkdtempSync(path.join(tmpdir(), 'mds-flips-'))
    const run = new FlipRun(scratch, await FlipStore.make(path.join(scratch, 'whole')))
    const server = await startServer({ directory: run.#copy(), env: run.#store.env })
    try {
      run.#before = await askAll(server, run.#questions)
      for (const [name, { status, text }] of run.#before) if (status !== 200) throw new Error(`${name}: ${status} ${text}`)
      for (const { path: to, body } of WRITES) {
        const { status, text } = await server.post(to, body)
        if (status !== 200) throw new Error(`${to}: ${status} ${text}`)
      }
      run.#after = await askAll(server, run.#questions)
      if (TELLS.test(server.output())) throw new Error(server.output())
    } finally {
      await server.stop()
    }
    return run
  }

  async end(): Promise<void> {
    await this.#store.close()
    rmSync(this.#scratch, { recursive: true, force: true })
  }

  /** Flips a random bit of the kind. */
  async flip(kind: string, random: Random): Promise<FlipReport> {
    const range = random.pick(this.targets.get(kind) ?? [])
    const byte = range.at + random.below(range.length)
    return await this.flipAt(kind, byte, random.below(8))
  }

  async flipAt(kind: string, byte: number, bit: number): Promise<FlipReport> {
    const directory = this.#copy()
    const bytes = Buffer.from(this.#bytes)
    bytes.writeUInt8(bytes.readUInt8(byte) ^ (1 << bit), byte)
    writeFileSync(path.join(directory, TRUTH), bytes)
    const look = new Look()
    await this.#look(directory, look)
    // Restores the flipped file, because the server has written since.
    if (look.outcome === 'unreported') {
      writeFileSync(path.join(directory, TRUTH), bytes)
      look.askDoctor(directory, this.#store.env)
    }
    rmSync(directory, { recursive: true, force: true })
    const { wrong, missing, reports } = look
    const notes = [...wrong, ...missing].slice(0, NOTES_MAX).map((note) => note.slice(0, NOTE_CHARACTERS_MAX))
    return { kind, byte, bit, outcome: look.outcome, by: (reports[0] ?? '').slice(0, NOTE_CHARACTERS_MAX), notes }
  }

  #copy(): string {
    const directory = path.join(this.#scratch, `copy-${this.#copies++}`)
    mkdirSync(directory)
    cpSync(this.#store.directory, directory, { recursive: true })
    return directory
  }

  async #look(directory: string, look: Look): Promise<void> {
    const { env } = this.#store
    let server: Server
    try {
      server = await startServer({ directory, env })
    } catch {
      look.refusal(await runToEnd({ directory, env }))
      return
    }
    const late = setTimeout(() => {
      look.wrong.push('the server hangs')
      void server.kill()
    }, FLIP_MS_MAX)
    try {
      look.first(this.#questions, await askAll(server, this.#questions), this.#before)
      const refused = new Set<string>()
      for (const { path: to, body } of WRITES) {
        const { status, text } = await server.post(to, body)
        look.reply(to, status, text)
        if (status !== 200) refused.add(body.collection)
      }
      look.second(this.#questions, await askAll(server, this.#questions), this.#before, this.#after, refused)
      const health = await server.get('/v1/health')
      if (!/"warnings":\[\]/u.test(health.text)) look.reports.push(`health: ${health.text}`)
    } catch (cause) {
      look.failure = cause
    } finally {
      const code = await server.stop()
      clearTimeout(late)
      look.end(code, server.output())
    }
  }
}

class Look {
  readonly wrong: string[] = []
  readonly missing: string[] = []
  readonly reports: string[] = []
  /** The reason why not all requests were sent. */
  failure: unknown
  /** Whether a signal ended the server. */
  hasEnded = false

  get outcome(): Outcome {
    if (this.wrong.length > 0) return 'wrong'
    if (this.hasEnded) return 'ended'
    if (this.reports.length > 0) return 'reported'
    return this.missing.length > 0 ? 'unreported' : 'harmless'
  }

  refusal({ code, output }: { readonly code: number | null; readonly output: string }): void {
    const line = output.split('\n').find((one) => one.includes("can't start: "))
    if (code === 2 && line !== undefined) this.reports.push(`start: ${line}`)
    else if (code === null && !output.includes('ready on')) this.hasEnded = true
    else this.wrong.push(`the start ends with ${code}: ${output}`)
  }

  /** @param code null after a signal */
  end(code: number | null, output: string): void {
    this.output(output)
    const last = output.trim().split('\n').at(-1) ?? ''
    if (code === null) this.hasEnded = true
    else if (code > 0 && TELLS.test(last)) this.reports.push(`end: ${last}`)
    else if (code > 0 || this.failure !== undefined)
      this.wrong.push(`ended with ${code}, ${String(this.failure)}: ${output.slice(-NOTE_CHARACTERS_MAX)}`)
  }

  output(text: string): void {
    const line = text.split('\n').find((one) => TELLS.test(one))
    if (line !== undefined) this.reports.push(`log: ${line}`)
  }

  reply(name: string, status: number, text: string): void {
    if (status < 500) return
    if (TELLS.test(text)) this.reports.push(`${name}: ${text}`)
    else this.missing.push(`${name}: ${status} ${text}`)
  }

  first(all: readonly Question[], answers: Answers, before: Answers): void {
    for (const question of all) {
      const { status, text, items } = answerOf(answers, question)
      this.#common(question, status, text)
      const right = answerOf(before, question).items
      for (const [name, item] of items) if (item !== right.get(name)) this.#differs(question, name, item, right.get(name))
      for (const name of right.keys()) if (!items.has(name)) this.missing.push(`${question.name}: no ${name} (${status})`)
    }
  }

  /** @param refused collections in which some writes were refused */
  second(all: readonly Question[], answers: Answers, before: Answers, after: Answers, refused: ReadonlySet<string>): void {
    for (const question of all) {
      const { status, text, items } = answerOf(answers, question)
      this.#common(question, status, text)
      if (!question.isOfDocuments && (question.collection === undefined || WRITTEN.has(question.collection))) continue
      const [old, next] = [before, after].map((one) => answerOf(one, question).items) as [Answer['items'], Answer['items']]
      for (const [name, item] of items) {
        if (question.path === '/v1/stats' && WRITTEN.has(name)) continue
        const isPermitted = [next.get(name), ...(isTouched(question, name) || refused.has(collectionOf(name)) ? [old.get(name)] : [])]
          .filter((one) => one !== undefined)
          .some((one) => withoutTimes(one) === withoutTimes(item))
        // Writes to a document that was missing before.
        const isWritten = isTouched(question, name) && item.includes(`in version ${VERSION_WRITTEN}`)
        if (!isPermitted && !isWritten) this.#differs(question, `${name} after writes`, item, next.get(name))
      }
      for (const name of next.keys())
        if (!items.has(name) && !isTouched(question, name)) this.missing.push(`${question.name}: no ${name} after writes (${status})`)
    }
  }

  askDoctor(directory: string, env: Readonly<Record<string, string>>): void {
    const { status, stdout, stderr } = spawnSync(process.execPath, [CLI, 'doctor', '--db', directory], {
      env: { ...process.env, ...env },
      encoding: 'utf8',
    })
    if (status === 1) this.reports.push(`doctor: ${stdout}${stderr}`)
    else this.missing.push(`doctor ${status}: ${stdout}${stderr}`)
  }

  #common(question: Question, status: number, text: string): void {
    this.reply(question.name, status, text)
    if (status < 500 && showsAnother(question, text)) this.wrong.push(`${question.name}: shows another's: ${text}`)
  }

  #differs(question: Question, name: string, item: string, right: string | undefined): void {
    const line = `${question.name}: ${name} is ${item}, not ${right}`
    // A number or a list over all documents differs if one is missing, which must be reported.
    if (question.isOfDocuments && question.path !== '/v1/stats') this.wrong.push(line)
    else this.missing.push(line)
  }
}

function answerOf(answers: Answers, { name }: Question): Answer {
  return answers.get(name) ?? { status: 0, text: '', items: new Map() }
}

function collectionOf(id: string): string {
  return id.split('|')[0] as string
}

function isTouched({ collection, key, path: of }: Question, name: string): boolean {
  return WRITES.some(({ body }) => {
    if (body.key === undefined) return body.collection === collection || body.collection === name
    if (key !== undefined) return collection === body.collection && key === body.key
    return name === `${body.collection}|${body.key}|en` || (of === '/v1/stats' && name === body.collection)
  })
}
