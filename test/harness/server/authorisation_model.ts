/**
 * A model of authorisation, for the tests that ask each operation for each kind of principal: whether it may
 * run, and the inputs to ask with.
 */
import { namesAt } from '../../../src/operations/row/collection_access.js'
import type { Operation } from '../../../src/operations/row/operation.js'
import { exampleInput, propertiesOf, requiredOf } from '../../../src/surface/http/pages/openapi.js'
import type { Headers } from './access.js'

export const OWN = 'own'
export const OTHER = 'foreigncanary'

/** What a principal may do on its own collection; `everything`: on all of them, and on the server. */
export type Rights = 'nobody' | 'nothing' | 'read' | 'write' | 'admin' | 'everything'

export interface Asker {
  readonly name: string
  /** On the collection `own`. */
  readonly rights: Rights
  /** On the collection of the canary. */
  readonly rightsElsewhere?: Rights
  /** Name of its user; absent: it has no valid credentials. */
  readonly user?: string
  readonly headers: Headers
  readonly byKey?: true
  /** Its right is given, used and taken away before each request. */
  readonly isRevoked?: true
}

/** Every user may call them, and they refuse what is not its own. Their example names another user. */
const OWN_ACCOUNT_ONLY = new Set(['changeUser', 'startMemorySession', 'recallMemory', 'summarizeMemory', 'listMemorySessions'])
/** Instead of examples with fields that need more rights than the operation. */
const INPUTS: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  cancelBulkIngest: { id: 'none' },
  cpuProfile: { seconds: 1 },
  deleteApiKey: { keyHash: '0'.repeat(64) },
  getBulkIngest: { id: 'none' },
  setCollectionConfig: { collection: OWN, description: 'described' },
}

const PERMITS: Readonly<Record<Rights, readonly string[]>> = {
  nobody: [],
  nothing: [],
  read: ['read'],
  write: ['write'],
  admin: ['read', 'write', 'admin'],
  everything: ['read', 'write', 'admin'],
}

/** The model: whether the operation may run on these names. */
export function isPermitted(row: Operation, { rights, rightsElsewhere, byKey }: Asker, names: readonly string[]): boolean {
  const { permission, collections, needsLogin, name } = row
  if (permission === 'public') return true
  if (rights === 'nobody' || (needsLogin === true && byKey === true)) return false
  if (rights === 'everything') return true
  if (permission === 'authenticated' || collections.kind === 'memory') return !OWN_ACCOUNT_ONLY.has(name)
  const isForAll = collections.kind === 'readable' || (collections.kind === 'named' && collections.otherwise === 'readable')
  if (names.length === 0) return isForAll
  const ofName = (collection: string): Rights =>
    collection === OWN ? rights : collection === OTHER ? (rightsElsewhere ?? 'nothing') : 'nothing'
  return names.every((collection) => PERMITS[ofName(collection)].includes(permission))
}

export interface Situation {
  readonly name: 'own' | 'other' | 'several' | 'none'
  readonly input: Readonly<Record<string, unknown>>
  readonly names: readonly string[]
}

/** The example of the operation's input on the collections of each situation that its input can name. */
export function situationsOf(row: Operation): readonly Situation[] {
  const input: Readonly<Record<string, unknown>> = INPUTS[row.name] ?? exampleInput(row.input)
  const { collections } = row
  if (collections.kind !== 'named') return [{ name: 'none', input, names: [] }]
  const on = (name: Situation['name'], wanted: readonly string[]): Situation | undefined => {
    const changed = collections.paths.reduce<Readonly<Record<string, unknown>>>((given, path) => named(row, given, path, wanted), input)
    const names = namesAt(collections.paths, changed)
    return names.length === wanted.length && wanted.every((each) => names.includes(each)) ? { name, input: changed, names } : undefined
  }
  const mayNameNone = !requiredOf(row.input).some((field) => collections.paths.some((path) => path.split('.')[0] === field))
  const found = [on('own', [OWN]), on('other', [OTHER]), on('several', [OWN, OTHER]), mayNameNone ? on('none', []) : undefined]
  return found.filter((situation) => situation !== undefined)
}

type Fields = Readonly<Record<string, unknown>>

/** The input with these names at the path: a field with a name or a list of names, or `list.field`. */
function named(row: Operation, input: Fields, path: string, names: readonly string[]): Fields {
  const [field = '', inner] = path.split('.')
  const { [field]: before, ...others } = input
  if (names.length === 0) return others
  if (inner === undefined) return { ...others, [field]: propertiesOf(row.input)[field]?.type === 'array' ? names : names[0] }
  const [item] = Array.isArray(before) ? (before as readonly Fields[]) : [{}]
  return { ...others, [field]: names.map((name) => ({ ...item, [inner]: name })) }
}
