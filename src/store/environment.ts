/**
 * The truth env: one lmdb-js environment per generation, its sub-databases opened once per thread. lmdb-js shares the environment between the threads of a process; its only importers are
 * this folder's files. What each sub-database holds: docs/formats/truth-env.md.
 */
import type { Database, RootDatabase } from 'lmdb'
import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { TRUTH_MAP_BYTES, TRUTH_READERS_MAX } from '../limits.js'
import { openLmdb } from './packages.js'
import type { ObjectSource } from './objects.js'
import { emptyKeyring } from './sealing/keyring.js'
import type { Keyring } from './sealing/keyring.js'
import { Seals } from './sealing/seals.js'

export type Table = Database<Buffer, Buffer>

export interface Environment {
  readonly root: RootDatabase<Buffer, Buffer>
  readonly path: string
  /** (collection, docid) -> head */
  readonly heads: Table
  /** (collection, docid, LSN) -> body */
  readonly bodies: Table
  /** key of a body -> references, only where there are more than one */
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
  /** collection id -> whether and how it is sealed; no row: it never was */
  readonly sealings: Table
  /** (collection, hash of key, hash of lang) -> docid and sealed spelling: identities of sealed collections */
  readonly sealedIdentities: Table
  /** (collection, docid, hash of the spelling) -> sealed spelling */
  readonly sealedSpellings: Table
  /** (collection, kind, hash of id) -> sealed setting */
  readonly sealedSettings: Table
  /** key of a body -> its object in a storage backend */
  readonly objects: Table
  /** (location, id of an object) -> key of the body */
  readonly objectOwners: Table
  /** (location, id of an object) -> unix seconds: since when nothing refers to it */
  readonly objectReleases: Table
  /** (collection, docid) -> history */
  readonly histories: Table
  /** (collection, 2^53 - reads, docid) -> nothing */
  readonly leaderboard: Table
  /** (collection, type of event, unix minute) -> events */
  readonly eventMinutes: Table
  /** (collection, docid) -> vectors */
  readonly vectors: Table
  /** (collection, docid) -> stamp of the vectors */
  readonly vectorStamps: Table
  /** (collection, CRC of a variant) -> documents and chunks with vectors of it */
  readonly vectorVariants: Table
  /** LSN of a write -> (collection, docid): it is to be embedded */
  readonly embedQueue: Table
  /** format, epochs, checks of master keys, rotation jobs */
  readonly settings: Table
  readonly seals: Seals
  /** Bytes of objects that are at hand. */
  readonly held: ObjectSource
}

const NOTHING_HELD: ObjectSource = { get: () => undefined, has: () => false }

const BINARY = { encoding: 'binary', keyEncoding: 'binary' } as const
const FORMAT_VERSION = 1
const FORMAT_KEY = Buffer.from('format')
const EPOCH_KEY = Buffer.from('epoch')
/** In `settings`: LSN of the last entry whose superseded states have been packed. */
export const PACKED_KEY = Buffer.from('packed')

export class UnknownFormat extends Error {}

/** Opens (and on the first use creates) `truth.mdb` in the directory of a generation. */
export function openEnvironment(generationPath: string, keyring: Keyring = emptyKeyring(), held = NOTHING_HELD): Environment {
  const path = join(generationPath, 'truth.mdb')
  const root = openLmdb<Buffer, Buffer>({ path, ...BINARY, maxDbs: 32, mapSize: TRUTH_MAP_BYTES, maxReaders: TRUTH_READERS_MAX })
  const table = (name: string): Table => openTable(root, name)
  const sealings = table('sealings')
  const environment: Environment = {
    root,
    path,
    heads: table('heads'),
    bodies: table('bodies'),
    bodyCounts: table('body-counts'),
    revisions: table('revisions'),
    identities: table('identities'),
    spellings: table('spellings'),
    expiries: table('expiries'),
    collections: table('collections'),
    collectionSettings: table('collection-settings'),
    jobs: table('jobs'),
    retired: table('retired'),
    counters: table('counters'),
    binlog: table('binlog'),
    garbage: table('garbage'),
    sealings,
    sealedIdentities: table('sealed-identities'),
    sealedSpellings: table('sealed-spellings'),
    sealedSettings: table('sealed-settings'),
    objects: table('objects'),
    objectOwners: table('object-owners'),
    objectReleases: table('object-releases'),
    histories: table('histories'),
    leaderboard: table('leaderboard'),
    eventMinutes: table('event-minutes'),
    vectors: table('vectors'),
    vectorStamps: table('vector-stamps'),
    vectorVariants: table('vector-variants'),
    embedQueue: table('embed-queue'),
    settings: table('settings'),
    seals: new Seals(keyring, sealings),
    held,
  }
  checkFormat(environment)
  return environment
}

export function openTable(root: RootDatabase<Buffer, Buffer>, name: string): Table {
  return root.openDB<Buffer, Buffer>({ name, ...BINARY })
}

function checkFormat(environment: Environment): void {
  const stored = environment.settings.get(FORMAT_KEY)
  if (stored === undefined) {
    environment.root.transactionSync(() => {
      if (environment.settings.get(FORMAT_KEY) !== undefined) return
      void environment.settings.put(FORMAT_KEY, Buffer.from([FORMAT_VERSION]))
      void environment.settings.put(EPOCH_KEY, randomBytes(16))
    })
    return
  }
  if (stored[0] !== FORMAT_VERSION) {
    throw new UnknownFormat(`${environment.path} has format ${stored[0]}; this version reads format ${FORMAT_VERSION}`)
  }
  beginFreeList(environment)
}

/**
 * A compacted copy has an empty free list. lmdb-js (3.5.6) ends the process, by an assertion or worse, where the first transaction on such a list frees some 300 pages: it looks for room in the list while it
 * makes it. So a small transaction comes first; from then on the list is never empty, because a transaction adds what it has freed before it takes out what it has used.
 */
function beginFreeList({ root, settings }: Environment): void {
  if ((root.getStats() as { free: { entryCount: number } }).free.entryCount > 0) return
  root.transactionSync(() => void settings.put(FORMAT_KEY, Buffer.from([FORMAT_VERSION])))
}

/** A value without a copy: valid until the next read of this thread. */
export function peek(table: Table, key: Buffer): Buffer | undefined {
  const value = table.getBinaryFast(key)
  // lmdb-js hands out one reused buffer whose `length` it overrides: a subarray is an ordinary Buffer again.
  return value?.subarray(0, value.length)
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
