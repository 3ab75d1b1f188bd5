/** Bounds of the schemas of collections: size, patterns, and the reports of a check. */
import { KIB, MIB } from './units.js'

/** Bytes of one schema as JSON text: 256 fields of 256 bytes. */
export const SCHEMA_BYTES_MAX = 64 * KIB
/** Values of one `enum`. */
export const SCHEMA_ENUM_VALUES_MAX = 1024
/** UTF-8 bytes of one `pattern`. */
export const SCHEMA_PATTERN_BYTES_MAX = KIB
/**
 * Instructions of a compiled `pattern`: `[a-z]{1,500}` has 500. Each may cost a step at each character, and
 * 1 000 take 20 ms for the longest value.
 */
export const SCHEMA_PATTERN_INSTRUCTIONS_MAX = 1000
/**
 * Instructions x characters that the patterns of one document may cost: 0.5 s at worst. For a pattern of ten
 * instructions that allows 25 MB of values.
 */
export const SCHEMA_PATTERN_STEPS_MAX = 256 * MIB
/**
 * Compiled patterns that a thread caches: some 10 KB each. The package allows each at most 8 MB for the
 * states that a hostile pattern traverses.
 */
export const SCHEMA_PATTERNS_COMPILED_MAX = 64
/** Errors, and warnings, of one document. */
export const SCHEMA_ERRORS_MAX = 50
/** Characters of a value or a key that an error text shows. */
export const SCHEMA_TEXT_SHOWN_MAX = 80
