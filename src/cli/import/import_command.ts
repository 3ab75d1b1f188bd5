/**
 * `mds import`: opens the source, continues an interrupted run, shows progress, and prints the problems at
 * the end. Exit code 1 if anything was not imported.
 */
import { stat } from 'node:fs/promises'
import { IMPORT_PROBLEMS_KEPT_MAX } from '../../limits/process.js'
import { ConnectionError, errorText, send } from '../client.js'
import type { ImportSource } from '../files/document.js'
import { SourceError } from '../files/document.js'
import { documentStem } from '../files/document_file.js'
import { say, sayError } from '../terminal.js'
import type { ImportResult } from './import_run.js'
import { runImport } from './import_run.js'
import { openNdjson } from './ndjson_source.js'
import { ImportStopped } from './patience.js'
import { formatSeconds, openProgress } from './progress.js'
import type { ResumeState } from './resume_state.js'
import { openResumeState } from './resume_state.js'
import { readStored } from './stored_documents.js'
import { openFile, openTree } from './tree_source.js'
import { isWikiDump, openWikiDump } from './wiki_source.js'

interface ImportOptions {
  readonly url: string
  readonly collection: string
  readonly lang: string
  readonly batch: number
  readonly concurrency: number
  readonly resume: boolean
  /** Sends documents that the server has already, too. */
  readonly all: boolean
  readonly stripFrontmatter: boolean
  /** Of dumps of wikis. */
  readonly namespaces: readonly number[]
  readonly skipRedirects: boolean
  readonly maxPages: number
  readonly keepTimes: boolean
  readonly stateFolder: string
}

export async function importPath(path: string, options: ImportOptions): Promise<void> {
  try {
    await refuseUnusableServer(options.url)
    const source = await openSource(path, options)
    await importSource(path, source, options)
  } catch (error) {
    if (!(error instanceof ImportStopped || error instanceof ConnectionError || error instanceof SourceError)) throw error
    const cause = error.cause instanceof Error && error instanceof SourceError ? ` (${error.cause.message})` : ''
    sayError(`mds import: ${error.message}${cause}\n`)
    process.exitCode = 1
  }
}

/** Fails immediately if the server is unusable, instead of after the retries of the first batch. */
async function refuseUnusableServer(url: string): Promise<void> {
  const reply = await send(url, 'GET', '/health').catch((error: unknown) => {
    const hint = error instanceof ConnectionError ? '; start a server with `npm start` or name one with --url' : ''
    throw new ImportStopped(`${error instanceof Error ? error.message : String(error)}${hint}`)
  })
  // 503 passes: a server that is warming up becomes ready while the sender retries.
  if (reply.status !== 200 && reply.status !== 503) throw new ImportStopped(`${url} answers ${errorText(reply)}`)
}

async function openSource(path: string, options: ImportOptions): Promise<ImportSource> {
  const stats = await stat(path).catch((cause: unknown) => {
    throw new SourceError(`cannot read ${path}`, { cause })
  })
  if (stats.isDirectory()) return openTree(path, options)
  if (documentStem(path) !== undefined) return openFile(path, options)
  return (await isWikiDump(path)) ? openWikiDump(path, options) : openNdjson(path, options)
}

async function importSource(path: string, source: ImportSource, options: ImportOptions): Promise<void> {
  const startMs = Date.now()
  const state = openResumeState(options.stateFolder, { fingerprint: source.fingerprint, collection: options.collection, url: options.url })
  const effective: ResumeState = options.resume ? state : { ...state, point: undefined }
  if (effective.point !== undefined) sayError(`continuing behind ${effective.point.position} (--no-resume starts from the beginning)\n`)
  const progress = openProgress({ total: source.total, startConsumed: effective.point?.consumed ?? 0, stream: process.stderr })
  try {
    const plan = {
      source,
      url: options.url,
      target: { collection: options.collection, keepTimes: options.keepTimes },
      batchDocumentsMax: options.batch,
      // Sequential, to keep the order of the source, which becomes the order of the next export.
      concurrency: options.keepTimes ? 1 : options.concurrency,
      // Times are not a part of the comparison.
      stored:
        options.all || options.keepTimes
          ? new Map<string, never>()
          : await readStored(options.url, options.collection, (reason) => progress.say(`waiting: ${reason}`)),
    }
    const result = await runImport({ ...plan, state: effective, progress })
    progress.stop()
    if (result.added + result.updated + result.failed + result.unchanged === 0)
      sayError(`mds import: nothing was found to import in ${path}\n`)
    printResult(result, (Date.now() - startMs) / 1000)
    const summary = source.summary?.()
    if (summary !== undefined) say(`${summary}\n`)
  } catch (error) {
    progress.stop()
    if (error instanceof ImportStopped) sayError('interrupted; the same command continues where it stopped\n')
    throw error
  }
}

function printResult({ added, updated, failed, unchanged, problems, warnings }: ImportResult, seconds: number): void {
  printList('imported without metadata', warnings, warnings.length)
  printList('not imported', problems, failed)
  const rate = Math.round((added + updated) / Math.max(seconds, 0.001))
  const same = unchanged === 0 ? '' : `${unchanged} unchanged, `
  const line = `${added} added, ${updated} updated, ${same}${failed} failed in ${formatSeconds(seconds)} (${rate}/s)`
  say(`${line}\n`)
  if (failed > 0) process.exitCode = 1
}

function printList(title: string, lines: readonly string[], count: number): void {
  if (lines.length === 0) return
  const more = count > lines.length || lines.length === IMPORT_PROBLEMS_KEPT_MAX ? ' (the first ones)' : ''
  sayError(`${title}${more}:\n${lines.map((line) => `  ${line}\n`).join('')}`)
}
