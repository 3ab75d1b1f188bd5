/**
 * The state of an interrupted import: one small file per (source, collection, server) in the user's state
 * folder. The file is replaced by rename after each acknowledged batch, and removed at the end. A file that
 * is damaged, of another version or of another source counts as absent. The import then starts from the
 * beginning, which only repeats upserts.
 */
import { createHash } from 'node:crypto'
import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { makeFolders } from '../../base/folders.js'
import type { SourcePoint } from '../files/document.js'

interface ResumePoint extends SourcePoint {
  readonly added: number
  readonly updated: number
  readonly failed: number
  readonly unchanged: number
}

export interface ResumeState {
  /** Undefined if there is nothing to continue. */
  readonly point: ResumePoint | undefined
  /**
   * Never throws: an import must not fail because its state cannot be stored. Returns the reason if storing
   * failed.
   */
  save(point: ResumePoint): string | undefined
  clear(): void
}

const VERSION = 2

/** @param identity identifies the file: the same three values select the same file */
export function openResumeState(
  folder: string,
  identity: { readonly fingerprint: string; readonly collection: string; readonly url: string },
): ResumeState {
  // The last parts of the fingerprint change with the source, so the file name uses only the stable parts.
  const name = createHash('sha256').update(JSON.stringify([identity.fingerprint.split(' ').slice(0, 2), identity.collection, identity.url]))
  const path = join(folder, `import-${name.digest('hex').slice(0, 16)}.json`)
  return {
    point: readPoint(path, identity.fingerprint),
    save(point) {
      try {
        makeFolders(folder)
        writeFileSync(`${path}.tmp`, JSON.stringify({ version: VERSION, fingerprint: identity.fingerprint, ...point }))
        renameSync(`${path}.tmp`, path)
        return undefined
      } catch (error) {
        return error instanceof Error ? error.message : String(error)
      }
    },
    clear() {
      rmSync(path, { force: true })
    },
  }
}

/** The XDG state folder: XDG_STATE_HOME, or ~/.local/state. */
export function stateFolder(env: NodeJS.ProcessEnv): string {
  const base = env.XDG_STATE_HOME
  return join(base !== undefined && base !== '' ? base : join(homedir(), '.local', 'state'), 'mds')
}

function readPoint(path: string, fingerprint: string): ResumePoint | undefined {
  let value: unknown
  try {
    value = JSON.parse(readFileSync(path, 'utf8'))
  } catch {
    return undefined // A missing file is the usual case. An unreadable file is treated in the same way.
  }
  if (typeof value !== 'object' || value === null) return undefined
  const { version, fingerprint: stored, position, consumed, added, updated, failed, unchanged } = value as Record<string, unknown>
  if (version !== VERSION || stored !== fingerprint || typeof position !== 'string') return undefined
  return isCount(consumed) && isCount(added) && isCount(updated) && isCount(failed) && isCount(unchanged)
    ? { position, consumed, added, updated, failed, unchanged }
    : undefined
}

function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0
}
