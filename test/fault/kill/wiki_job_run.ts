/**
 * Kills the process again and again during imports of wikis as jobs: while a dump is sent, at random moments
 * between batches, and as soon as a start is ready. Each start goes on where the record says. At the end of
 * each job every page is stored exactly once, and the counters are those of one run. Used by wiki_job.test.ts
 * (few kills) and scripts/campaigns/wiki-kill.mjs (many).
 */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { untilAsked } from '../../harness/process/until.js'
import { Random } from '../../harness/random.js'
import { type Server, startServer } from '../../harness/server/server.js'
import { dumpXml, pageOf } from '../../harness/wiki_dumps.js'
import { documentsIn, dumpFiles, dumpReaders, endedJob, importWiki, type WikiJob, wikiJob } from '../../harness/wiki_imports.js'

const PAGES = 3000
/** Every seventh page leaves no document. */
const isEmpty = (index: number): boolean => index % 7 === 3
const EMPTY = Array.from({ length: PAGES }, (_, index) => index).filter(isEmpty).length
const textOf = (index: number): string => `Text of page ${index}. `.repeat(40).trim()
const DUMP = dumpXml(Array.from({ length: PAGES }, (_, index) => pageOf(`Page ${index}`, isEmpty(index) ? '{{x}}' : textOf(index))))

/** Pages from one kill to the next, at most. */
const PAGES_BETWEEN_MAX = 400
/** From what a look at the record has shown to the kill: some batches. */
const KILL_MS_MAX = 40
/** From the first byte of a dump to the kill: about what its submission takes. */
const SUBMIT_MS_MAX = 60
/** Requests at once while pages are looked at. */
const LOOKS_AT_ONCE = 16

export interface WikiKillReport {
  readonly kills: { readonly sending: number; readonly running: number; readonly starting: number }
  readonly jobs: number
  /** Of all jobs, each found once. */
  readonly pages: number
  /** Pages that were stored between the last look at a record and the kill, maximum. */
  readonly unseenMax: number
  readonly restartMsMax: number
}

/** @param tell is called after each kill with one line of progress */
export async function runWikiKills(seed: number, kills: number, tell: (line: string) => void = () => undefined): Promise<WikiKillReport> {
  const run = new WikiKills(seed, kills, tell)
  try {
    await run.run()
  } catch (error) {
    throw new Error(`seed ${seed}, ${JSON.stringify(run.report)}: ${(error as Error).message}`, { cause: error })
  } finally {
    await run.end()
  }
  return run.report
}

class WikiKills {
  readonly #random: Random
  readonly #directory = mkdtempSync(join(tmpdir(), 'mds-wiki-kill-'))
  #server!: Server
  readonly #counts = { sending: 0, running: 0, starting: 0 }
  #jobs = 0
  #unseenMax = 0
  #restartMsMax = 0

  constructor(
    seed: number,
    readonly kills: number,
    readonly tell: (line: string) => void,
  ) {
    this.#random = new Random(seed)
  }

  get report(): WikiKillReport {
    const shared = { jobs: this.#jobs, pages: this.#jobs * PAGES, unseenMax: this.#unseenMax, restartMsMax: Math.round(this.#restartMsMax) }
    return { kills: { ...this.#counts }, ...shared }
  }

  async run(): Promise<void> {
    this.#server = await startServer({ directory: this.#directory })
    while (this.#left > 0) {
      const collection = `wiki-${this.#jobs}`
      await this.#toTheEnd(collection, await this.#submitted(collection))
      this.#jobs += 1
    }
    assert.equal(await this.#server.stop(), 0)
  }

  async end(): Promise<void> {
    await this.#server.kill()
    rmSync(this.#directory, { recursive: true, force: true })
  }

  get #left(): number {
    return this.kills - this.#counts.sending - this.#counts.running - this.#counts.starting
  }

  /** Every other job meets a kill while its dump is sent; whatever that leaves is a job, or nothing. */
  async #submitted(collection: string): Promise<string> {
    const options = { batchSize: 20 + this.#random.below(100), job: true }
    if (this.#jobs % 2 === 0) {
      const answer = importWiki(this.#server, collection, DUMP, options).catch(() => undefined)
      await pause(this.#random.below(SUBMIT_MS_MAX))
      await this.#kill('sending')
      const accepted = (await answer)?.status === 202
      const { jobs } = (await this.#server.get(`/v1/bulk-ingest-jobs?collection=${collection}`)).json<{ jobs: WikiJob[] }>()
      this.tell(`kill while sending: answered ${accepted}, ${jobs.length} jobs`)
      assert.ok(jobs.length === 1 || (jobs.length === 0 && !accepted), `${jobs.length} jobs, answered: ${accepted}`)
      if (jobs[0] !== undefined) return jobs[0].id
      assert.equal(await documentsIn(this.#server, collection), 0)
    }
    const answer = await importWiki(this.#server, collection, DUMP, options)
    assert.equal(answer.status, 202, answer.text)
    return answer.json<{ id: string }>().id
  }

  async #toTheEnd(collection: string, id: string): Promise<void> {
    let seen = await wikiJob(this.#server, id)
    for (let at = 0; this.#left > 0; at++) {
      const isAtOnce = at > 0 && this.#random.below(5) === 0
      if (!isAtOnce) {
        const pages = seen.processed + this.#random.below(PAGES_BETWEEN_MAX)
        seen = await untilAsked(() => wikiJob(this.#server, id), (job) => job.processed >= pages || isOver(job)) // prettier-ignore
        if (isOver(seen)) break
        await pause(this.#random.below(KILL_MS_MAX))
      }
      const readers = dumpReaders(this.#server)
      await this.#kill(isAtOnce ? 'starting' : 'running')
      await untilAsked(() => readers.filter(isAlive), (alive) => alive.length === 0) // prettier-ignore
      const found = await wikiJob(this.#server, id)
      this.tell(`kill while ${isAtOnce ? 'starting' : 'running'}: ${seen.processed} pages seen, ${found.processed} found, ${found.status}`)
      assert.ok(found.processed >= seen.processed && (found.status === 'processing' || found.status === 'pending' || isOver(found)))
      assert.ok((await documentsIn(this.#server, collection)) >= found.added)
      this.#unseenMax = Math.max(this.#unseenMax, found.processed - seen.processed)
      seen = found
      if (isOver(seen)) break
    }
    await this.#check(collection, await endedJob(this.#server, id))
  }

  async #kill(moment: keyof WikiKillReport['kills']): Promise<void> {
    await this.#server.kill()
    this.#counts[moment] += 1
    const begun = performance.now()
    this.#server = await startServer({ directory: this.#directory })
    this.#restartMsMax = Math.max(this.#restartMsMax, performance.now() - begun)
  }

  async #check(collection: string, { status, total, added, updated, skipped, failed }: WikiJob): Promise<void> {
    assert.deepEqual([status, total, added, updated, skipped, failed], ['completed', PAGES, PAGES - EMPTY, 0, EMPTY, 0])
    assert.equal(await documentsIn(this.#server, collection), PAGES - EMPTY)
    const pages = Array.from({ length: PAGES }, (_, index) => index).filter((index) => !isEmpty(index))
    const look = async (index: number): Promise<void> => {
      const page = { collection, key: `page-${index}`, lang: 'en' }
      // A page that is stored twice would have a second revision.
      assert.equal((await this.#server.post('/v1/revisions', page)).json()['total'], 1, page.key)
      const { contentMd } = (await this.#server.post('/v1/get', page)).json<{ contentMd: string }>()
      assert.equal(contentMd.trim(), textOf(index))
    }
    while (pages.length > 0) await Promise.all(pages.splice(0, LOOKS_AT_ONCE).map(look))
    await untilAsked(() => dumpFiles(this.#server), (files) => files.length === 0) // prettier-ignore
  }
}

function isOver({ status }: WikiJob): boolean {
  return status !== 'pending' && status !== 'processing'
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}
