/**
 * Which collections an operation accesses. Permission is checked on each of them. Pure data, and one function
 * that reads names from an input.
 */

/** Permission is checked on this name if an operation accesses no particular collection, or all of them. */
export const ALL_COLLECTIONS = '*'

export type CollectionAccess =
  /** No particular collection: checked on `*`. */
  | { readonly kind: 'server' }
  /** No collection at all: it concerns the caller itself. */
  | { readonly kind: 'account' }
  /** A listing: every caller may call it, and gets the collections that it may read. */
  | { readonly kind: 'readable' }
  /**
   * The sessions and messages of the caller. Permissions on collections do not matter; the handler holds
   * callers who are no administrators to their own (src/domain/memory/ownership.ts).
   */
  | { readonly kind: 'memory' }
  /** The collection of the job with the input's `id`. */
  | { readonly kind: 'job' }
  /** The collection of the webhook with the input's `id`; all of them, if it has none. */
  | { readonly kind: 'webhook' }
  /**
   * The collections that the input names. A path is a field with a name or a list of names, or `list.field`.
   * `otherwise`: what an input without a name accesses.
   */
  | { readonly kind: 'named'; readonly paths: readonly string[]; readonly otherwise: 'all' | 'readable' }

export const SERVER: CollectionAccess = { kind: 'server' }
export const ACCOUNT: CollectionAccess = { kind: 'account' }
export const READABLE: CollectionAccess = { kind: 'readable' }
export const OWN_MEMORY: CollectionAccess = { kind: 'memory' }
export const OF_JOB: CollectionAccess = { kind: 'job' }
export const OF_WEBHOOK: CollectionAccess = { kind: 'webhook' }

export function named(...paths: readonly string[]): CollectionAccess {
  return { kind: 'named', paths, otherwise: 'all' }
}

/** The named collections. If none is named, all that the caller may read. */
export function namedOrReadable(...paths: readonly string[]): CollectionAccess {
  return { kind: 'named', paths, otherwise: 'readable' }
}

/** Returns the distinct names at these paths of a validated input. */
export function namesAt(paths: readonly string[], input: Readonly<Record<string, unknown>>): readonly string[] {
  const names = new Set<string>()
  for (const path of paths) {
    const dot = path.indexOf('.')
    if (dot < 0) addNames(names, input[path])
    else addListed(names, input[path.slice(0, dot)], path.slice(dot + 1))
  }
  return [...names]
}

function addListed(names: Set<string>, list: unknown, field: string): void {
  if (!Array.isArray(list)) return
  for (const item of list as readonly unknown[])
    if (typeof item === 'object' && item !== null) addNames(names, (item as Readonly<Record<string, unknown>>)[field])
}

function addNames(names: Set<string>, value: unknown): void {
  if (typeof value === 'string' && value !== '') names.add(value)
  else if (Array.isArray(value)) for (const each of value) if (typeof each === 'string' && each !== '') names.add(each)
}
