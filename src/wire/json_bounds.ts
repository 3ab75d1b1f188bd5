/**
 * What the JSON of a request's body may have, in every thread that parses one, and the texts of refusals.
 * Pure.
 */
import { JSON_CONTAINERS_MAX, JSON_DEPTH_MAX, JSON_VALUES_MAX } from '../limits/documents.js'

/**
 * Distinct prefixes of objects in one body. A prefix is the names of the members so far, in their order. The
 * parser makes a hidden class for each: 0.4 s and 60 MB. 10 000 documents whose metadata have no common order
 * of keys have some 100 000.
 */
const JSON_SHAPES_MAX = 262_144

export const JSON_BOUNDS = {
  depth: JSON_DEPTH_MAX,
  containers: JSON_CONTAINERS_MAX,
  values: JSON_VALUES_MAX,
  shapes: JSON_SHAPES_MAX,
} as const

/**
 * Looks through a body before it is parsed. If the answer is `good`, the body has what is known of it,
 * followed by spaces; otherwise it is no JSON, or names the bound that it exceeds.
 */
export type JsonScan = (body: Uint8Array) => 'good' | 'invalid' | keyof typeof JSON_BOUNDS

export const EXCESS_TEXTS: Readonly<Record<keyof typeof JSON_BOUNDS, string>> = {
  depth: `JSON is nested deeper than ${JSON_DEPTH_MAX} levels`,
  containers: `JSON has more than ${JSON_CONTAINERS_MAX} objects and lists`,
  values: `JSON has more than ${JSON_VALUES_MAX} values`,
  shapes: `JSON has more than ${JSON_SHAPES_MAX} different members or orders of them`,
}
