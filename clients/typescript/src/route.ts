/** The HTTP form of an operation, as far as a client must know it. */

/**
 * When a call may be sent again.
 * - `always`: after every failure that passes: reads, and writes that replace what they name.
 * - `unlessUnknown`: after a refusal by the server, which then has written nothing, but not after
 *   `outcome unknown` or a lost connection.
 * - `never`: after 429 only, with which a request is refused before it begins. The operation consists of
 *   several commits, some of which may have been made.
 */
export type Repeat = 'always' | 'unlessUnknown' | 'never'

export interface Route {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** With `:name` for fields of the input that are part of the path. */
  readonly path: string
  readonly repeat: Repeat
  /** Absent: JSON. */
  readonly answer?: 'nothing' | 'text' | 'bytes'
  /** The method has no input: options are its only argument. */
  readonly takesNothing?: true
}

export type Input = Readonly<Record<string, unknown>>

export interface RouteRequest {
  readonly path: string
  readonly body: string | FormData | undefined
}

/** Address and body of a request. The input of GET goes into the query, all other input into the body. */
export function requestOf({ method, path }: Route, input: Input | FormData): RouteRequest {
  if (input instanceof FormData) return { path, body: input }
  const rest = new Map(Object.entries(input).filter(([, value]) => value !== undefined))
  const filled = path.replace(/:(\w+)/g, (_, name: string) => {
    const value = rest.get(name)
    rest.delete(name)
    return segment(name, value)
  })
  if (method !== 'GET') return { path: filled, body: JSON.stringify(Object.fromEntries(rest)) }
  const query = new URLSearchParams()
  for (const [name, value] of rest) if (value !== null) for (const text of queryTexts(value)) query.append(name, text)
  return { path: query.size === 0 ? filled : `${filled}?${query.toString()}`, body: undefined }
}

/** An empty segment, `.` and `..` would lead to another path, also when they are escaped. */
function segment(name: string, value: unknown): string {
  if (typeof value !== 'string' || value === '' || value === '.' || value === '..') throw new TypeError(`${name} cannot be part of a path`)
  return encodeURIComponent(value)
}

/** A list is a repeated parameter, an object is JSON. */
function queryTexts(value: unknown): readonly string[] {
  const values: readonly unknown[] = Array.isArray(value) ? value : [value]
  return values.map((each) => (typeof each === 'string' ? each : JSON.stringify(each)))
}
