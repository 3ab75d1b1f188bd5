/** `--dry-run`: says what an import would do, a line a document. It changes nothing. Thread of the CLI. */
import { IMPORT_PROBLEMS_KEPT_MAX } from '../../limits/process.js'
import type { ImportSource } from '../files/document.js'
import { say } from '../terminal.js'
import type { ImportResult } from './import_run.js'
import { isUnchanged, type StoredDocuments } from './stored_documents.js'

/** @param isWhole documents that the server has already would be sent too */
export async function dryRun(source: ImportSource, stored: StoredDocuments, isWhole: boolean): Promise<ImportResult> {
  const counts = { added: 0, updated: 0, unchanged: 0, failed: 0 }
  const problems: string[] = []
  const warnings: string[] = []
  const keep = (list: string[], text: string): void => {
    if (list.length < IMPORT_PROBLEMS_KEPT_MAX) list.push(text)
  }
  for await (const item of source.items(undefined)) {
    if (item.kind === 'problem') {
      counts.failed += 1
      keep(problems, `${item.name}: ${item.problem}`)
      continue
    }
    if (item.warning !== undefined) keep(warnings, `${item.name}: ${item.warning}`)
    const { key, lang } = item.document
    const present = stored.get(item.identity)
    if (!isWhole && isUnchanged(item.document, present)) counts.unchanged += 1
    else {
      const what = present === undefined ? 'added' : 'updated'
      counts[what] += 1
      say(`${what} ${key} (${lang})\n`)
      stored.set(item.identity, { key, lang, digest: undefined, source: undefined })
    }
  }
  return { ...counts, problems, warnings }
}
