/**
 * Patterns of schemas, matched in time linear in the text (RE2), because anyone who may set a schema may
 * write one. The package is loaded with the first pattern, not with the lane
 * (docs/decisions/operation/starting.md). A bounded number of compiled patterns is cached per thread.
 */
import { createRequire } from 'node:module'
import { BoundedCache } from '../../base/bounded_cache.js'
import { KIB } from '../../limits/units.js'

/** UTF-8 bytes of one `pattern`. */
const SCHEMA_PATTERN_BYTES_MAX = KIB
/**
 * Instructions of a compiled `pattern`: `[a-z]{1,500}` has 500. Each may cost a step at each character, and
 * 1 000 take 20 ms for the longest value.
 */
const SCHEMA_PATTERN_INSTRUCTIONS_MAX = 1000
/**
 * Compiled patterns that a thread caches: some 10 KB each. The package allows each at most 8 MB for the
 * states that a hostile pattern traverses.
 */
const SCHEMA_PATTERNS_COMPILED_MAX = 64

interface Pattern {
  /** Whether the pattern matches anywhere in the text. */
  test(text: string): boolean
  /** Size of its program: the maximum number of steps per character of a text. */
  readonly instructions: number
}

type Compiled = { readonly pattern: Pattern; readonly fault?: undefined } | { readonly pattern?: undefined; readonly fault: string }

const require = createRequire(import.meta.url)
const compiled = new BoundedCache<Compiled>(SCHEMA_PATTERNS_COMPILED_MAX)

export function compilePattern(source: string): Compiled {
  const known = compiled.get(source)
  if (known !== undefined) return known
  const made = compile(source)
  compiled.set(source, made)
  return made
}

function compile(source: string): Compiled {
  const bytes = Buffer.byteLength(source)
  if (bytes > SCHEMA_PATTERN_BYTES_MAX) return { fault: `${bytes} bytes, at most ${SCHEMA_PATTERN_BYTES_MAX} are allowed` }
  const { RE2JS, RE2JSException } = require('re2js') as typeof import('re2js')
  try {
    const program = RE2JS.compile(source)
    const instructions = program.programSize()
    if (instructions > SCHEMA_PATTERN_INSTRUCTIONS_MAX)
      return { fault: `too large: ${instructions} instructions, at most ${SCHEMA_PATTERN_INSTRUCTIONS_MAX} are allowed` }
    return { pattern: { test: (text) => program.test(text), instructions } }
  } catch (error) {
    if (!(error instanceof RE2JSException)) throw error
    return { fault: error.message.slice(0, 200) }
  }
}
