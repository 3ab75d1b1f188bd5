/**
 * Files of a source that are one document for the service, because their keys differ only in case. They are
 * reported; the last one stays. Main thread of the CLI.
 */
import { IMPORT_PROBLEMS_KEPT_MAX } from '../../limits/process.js'
import type { ImportSource } from '../files/document.js'

/** Files whose names are remembered: 100 MB. Those behind them are not compared. */
const NAMES_MAX = 500_000

/** @returns the source, and the lines of the report once its items are read */
export function watchKeys(source: ImportSource): { readonly source: ImportSource; readonly reports: readonly string[] } {
  const reports: string[] = []
  if (source.isOfFiles !== true) return { source, reports }
  const names = new Map<string, string>()
  const watched: ImportSource = {
    ...source,
    async *items(after) {
      for await (const item of source.items(after)) {
        if (item.kind === 'document') {
          const other = names.get(item.identity)
          if (other === undefined && names.size < NAMES_MAX) names.set(item.identity, item.name)
          if (other !== undefined && reports.length < IMPORT_PROBLEMS_KEPT_MAX) reports.push(`${other} and ${item.name}`)
        }
        yield item
      }
    },
  }
  return { source: watched, reports }
}
