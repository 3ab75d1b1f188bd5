/**
 * `mds import`: opens the source, continues an interrupted run, shows progress, and prints the problems at
 * the end. Exit code 1 if anything was not imported.
 */
import type { Stats } from 'node:fs'
import { stat } from 'node:fs/promises'
import { IMPORT_PROBLEMS_KEPT_MAX } from '../../limits/process.js'
import { ConnectionError, errorText, send } from '../client.js'
import type { ImportSource } from '../files/document.js'
import { SourceError } from '../files/document.js'
import { documentStem } from '../files/document_file.js'
import { say, sayError } from '../terminal.js'
import { isCsv, openCsv } from './csv_source.js'
import { dryRun } from './dry_run.js'
import { fingerprintOf, type ImportOptions } from './import_options.js'
import type { ImportResult } from './import_run.js'
import { runImport } from './import_run.js'
import { openNdjson } from './ndjson_source.js'
import { ImportStopped } from './patience.js'
import { prepareSource } from './prepared_source.js'
import { formatSeconds, openProgress } from './progress.js'
import { objectionTo, openRemovals, type Removals, removeDocuments } from './removals.js'
import type { ResumeState } from './resume_state.js'
import { openResumeState } from './resume_state.js'
import { watchKeys } from './same_keys.js'
import { readStored, type StoredDocuments } from './stored_documents.js'
import { lookUpFirst } from './stored_lookups.js'
import { openFile, openTree } from './tree_source.js'
import type { KnownFiles } from './watch/known_files.js'
import { FolderWatch } from './watch/watch_run.js'
import { isWikiDump, openWikiDump } from './wiki_source.js'
import { isZip, openZipFiles } from './zip_source.js'

export async function importPath(path: string, options: ImportOptions): Promise<void> {
  try {
    await refuseUnusableServer(options.url)
    if (options.watch) await watchPath(path, options)
    else await importSource(path, await openSource(path, options), options)
  } catch (error) {
    if (!(error instanceof ImportStopped || error instanceof ConnectionError || error instanceof SourceError)) throw error
    const cause = error.cause instanceof Error && error instanceof SourceError ? ` (${error.cause.message})` : ''
    sayError(`mds import: ${error.message}${cause}\n`)
    process.exitCode = 1
  }
}

async function watchPath(path: string, options: ImportOptions): Promise<void> {
  if (options.dryRun) throw new SourceError('--watch can not be a --dry-run')
  if (!(await statsOf(path)).isDirectory()) throw new SourceError(`--watch needs a folder, and ${path} is none`)
  const watch = await FolderWatch.open(path, options)
  try {
    // The whole folder is read, so that all of its documents are known; what is there is not sent again.
    const result = await importSource(path, await openSource(path, options), { ...options, resume: false }, watch.files)
    watch.files.settle(result.failed === 0)
    await watch.run()
  } finally {
    await watch.changes.close()
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

async function statsOf(path: string): Promise<Stats> {
  return await stat(path).catch((cause: unknown) => {
    throw new SourceError(`cannot read ${path}`, { cause })
  })
}

async function openSource(path: string, options: ImportOptions): Promise<ImportSource> {
  if ((await statsOf(path)).isDirectory()) return openTree(path, options)
  if (options.git) throw new SourceError(`--git needs a folder, and ${path} is none`)
  if (documentStem(path) !== undefined) return openFile(path, options)
  if (isCsv(path)) return openCsv(path, options)
  if (isZip(path)) return await openZipFiles(path, options)
  return (await isWikiDump(path)) ? openWikiDump(path, options) : openNdjson(path, options)
}

/** @param files notes what each file of the source is */
async function importSource(path: string, opened: ImportSource, options: ImportOptions, files?: KnownFiles): Promise<ImportResult> {
  const startMs = Date.now()
  const { url, collection, sync } = options
  if (sync !== undefined && options.maxPages > 0) throw new SourceError('--sync needs the whole source: --max-pages can not be given')
  const needsListing = sync !== undefined || options.dryRun
  // Times are not a part of the comparison.
  const comparesAll = options.all || options.keepTimes
  const onWait = (reason: string): void => sayError(`waiting: ${reason}\n`)
  const listing = needsListing ? await readStored(url, collection, onWait) : { documents: new Map<string, never>() }
  if (listing.incomplete !== undefined) throw new ImportStopped(`${collection} can't be read: ${listing.incomplete}`)
  const prepared = prepareSource(opened, options)
  const watched = watchKeys(files === undefined ? prepared : files.watch(prepared))
  const removals = sync === undefined ? undefined : openRemovals(watched.source, listing.documents, { sync, keyPrefix: options.keyPrefix })
  const source = removals?.source ?? watched.source
  const stored: StoredDocuments = comparesAll ? new Map<string, never>() : listing.documents
  const compared = needsListing || comparesAll ? source : lookUpFirst(source, stored, { url, collection, onWait })
  const result = options.dryRun ? await dryRun(source, listing.documents, comparesAll) : await sendSource(compared, stored, options)
  if (result.added + result.updated + result.failed + result.unchanged === 0)
    sayError(`mds import: nothing was found to import in ${path}\n`)
  printList('one document for the service, of which the last one stays', watched.reports, watched.reports.length)
  const removed = removals === undefined ? undefined : await remove(removals, options)
  printResult(result, { seconds: (Date.now() - startMs) / 1000, removed, dryRun: options.dryRun })
  const summary = source.summary?.()
  if (summary !== undefined) say(`${summary}\n`)
  return result
}

/** Sends the source, from where an earlier run has stopped. */
async function sendSource(source: ImportSource, stored: StoredDocuments, options: ImportOptions): Promise<ImportResult> {
  const { url, collection } = options
  // Of another choice of documents, a position says nothing.
  const fingerprint = `${source.fingerprint} ${fingerprintOf(options)}`
  const state = openResumeState(options.stateFolder, { fingerprint, collection, url })
  // To know what is gone, the whole source has to be read; and what is stored is not sent again.
  const effective: ResumeState = options.resume && options.sync === undefined ? state : { ...state, point: undefined }
  if (effective.point !== undefined) sayError(`continuing behind ${effective.point.position} (--no-resume starts from the beginning)\n`)
  const progress = openProgress({ total: source.total, startConsumed: effective.point?.consumed ?? 0, stream: process.stderr })
  try {
    return await runImport({
      source,
      url,
      target: { collection, keepTimes: options.keepTimes },
      batchDocumentsMax: options.batch,
      // Sequential, to keep the order of the source, which becomes the order of the next export.
      concurrency: options.keepTimes ? 1 : options.concurrency,
      stored,
      state: effective,
      progress,
    })
  } catch (error) {
    if (error instanceof ImportStopped) sayError('interrupted; the same command continues where it stopped\n')
    throw error
  } finally {
    progress.stop()
  }
}

/** @returns the number of documents that were removed, or would be */
async function remove(removals: Removals, { url, collection, dryRun: isDry, yes }: ImportOptions): Promise<number> {
  const objection = objectionTo(removals, yes)
  if (isDry) for (const { key, lang } of removals.gone()) say(`removed ${key} (${lang})\n`)
  if (objection === undefined && !isDry) {
    return await removeDocuments(url, collection, removals.gone(), (reason) => sayError(`waiting: ${reason}\n`))
  }
  if (objection !== undefined) {
    sayError(`mds import: ${objection}\n`)
    process.exitCode = 1
  }
  return objection === undefined ? removals.gone().length : 0
}

interface Ending {
  readonly seconds: number
  /** Undefined without `--sync`. */
  readonly removed: number | undefined
  readonly dryRun: boolean
}

function printResult({ added, updated, failed, unchanged, problems, warnings }: ImportResult, ending: Ending): void {
  printList('imported without metadata', warnings, warnings.length)
  printList('not imported', problems, failed)
  const { seconds, removed } = ending
  const same = unchanged === 0 ? '' : `${unchanged} unchanged, `
  const gone = removed === undefined ? '' : `${removed} removed, `
  const rate = Math.round((added + updated) / Math.max(seconds, 0.001))
  const counts = `${added} added, ${updated} updated, ${same}${gone}${failed} failed`
  say(ending.dryRun ? `dry run, nothing was changed: ${counts}\n` : `${counts} in ${formatSeconds(seconds)} (${rate}/s)\n`)
  if (failed > 0) process.exitCode = 1
}

function printList(title: string, lines: readonly string[], count: number): void {
  if (lines.length === 0) return
  const more = count > lines.length || lines.length === IMPORT_PROBLEMS_KEPT_MAX ? ' (the first ones)' : ''
  sayError(`${title}${more}:\n${lines.map((line) => `  ${line}\n`).join('')}`)
}
