/**
 * Maps a method and a path to an operation, from the table of operations. Built once at start. An exact path
 * takes one map look-up; paths with parameters are compared segment by segment (a handful of rows). Front-end
 * thread only.
 */
import type { Operation } from '../../operations/row/operation.js'

export interface Route {
  readonly operation: Operation
}

type RouteMatch =
  | { readonly kind: 'found'; readonly route: Route; /** name, value, name, value ... */ readonly params: readonly string[] }
  | { readonly kind: 'methodNotAllowed'; /** For the Allow header, e.g. `GET, POST`. */ readonly allow: string }
  | { readonly kind: 'notFound' }

/** Upper-case method -> route. */
type Methods = Map<string, Route>

interface Pattern {
  readonly segments: readonly string[]
  readonly methods: Methods
}

const NO_PARAMS: readonly string[] = []
const NOT_FOUND: RouteMatch = { kind: 'notFound' }

export class RouteTable {
  readonly #exact = new Map<string, Methods>()
  readonly #patterns: Pattern[] = []

  /**
   * @param isOffered whether the operation's feature is on; others get no route but keep their table index
   */
  constructor(operations: readonly Operation[], isOffered: (operation: Operation) => boolean) {
    for (const operation of operations) {
      if (!isOffered(operation)) continue
      for (const { method, path } of operation.http?.routes ?? []) this.#methodsAt(path).set(method, { operation })
    }
  }

  /** @param path as in the request line, without the query; only parameters are percent-decoded */
  match(method: string, path: string): RouteMatch {
    const exact = this.#exact.get(path)
    if (exact !== undefined) return choose(exact, method, NO_PARAMS)
    if (this.#patterns.length === 0) return NOT_FOUND
    const segments = path.split('/')
    for (const pattern of this.#patterns) {
      const params = paramsOf(pattern.segments, segments)
      if (params !== null) return choose(pattern.methods, method, params)
    }
    return NOT_FOUND
  }

  #methodsAt(path: string): Methods {
    if (!path.includes('/:')) {
      const methods = this.#exact.get(path) ?? new Map<string, Route>()
      this.#exact.set(path, methods)
      return methods
    }
    const known = this.#patterns.find((pattern) => pattern.segments.join('/') === path)
    if (known !== undefined) return known.methods
    const pattern = { segments: path.split('/'), methods: new Map<string, Route>() }
    this.#patterns.push(pattern)
    return pattern.methods
  }
}

function choose(methods: Methods, method: string, params: readonly string[]): RouteMatch {
  // HEAD uses the route of GET; the body is not sent.
  const route = methods.get(method === 'HEAD' ? 'GET' : method)
  if (route !== undefined) return { kind: 'found', route, params }
  return { kind: 'methodNotAllowed', allow: [...methods.keys()].join(', ') }
}

/** Returns null if the path does not match. */
function paramsOf(pattern: readonly string[], segments: readonly string[]): readonly string[] | null {
  if (pattern.length !== segments.length) return null
  const params: string[] = []
  for (let i = 0; i < pattern.length; i++) {
    const expected = pattern[i]!
    const given = segments[i]!
    if (!expected.startsWith(':')) {
      if (expected !== given) return null
      continue
    }
    const value = decode(given)
    if (value === null || value === '') return null
    params.push(expected.slice(1), value)
  }
  return params
}

function decode(text: string): string | null {
  try {
    return decodeURIComponent(text)
  } catch {
    return null
  }
}
