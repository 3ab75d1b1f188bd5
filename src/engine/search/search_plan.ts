/**
 * Encodes a query for the native engine. Plans come from the service's own planner, so an invalid plan is a
 * programming error here. The engine checks the bytes again. Byte layout: docs/formats/search-plan.md.
 */
import assert from 'node:assert'
import { FUZZY_EDITS_MAX, PLAN_DEPTH_MAX, PLAN_LEAVES_MAX } from '../../limits/search.js'
import { paddedTextBytes, writeText } from '../byte_layout.js'
import type { PlanBoost, PlanNode, PlanRange, ScoringAlgorithm, SearchPlan, SortField } from '../types.js'

const PLAN_MAGIC = 0x3251534d // "MSQ2"
const PLAN_HEADER_BYTES = 44 // magic, collection, algorithm, k1, b, k, skip, sort, descending, flags, pollWord
const FLAG_EXACT_TOTAL = 1
/** In place of a filter's number of values: any value. */
const ANY_VALUE = 0xffffffff
/** Ranges and boosts follow the filters. */
const FLAG_REFINED = 2

/** The poll word of a search without a stop word. */
export const NO_POLL_WORD = 0xffffffff

const ALGORITHM_CODES: Readonly<Record<ScoringAlgorithm, number>> = { tfidf: 0, bm25: 1, bm25f: 2 }
const SORT_CODES: Readonly<Record<SortField, number>> = { score: 0, addedAt: 1, updatedAt: 2, key: 3, docid: 4 }
const TIME_CODES = { addedAt: 1, updatedAt: 2 } as const
const BOUND_CODES = { gte: 0, lte: 1, gt: 2, lt: 3 } as const
const NODE_CODES: Readonly<Record<PlanNode['kind'], number>> = {
  term: 1,
  and: 2,
  or: 3,
  andNot: 4,
  phrase: 5,
  all: 6,
  none: 7,
  fuzzy: 8,
  wildcard: 9,
  proximity: 10,
}

/** @param pollWord byte offset of the request's stop word in the shared control buffer, or `NO_POLL_WORD` */
export function encodePlan(plan: SearchPlan, pollWord: number): Uint8Array {
  const refinement = encodeRefinement(plan.ranges ?? [], plan.boosts ?? [])
  const size = PLAN_HEADER_BYTES + listsBytes(plan) + refinement.length + treeBytes(plan.root, 1)
  const bytes = Buffer.alloc(size)
  bytes.writeUInt32LE(PLAN_MAGIC, 0)
  bytes.writeUInt32LE(plan.collection, 4)
  bytes.writeUInt32LE(ALGORITHM_CODES[plan.algorithm], 8)
  bytes.writeFloatLE(plan.k1, 12)
  bytes.writeFloatLE(plan.b, 16)
  bytes.writeUInt32LE(plan.k, 20)
  bytes.writeUInt32LE(plan.skip, 24)
  bytes.writeUInt32LE(SORT_CODES[plan.sort], 28)
  bytes.writeUInt32LE(plan.descending ? 1 : 0, 32)
  bytes.writeUInt32LE((plan.exactTotal ? FLAG_EXACT_TOTAL : 0) | (refinement.length > 0 ? FLAG_REFINED : 0), 36)
  bytes.writeUInt32LE(pollWord, 40)
  let at = writeFields(bytes, PLAN_HEADER_BYTES, plan.fields)
  at = writeFilters(bytes, at, plan.filters)
  at += refinement.copy(bytes, at)
  at = writeTerms(bytes, at, plan)
  at = writeNode(bytes, at, plan.root, plan.terms.length)
  assert(at === size, `search plan: wrote ${at} of ${size} bytes`)
  return bytes
}

function listsBytes(plan: SearchPlan): number {
  let size = 8 + filtersBytes(plan.filters) // fieldCount, termCount
  for (const [name] of plan.fields) size += 8 + paddedTextBytes(name)
  for (const [term] of plan.terms) size += 16 + paddedTextBytes(term)
  return size
}

/** Includes the count. */
export function filtersBytes(filters: SearchPlan['filters']): number {
  let size = 4
  for (const [key, values] of filters) {
    size += 8 + paddedTextBytes(key)
    for (const value of values ?? []) size += 4 + paddedTextBytes(value)
  }
  return size
}

function treeBytes(node: PlanNode, depth: number): number {
  assert(depth <= PLAN_DEPTH_MAX, `search plan: deeper than ${PLAN_DEPTH_MAX}`)
  switch (node.kind) {
    case 'all':
    case 'none':
      return 4
    case 'term':
    case 'wildcard':
      return 8
    case 'fuzzy':
      return 16
    case 'proximity':
      return 12 + node.terms.length * 4
    case 'phrase':
      return 12 + node.terms.length * 8
    case 'andNot':
      return 4 + treeBytes(node.wanted, depth + 1) + treeBytes(node.excluded, depth + 1)
    case 'and':
    case 'or':
      return node.children.reduce((size, child) => size + treeBytes(child, depth + 1), 8)
  }
}

/** `u32 count`, then per field `f32 weight, u32 bytes, name`. */
function writeFields(bytes: Buffer, start: number, fields: SearchPlan['fields']): number {
  bytes.writeUInt32LE(fields.length, start)
  let at = start + 4
  for (const [name, weight] of fields) {
    bytes.writeFloatLE(weight, at)
    at = writeText(bytes, at + 4, at + 8, name)
  }
  return at
}

/** `u32 count`, then per term `f32 weight, u64 fields, u32 bytes, text`. */
function writeTerms(bytes: Buffer, start: number, { algorithm, fields, terms }: SearchPlan): number {
  bytes.writeUInt32LE(terms.length, start)
  const usual = algorithm === 'bm25f' ? bitsOf(fields.map((_, index) => index)) : bitsOf(fields.length === 0 ? [] : [0])
  let at = start + 4
  for (const [term, weight, termFields] of terms) {
    bytes.writeFloatLE(weight, at)
    bytes.writeBigUInt64LE(termFields === undefined ? usual : bitsOf(termFields), at + 4)
    at = writeText(bytes, at + 12, at + 16, term)
  }
  return at
}

function bitsOf(indexes: readonly number[]): bigint {
  return indexes.reduce((bits, index) => bits | (1n << BigInt(index)), 0n)
}

export function writeFilters(bytes: Buffer, start: number, filters: SearchPlan['filters']): number {
  bytes.writeUInt32LE(filters.length, start)
  let at = start + 4
  for (const [key, values] of filters) {
    at = writeText(bytes, at, at + 4, key)
    at = bytes.writeUInt32LE(values?.length ?? ANY_VALUE, at)
    for (const value of values ?? []) at = writeText(bytes, at, at + 4, value)
  }
  return at
}

/** Encodes ranges and boosts. Empty if there are neither. */
function encodeRefinement(ranges: readonly PlanRange[], boosts: readonly PlanBoost[]): Buffer {
  if (ranges.length === 0 && boosts.length === 0) return Buffer.alloc(0)
  let size = 8
  for (const { of, bounds } of ranges) {
    size += 12 + ('key' in of ? paddedTextBytes(of.key) : 0)
    for (const [, bound] of bounds) size += 20 + (typeof bound === 'string' ? paddedTextBytes(bound) : 0)
  }
  for (const { key, value } of boosts) size += 16 + paddedTextBytes(key) + paddedTextBytes(value)
  const bytes = Buffer.alloc(size)
  let at = bytes.writeUInt32LE(ranges.length)
  for (const range of ranges) at = writeRange(bytes, at, range)
  at = bytes.writeUInt32LE(boosts.length, at)
  for (const { key, value, factor } of boosts) {
    bytes.writeDoubleLE(factor, at)
    at = writeText(bytes, at + 8, at + 12, key)
    at = writeText(bytes, at, at + 4, value)
  }
  assert(at === size, `search plan: wrote ${at} of ${size} bytes`)
  return bytes
}

function writeRange(bytes: Buffer, start: number, { of, bounds }: PlanRange): number {
  bytes.writeUInt32LE('time' in of ? TIME_CODES[of.time] : 0, start)
  let at = writeText(bytes, start + 4, start + 8, 'key' in of ? of.key : '')
  at = bytes.writeUInt32LE(bounds.length, at)
  for (const [kind, bound] of bounds) {
    const isText = typeof bound === 'string'
    bytes.writeUInt32LE(BOUND_CODES[kind], at)
    bytes.writeUInt32LE(isText ? 1 : 0, at + 4)
    bytes.writeDoubleLE(isText ? 0 : bound, at + 8)
    at = writeText(bytes, at + 16, at + 20, isText ? bound : '')
  }
  return at
}

function writeNode(bytes: Buffer, start: number, node: PlanNode, termCount: number): number {
  bytes.writeUInt32LE(NODE_CODES[node.kind], start)
  const at = start + 4
  switch (node.kind) {
    case 'all':
    case 'none':
      return at
    case 'term':
    case 'wildcard':
      return writeTermIndex(bytes, at, node.term, termCount)
    case 'fuzzy':
      assert(node.edits >= 0 && node.edits <= FUZZY_EDITS_MAX, `search plan: ${node.edits} edits`)
      bytes.writeUInt32LE(node.edits, writeTermIndex(bytes, at, node.term, termCount))
      return bytes.writeUInt32LE(node.prefix, at + 8)
    case 'proximity':
      return writeProximity(bytes, at, node, termCount)
    case 'andNot':
      return writeNode(bytes, writeNode(bytes, at, node.wanted, termCount), node.excluded, termCount)
    case 'and':
    case 'or': {
      bytes.writeUInt32LE(node.children.length, at)
      let next = at + 4
      for (const child of node.children) next = writeNode(bytes, next, child, termCount)
      return next
    }
    case 'phrase':
      return writePhrase(bytes, at, node, termCount)
  }
}

function writePhrase(bytes: Buffer, start: number, node: Extract<PlanNode, { kind: 'phrase' }>, termCount: number): number {
  assert(node.terms.length <= PLAN_LEAVES_MAX, `search plan: phrase of ${node.terms.length} terms`)
  bytes.writeUInt32LE(node.scoring === 'occurrences' ? 0 : 1, start)
  bytes.writeUInt32LE(node.terms.length, start + 4)
  let at = start + 8
  for (const { term, offset } of node.terms) {
    at = writeTermIndex(bytes, at, term, termCount)
    bytes.writeUInt32LE(offset, at)
    at += 4
  }
  return at
}

function writeProximity(bytes: Buffer, start: number, node: Extract<PlanNode, { kind: 'proximity' }>, termCount: number): number {
  assert(node.terms.length >= 2 && node.terms.length <= PLAN_LEAVES_MAX, `search plan: proximity of ${node.terms.length} terms`)
  bytes.writeUInt32LE(node.distance, start)
  bytes.writeUInt32LE(node.terms.length, start + 4)
  let at = start + 8
  for (const term of node.terms) at = writeTermIndex(bytes, at, term, termCount)
  return at
}

function writeTermIndex(bytes: Buffer, at: number, term: number, termCount: number): number {
  assert(term >= 0 && term < termCount, `search plan: term ${term} of ${termCount}`)
  return bytes.writeUInt32LE(term, at)
}
