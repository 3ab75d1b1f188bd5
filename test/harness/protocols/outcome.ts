/** What a call came to, in a form that is the same for every protocol. */

/** By the catalogue's columns: why it was refused. */
export type Refusal = 'unauthenticated' | 'forbidden' | 'not found' | 'invalid' | 'conflict' | 'unavailable' | 'unimplemented' | 'internal'

export interface Outcome {
  /** Null: a success. */
  readonly refusal: Refusal | null
  /** Of the refusal; empty after a success. */
  readonly text: string
  /** The answer, with members in camel case and metadata as lists of texts; null after a refusal. */
  readonly value: unknown
}

export function refused(refusal: Refusal, text: string): Outcome {
  return { refusal, text, value: null }
}

export function succeeded(value: unknown): Outcome {
  return { refusal: null, text: '', value }
}

export type Fields = Readonly<Record<string, unknown>>

/** Sends the input of an operation, in the form of HTTP, by another protocol. */
export interface Caller {
  readonly protocol: string
  call(operation: string, input: Fields, headers: Readonly<Record<string, string>>): Promise<Outcome>
}

export const snakeCase = (name: string): string => name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
export const camelCase = (name: string): string => name.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())
