/**
 * The corpora of the benches, read from the folder `shared` beside the project (MDS_SHARED names another
 * one). Documents are NDJSON lines `{key, lang, meta, contentMd}`.
 */
import { createReadStream, existsSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { createInterface } from 'node:readline'
import { createGunzip } from 'node:zlib'
import { PROJECT_ROOT } from '../../test/fault/shim/shim_build.js'
import { skip } from '../measure/report.js'

export interface CorpusDocument {
  readonly key: string
  readonly lang: string
  readonly meta: Readonly<Record<string, readonly string[]>>
  readonly contentMd: string
}

const SHARED = process.env['MDS_SHARED'] ?? path.join(PROJECT_ROOT, '../shared')

/** The path of a file below the shared folder. Skips the bench if the file does not exist. */
export function sharedPath(name: string): string {
  const found = path.join(SHARED, name)
  if (!existsSync(found)) skip(`${name} is not in the shared folder`)
  return found
}

/** The first `limit` lines of an NDJSON file, gzipped or not, in order. */
export async function readLines(file: string, limit = Number.POSITIVE_INFINITY): Promise<readonly string[]> {
  const raw = createReadStream(file)
  const lines: string[] = []
  for await (const line of createInterface({ input: file.endsWith('.gz') ? raw.pipe(createGunzip()) : raw })) {
    if (lines.length >= limit) break
    if (line.length > 0) lines.push(line)
  }
  raw.destroy()
  return lines
}

export async function readDocuments(file: string, limit?: number): Promise<readonly CorpusDocument[]> {
  return (await readLines(file, limit)).map((line) => JSON.parse(line) as CorpusDocument)
}

/** Rows of a tab-separated file. */
export function readTable(file: string): readonly (readonly string[])[] {
  return readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => line.length > 0)
    .map((line) => line.split('\t'))
}
