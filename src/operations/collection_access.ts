/**
 * Which collections an operation touches: permission is asked on each of them. Pure data and the one function
 * that reads names out of an input.
 */

/**
 * Permission is asked on this name where an operation touches no collection in particular, or all of them.
 */
export const ALL_COLLECTIONS = '*'

export type CollectionAccess =
  /** None in particular: asked on `*`. */
  | { readonly kind: 'server' }
  /** A listing: every caller may ask, and is shown the collections that it may read. */
  | { readonly kind: 'readable' }
  /** That of the job with the input's `id`. */
  | { readonly kind: 'job' }
  /**
   * Those that the input names. A path is a field that holds a name or a list of names, or `list.field`.
   * `otherwise`: what an input without any name touches.
   */
  | { readonly kind: 'named'; readonly paths: readonly string[]; readonly otherwise: 'all' | 'readable' }

export const SERVER: CollectionAccess = { kind: 'server' }
export const READABLE: CollectionAccess = { kind: 'readable' }
export const OF_JOB: CollectionAccess = { kind: 'job' }

export function named(...paths: readonly string[]): CollectionAccess {
  return { kind: 'named', paths, otherwise: 'all' }
}

/** The named ones, or all that the caller may read where none is named. */
export function namedOrReadable(...paths: readonly string[]): CollectionAccess {
  return { kind: 'named', paths, otherwise: 'readable' }
}

/** The distinct names at these paths of a validated input. */
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
