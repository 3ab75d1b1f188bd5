/**
 * The encoding of a request's input. A surface writes it, a lane reads it (src/programs/lane.ts has the
 * readers), and nothing in between inspects it. Pure data.
 */

/**
 * `json`: JSON body, query string as `head`, path parameters as `params` (src/surface/http/lane). `msgpack`:
 * the input as one map; used by the server itself and by surfaces in threads of their own.
 */
export const FORMS = ['json', 'msgpack'] as const
export type Form = (typeof FORMS)[number]

export interface EncodedInput {
  readonly form: Form
  /** Text beside the body. */
  readonly head: string
  /** name, value, name, value ... */
  readonly params: readonly string[]
  readonly body: Uint8Array | null
  /** The surface accepts a body that its form has compressed. */
  readonly mayCompress: boolean
}

/** @param value as it came from another thread, so it may be anything */
export function isEncodedInput(value: unknown): value is EncodedInput {
  if (typeof value !== 'object' || value === null) return false
  const { form, head, params, body, mayCompress } = value as Partial<Record<keyof EncodedInput, unknown>>
  if (!FORMS.some((known) => known === form) || typeof head !== 'string' || typeof mayCompress !== 'boolean') return false
  return Array.isArray(params) && params.every((param) => typeof param === 'string') && (body === null || body instanceof Uint8Array)
}
