/**
 * Counts the reachable pages of an LMDB file: trees, overflow pages, the free list's own pages and the two
 * meta pages. The rest of the file is free for reuse. The file is opened read-only and only its own tables
 * are used, so that any env can be read, not only the truth env. The server must have stopped.
 */
import { existsSync, readdirSync, statSync } from 'node:fs'
import path from 'node:path'
import { open } from 'lmdb'

export interface EnvPages {
  readonly fileBytes: number
  readonly liveBytes: number
  /** Live bytes of each named table; '' stands for data outside named tables. */
  readonly tables: ReadonlyMap<string, number>
}

interface TreeStats {
  readonly pageSize: number
  readonly treeBranchPageCount: number
  readonly treeLeafPageCount: number
  readonly overflowPages: number
}

interface EnvStats extends TreeStats {
  readonly root: TreeStats
  readonly free: TreeStats
}

const META_PAGES = 2
const TABLES_MAX = 64
const BINARY = { encoding: 'binary', keyEncoding: 'binary' } as const

function treeBytes({ pageSize, treeBranchPageCount, treeLeafPageCount, overflowPages }: TreeStats): number {
  return pageSize * (treeBranchPageCount + treeLeafPageCount + overflowPages)
}

export async function envPages(file: string): Promise<EnvPages> {
  const root = open<Buffer, Buffer>({ path: file, readOnly: true, maxDbs: TABLES_MAX, ...BINARY })
  try {
    const stats = root.getStats() as EnvStats
    const tables = new Map([['', META_PAGES * stats.pageSize + treeBytes(stats.root) + treeBytes(stats.free)]])
    for (const name of [...root.getKeys({ limit: TABLES_MAX })].map((key) => key.toString().replace(/\0$/u, ''))) {
      const bytes = tableBytes(root, name)
      if (bytes !== null) tables.set(name, bytes)
    }
    const liveBytes = [...tables.values()].reduce((sum, bytes) => sum + bytes, 0)
    return { fileBytes: statSync(file).size, liveBytes, tables }
  } finally {
    await root.close()
  }
}

/** Null if the key of the root does not name a table. */
function tableBytes(root: ReturnType<typeof open<Buffer, Buffer>>, name: string): number | null {
  try {
    // The index env keeps its records in the root itself; such a key has no table.
    const table = root.openDB<Buffer, Buffer>({ name, ...BINARY }) as ReturnType<typeof root.openDB> | undefined
    return table === undefined ? null : treeBytes(table.getStats() as TreeStats)
  } catch (cause) {
    if (cause instanceof Error && /MDB_INCOMPATIBLE|MDB_NOTFOUND/u.test(cause.message)) return null
    throw cause
  }
}

/** The generation folder that a data directory serves. */
export function generationOf(directory: string): string {
  const name = readdirSync(directory).find((entry) => entry.startsWith('gen-'))
  if (name === undefined) throw new Error(`${directory} holds no generation`)
  return path.join(directory, name)
}

export function truthPages(directory: string): Promise<EnvPages> {
  return envPages(path.join(generationOf(directory), 'truth.mdb'))
}

/** Null if the index is in memory only. */
export async function indexPages(directory: string): Promise<EnvPages | null> {
  const folder = path.join(generationOf(directory), 'index')
  const file = existsSync(folder) ? readdirSync(folder).find((entry) => entry.endsWith('.mdb')) : undefined
  return file === undefined ? null : envPages(path.join(folder, file))
}
