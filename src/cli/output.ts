/**
 * Formats responses as text: the output of `search` and `stats` without `--json`. The server's JSON is not
 * trusted: a field of the wrong type is printed as an empty string. Pure.
 */

import { printable } from '../base/printable.js'

export function formatHits(answer: unknown): string {
  const { results, total } = asRecord(answer)
  const hits = Array.isArray(results) ? results.map(asRecord) : []
  if (hits.length === 0) return 'nothing found\n'
  const rows = hits.map(({ document, score }) => {
    const { key, lang, meta, contentMd } = asRecord(document)
    return [typeof score === 'number' ? score.toFixed(3) : '', asText(key), asText(lang), titleOf(asRecord(meta), asText(contentMd))]
  })
  const count = typeof total === 'number' && total > hits.length ? `${hits.length} of ${total} shown\n` : ''
  return formatTable(['score', 'key', 'lang', 'title'], rows) + count
}

export function formatStats(answer: unknown): string {
  const stats = asRecord(answer)
  const lines = [
    `data        ${asText(stats.databasePath)}, ${formatBytes(stats.databaseSize)}`,
    `mode        ${asText(stats.mode)}, up ${asText(stats.uptime)}`,
    `documents   ${asText(stats.totalDocuments)}`,
    `revisions   ${asText(stats.totalRevisions)}`,
  ]
  const collections = Array.isArray(stats.collections) ? stats.collections.map(asRecord) : []
  const rows = collections.map((row) => [row.name, row.documentCount, row.revisionCount, row.metaIndexCount, row.checksum64].map(asText))
  const table = rows.length === 0 ? '' : `\n${formatTable(['collection', 'documents', 'revisions', 'metadata', 'checksum64'], rows)}`
  return `${lines.join('\n')}\n${table}`
}

/**
 * Does not report whether the document existed before: the response does not contain it, and equal times do
 * not prove it.
 */
export function formatStored(answer: unknown): string {
  return `${printable(asText(asRecord(answer).id))} stored\n`
}

export function formatBackups(answer: unknown): string {
  const { backups, total } = asRecord(answer)
  const found = Array.isArray(backups) ? backups.map(asRecord) : []
  if (found.length === 0) return 'no backups\n'
  const rows = found.map(({ name, bytes, createdAt, sealed }) => {
    const time = typeof createdAt === 'number' ? new Date(createdAt * 1000).toISOString() : ''
    return [asText(name), formatBytes(bytes), time, sealed === true ? '' : 'not whole']
  })
  const count = typeof total === 'number' && total > found.length ? `${found.length} of ${total} shown\n` : ''
  return formatTable(['name', 'size', 'made', ''], rows) + count
}

export function formatReindex(answer: unknown): string {
  const { embedded, skipped, failed, errors } = asRecord(answer)
  const lines = Array.isArray(errors) ? errors.map((error) => `  ${printable(asText(error))}\n`) : []
  return `${asText(embedded)} embedded, ${asText(skipped)} skipped, ${asText(failed)} failed\n${lines.join('')}`
}

/** A longer title is cut, so that a result fits in one line of a terminal. */
const TITLE_CHARACTERS_MAX = 60

/** Returns the title in the metadata, or the first heading. */
function titleOf(meta: Record<string, unknown>, content: string): string {
  const [title] = Array.isArray(meta.title) ? (meta.title as unknown[]) : []
  const heading = typeof title === 'string' ? title : (/^#{1,6}[ \t]+(.+)$/m.exec(content)?.[1] ?? '')
  return heading.length > TITLE_CHARACTERS_MAX ? `${heading.slice(0, TITLE_CHARACTERS_MAX - 1)}…` : heading
}

export function formatTable(header: readonly string[], rows: readonly (readonly string[])[]): string {
  const shown = [header, ...rows].map((row) => row.map(printable))
  const widths = header.map((_, column) => Math.max(...shown.map((row) => row[column]?.length ?? 0)))
  return shown
    .map(
      (row) =>
        `${row
          .map((cell, column) => cell.padEnd(widths[column] ?? 0))
          .join('  ')
          .trimEnd()}\n`,
    )
    .join('')
}

function formatBytes(value: unknown): string {
  return typeof value === 'number' ? `${(value / 1_000_000).toFixed(1)} MB` : ''
}

export function asRecord(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}
}

export function asText(value: unknown): string {
  return typeof value === 'string' ? value : typeof value === 'number' ? String(value) : ''
}
