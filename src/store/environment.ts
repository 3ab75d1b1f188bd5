/**
 * The truth env: one lmdb-js environment per generation. Its sub-databases are opened once per thread.
 * lmdb-js shares the environment between the threads of a process. Only files of this folder import lmdb-js.
 * The contents of each sub-database: docs/formats/truth-env.md.
 */
import { randomBytes } from 'node:crypto'
import { statSync, truncateSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Database, RootDatabase } from 'lmdb'
import { TRUTH_MAP_BYTES, TRUTH_READERS_MAX } from '../limits/store.js'
import { flushDirectory, TRUTH_FILE } from './files/layout.js'
import type { ObjectSource } from './object_source.js'
import { openLmdb } from './rows/packages.js'
import { Table } from './rows/table.js'
import type { Keyring } from './sealing/keyring.js'
import { emptyKeyring } from './sealing/keyring.js'
import { Seals } from './sealing/seals.js'
import type { Tally } from './tally.js'

/**
 * Collections whose row is missing or damaged, as found by a scan of the store
 * (collections/lost_collections.ts).
 */
export interface LostCollections {
  /** Keys that the damaged rows may have had, in hexadecimal. */
  readonly keys: ReadonlySet<string>
  /** Why any name may be that of a lost collection. Undefined: only the names of `keys` may be. */
  readonly reason: string | undefined
}

export interface Environment {
  readonly root: RootDatabase<Buffer, Buffer>
  readonly path: string
  /** (collection, docid) -> head */
  readonly heads: Table
  /** (collection, docid, LSN) -> body */
  readonly bodies: Table
  /** key of a body -> number of references, only if there is more than one */
  readonly bodyCounts: Table
  /** (collection, docid, revision) -> superseded head */
  readonly revisions: Table
  /** (collection, lower-cased key, lang) -> docid and the spelling of the last write */
  readonly identities: Table
  /** (collection, docid, key, lang) -> nothing: further spellings */
  readonly spellings: Table
  /** (expiry, collection, docid) -> nothing */
  readonly expiries: Table
  /** lower-cased name -> id and name */
  readonly collections: Table
  /** (collection, kind, id) -> setting; collection alone -> LSN of the last change of its settings */
  readonly collectionSettings: Table
  /** (kind, id) -> job */
  readonly jobs: Table
  /** id of a deleted collection whose rows are still being removed -> LSN */
  readonly retired: Table
  /** collection id -> counters; 0 -> counters of the whole store */
  readonly counters: Table
  /** LSN -> entry */
  readonly binlog: Table
  /** (LSN of release, key of the body) -> nothing */
  readonly garbage: Table
  /** collection id -> whether and how it is sealed; no row: it was never sealed */
  readonly sealings: Table
  /**
   * (collection, hash of key, hash of lang) -> docid and sealed spelling: identities of sealed collections
   */
  readonly sealedIdentities: Table
  /** (collection, docid, hash of the spelling) -> sealed spelling */
  readonly sealedSpellings: Table
  /** (collection, kind, hash of id) -> sealed setting */
  readonly sealedSettings: Table
  /** key of a body -> its object in a storage backend */
  readonly objects: Table
  /** (location, id of an object) -> key of the body */
  readonly objectOwners: Table
  /** (location, id of an object) -> unix seconds of its release: since then nothing refers to it */
  readonly objectReleases: Table
  /** (collection, docid) -> history */
  readonly histories: Table
  /** (collection, 2^53 - 1 - reads, docid) -> nothing */
  readonly leaderboard: Table
  /** (collection, type of event, unix minute) -> events */
  readonly eventMinutes: Table
  /** (collection, docid) -> vectors */
  readonly vectors: Table
  /** (collection, docid) -> stamp of the vectors */
  readonly vectorStamps: Table
  /** (collection, CRC of a variant) -> documents and chunks with vectors of it */
  readonly vectorVariants: Table
  /** LSN of a write -> (collection, docid) of a document to be embedded */
  readonly embedQueue: Table
  /** (state, webhook, LSN) -> delivery; (mark, webhook) -> why nothing is recorded for it */
  readonly deliveries: Table
  /** format, epochs, checks of master keys, rotation jobs */
  readonly settings: Table
  readonly seals: Seals
  /** Cached bytes of objects. */
  readonly cachedObjects: ObjectSource
  /**
   * Collections that the write transaction has looked up, by name. Cleared when one begins, and by every
   * change of the table.
   */
  readonly named: Map<string, { readonly id: number; readonly name: string } | undefined>
  /** The counts of a comparison that is in progress on this thread. Writes correct them. */
  readonly tallies: { running: Tally | undefined }
  /** Collections that are lost, once this thread has searched for them. */
  readonly lost: { collections: LostCollections | undefined }
}

const NOTHING_HELD: ObjectSource = { get: () => undefined, has: () => false }

const BINARY = { encoding: 'binary', keyEncoding: 'binary' } as const
const FORMAT_VERSION = 4
/** The second byte of the row `format`: every row has its checksum. */
const ALL_CHECKED = 1
const FORMAT_KEY = Buffer.from('format')
const EPOCH_KEY = Buffer.from('epoch')

/**
 * For each table: its name in the env, and whether its values are records with a checksum of their own
 * (record.ts). Tables are walked in this order.
 */
export const TABLES = {
  heads: ['heads', true],
  bodies: ['bodies', true],
  bodyCounts: ['body-counts', false],
  revisions: ['revisions', true],
  identities: ['identities', false],
  spellings: ['spellings', false],
  expiries: ['expiries', false],
  collections: ['collections', false],
  // False, because the table also contains the LSN of the last change. The settings themselves are records.
  collectionSettings: ['collection-settings', false],
  jobs: ['jobs', true],
  retired: ['retired', false],
  counters: ['counters', false],
  binlog: ['binlog', true],
  garbage: ['garbage', false],
  sealings: ['sealings', true],
  sealedIdentities: ['sealed-identities', true],
  sealedSpellings: ['sealed-spellings', true],
  sealedSettings: ['sealed-settings', true],
  objects: ['objects', true],
  objectOwners: ['object-owners', false],
  objectReleases: ['object-releases', false],
  histories: ['histories', true],
  leaderboard: ['leaderboard', false],
  eventMinutes: ['event-minutes', false],
  vectors: ['vectors', true],
  vectorStamps: ['vector-stamps', true],
  vectorVariants: ['vector-variants', false],
  embedQueue: ['embed-queue', false],
  deliveries: ['deliveries', true],
  settings: ['settings', false],
} as const satisfies Readonly<Record<string, readonly [name: string, isRecord: boolean]>>
export type TableName = keyof typeof TABLES
export const TABLE_NAMES = Object.keys(TABLES) as readonly TableName[]

/** The store was made by another version. */
export class UnknownFormat extends Error {}
/** The store has the present format, but lacks something that every store of this format has. */
export class DamagedFormat extends UnknownFormat {}

/** Opens `truth.mdb` in the directory of a generation; creates it on first use. */
export function openEnvironment(
  generationPath: string,
  keyring: Keyring = emptyKeyring(),
  cachedObjects = NOTHING_HELD,
  isReadOnly = false,
): Environment {
  const path = join(generationPath, TRUTH_FILE)
  const root = openLmdb<Buffer, Buffer>({
    path,
    ...BINARY,
    maxDbs: 32,
    mapSize: TRUTH_MAP_BYTES,
    maxReaders: TRUTH_READERS_MAX,
    readOnly: isReadOnly,
  })
  const open = (of: TableName): Table => {
    const [name, isRecord] = TABLES[of]
    return new Table(isReadOnly ? openPresentTable(root, name, path) : openTable(root, name), name, isRecord)
  }
  const settings = open('settings')
  // Before any other table is opened, which would be created in a store of another format.
  const isNew = !hasFormat(path, settings)
  const others = TABLE_NAMES.filter((of) => of !== 'settings').map((of) => [of, open(of)] as const)
  const tables = Object.fromEntries([...others, ['settings', settings]]) as Record<TableName, Table>
  const environment: Environment = {
    root,
    path,
    ...tables,
    seals: new Seals(keyring, tables.sealings),
    cachedObjects: cachedObjects,
    named: new Map(),
    tallies: { running: undefined },
    lost: { collections: undefined },
  }
  if (isNew) beginFormat(environment, isReadOnly)
  else if (!isReadOnly) beginFreeList(root, settings)
  return environment
}

export function openTable(root: RootDatabase<Buffer, Buffer>, name: string): Database<Buffer, Buffer> {
  return root.openDB<Buffer, Buffer>({ name, ...BINARY })
}

/** Tables that a store of this format lacks until it is opened for writing by a version that has them. */
const ADDED_TABLES: ReadonlySet<string> = new Set([TABLES.deliveries[0]])

/** In place of a table that is not there. */
const NO_ROWS = {
  get: () => undefined,
  getBinaryFast: () => undefined,
  doesExist: () => false,
  getRange: () => [],
  getKeys: () => [],
  getKeysCount: () => 0,
  getStats: () => ({ entryCount: 0, treeBranchPageCount: 0, treeLeafPageCount: 0, overflowPages: 0 }),
} as unknown as Database<Buffer, Buffer>

/** Opens a table of a read-only env, where none can be created. */
function openPresentTable(root: RootDatabase<Buffer, Buffer>, name: string, path: string): Database<Buffer, Buffer> {
  try {
    return openTable(root, name)
  } catch (cause) {
    if (ADDED_TABLES.has(name) && holdsRows(root)) return NO_ROWS
    if (!holdsRows(root)) throw new UnknownFormat(`${path} holds no store`, { cause })
    throw new DamagedFormat(`${path} has lost its table ${name}`, { cause })
  }
}

function holdsRows(root: RootDatabase<Buffer, Buffer>): boolean {
  return (root.getStats() as { root: { entryCount: number } }).root.entryCount > 0
}

/**
 * Whether the store has its format; it has none when it is new.
 * @throws UnknownFormat for another one
 */
function hasFormat(path: string, settings: Table): boolean {
  const stored = settings.storedValue(FORMAT_KEY)
  if (stored === undefined) return false
  // Rows of format 1 had no checksum, and this one a single byte.
  if (stored.length === 1) throw unknownFormat(path, `format ${stored[0]}`)
  const format = settings.get(FORMAT_KEY) as Buffer
  if (format.length !== 2) throw new DamagedFormat(`${path}: the row that says its format is damaged`)
  if (format[0] !== FORMAT_VERSION) throw unknownFormat(path, `format ${format[0]}`)
  if (format[1] !== ALL_CHECKED) throw unknownFormat(path, `format ${FORMAT_VERSION} with rows of format 1`)
  return true
}

function unknownFormat(path: string, found: string): UnknownFormat {
  const remedy = 'export its collections with the version that wrote it, and import them here'
  return new UnknownFormat(`${path} has ${found}; this version reads format ${FORMAT_VERSION} only: ${remedy}`)
}

/** @throws UnknownFormat if the store can't be written, or has rows and has lost its format */
function beginFormat({ root, path, settings, counters }: Environment, isReadOnly: boolean): void {
  if (isReadOnly) {
    if (counters.rowCount > 0) throw new DamagedFormat(`${path} has lost the row that says its format`)
    throw new UnknownFormat(`${path} holds no store`)
  }
  root.transactionSync(() => {
    // Another thread may have been first.
    if (settings.storedValue(FORMAT_KEY) !== undefined) return
    settings.put(EPOCH_KEY, randomBytes(16))
    settings.put(FORMAT_KEY, Buffer.from([FORMAT_VERSION, ALL_CHECKED]))
  })
  // This must precede the creation of an index beside it: a start is refused if there is an index but no
  // truth.
  flushDirectory(dirname(path))
}

/**
 * A compacted copy has an empty free list. lmdb-js (3.5.6) ends the process, by an assertion or worse, if the
 * first transaction on such a list frees some 300 pages, because it searches the list for space while
 * extending it. A small transaction therefore comes first. From then on the list is never empty, because a
 * transaction adds the pages that it has freed before it removes those that it has used.
 */
function beginFreeList(root: RootDatabase<Buffer, Buffer>, settings: Table): void {
  if ((root.getStats() as { free: { entryCount: number } }).free.entryCount > 0) return
  root.transactionSync(() => settings.put(FORMAT_KEY, settings.get(FORMAT_KEY) as Buffer))
}

/** The tables whose keys begin with the id of the collection. */
export function tablesOfCollections(environment: Environment): readonly Table[] {
  const { heads, bodies, bodyCounts, revisions, identities, spellings, collectionSettings } = environment
  const { sealedIdentities, sealedSpellings, sealedSettings, histories, leaderboard, eventMinutes } = environment
  const documents = [heads, bodies, bodyCounts, revisions, identities, spellings, sealedIdentities, sealedSpellings]
  const { vectors, vectorStamps, vectorVariants } = environment
  const derived = [histories, leaderboard, eventMinutes, vectors, vectorStamps, vectorVariants]
  return [...documents, collectionSettings, sealedSettings, ...derived]
}

interface TreeStats {
  readonly pageSize: number
  readonly treeBranchPageCount: number
  readonly treeLeafPageCount: number
  readonly overflowPages: number
}

interface RootStats extends TreeStats {
  readonly lastPageNumber: number
  readonly root: TreeStats
  readonly free: TreeStats
}

const META_PAGES = 2

/** Bytes of the pages that belong to no tree. To be called inside a read. */
export function unusedBytes(environment: Environment): number {
  const { root } = environment
  const stats = root.getStats() as RootStats
  const tables = Object.values(environment as unknown as Record<string, unknown>).filter(isTable)
  const trees = [stats.root, stats.free, ...tables.map((table) => table.getStats() as TreeStats)]
  const used = trees.reduce((sum, tree) => sum + tree.treeBranchPageCount + tree.treeLeafPageCount + tree.overflowPages, META_PAGES)
  return Math.max(0, stats.lastPageNumber + 1 - used) * stats.root.pageSize
}

/**
 * Truncates the file after its last page. Bytes after that page, which a refused commit or a process that
 * ended during a commit has written, count neither as free nor as unused. LMDB's last page number never
 * decreases, so no reader uses a page there. Write lane only, between its transactions.
 */
export function cutTail({ root, path }: Environment): void {
  root.resetReadTxn()
  const { lastPageNumber, root: tree } = root.getStats() as RootStats
  const bytes = (lastPageNumber + 1) * tree.pageSize
  root.resetReadTxn()
  if (statSync(path).size > bytes) truncateSync(path, bytes)
}

function isTable(value: unknown): value is Table {
  return value instanceof Table
}
