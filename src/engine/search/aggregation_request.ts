/**
 * Encodes an aggregation for the native engine and decodes its result. Byte layout:
 * docs/formats/search-plan.md, "Aggregation".
 */
import assert from 'node:assert'
import { paddedTextBytes, writeText } from '../byte_layout.js'
import type { Aggregated, AggregationRequest } from '../types.js'
import { filtersBytes, writeFilters } from './search_plan.js'

const AGGREGATION_MAGIC = 0x3141534d // "MSA1"
const HEADER_BYTES = 20 // magic, collection, pollWord, facetSizeMax, valuesMax
const FIELD_CODES = { addedAt: 1, updatedAt: 2 } as const
const INTERVAL_CODES = { day: 0, week: 1, month: 2, year: 3 } as const

/** @param pollWord byte offset of the request's stop word in the shared control buffer, or `NO_POLL_WORD` */
export function encodeAggregation(request: AggregationRequest, pollWord: number): Uint8Array {
  const { filters, facets, histograms, absent } = request
  const facetsBytes = facets.reduce((size, { key }) => size + 8 + paddedTextBytes(key), 4)
  const size = HEADER_BYTES + filtersBytes(filters) + facetsBytes + 4 + histograms.length * 8 + 4 + absent.length * 4
  const bytes = Buffer.alloc(size)
  bytes.writeUInt32LE(AGGREGATION_MAGIC, 0)
  bytes.writeUInt32LE(request.collection, 4)
  bytes.writeUInt32LE(pollWord, 8)
  bytes.writeUInt32LE(request.facetSizeMax, 12)
  bytes.writeUInt32LE(request.valuesMax, 16)
  let at = writeFilters(bytes, HEADER_BYTES, filters)
  at = bytes.writeUInt32LE(facets.length, at)
  for (const { key, byValue } of facets) {
    bytes.writeUInt32LE(byValue ? 1 : 0, at)
    at = writeText(bytes, at + 4, at + 8, key)
  }
  at = bytes.writeUInt32LE(histograms.length, at)
  for (const { field, interval } of histograms) {
    at = bytes.writeUInt32LE(FIELD_CODES[field], at)
    at = bytes.writeUInt32LE(INTERVAL_CODES[interval], at)
  }
  at = bytes.writeUInt32LE(absent.length, at)
  for (const docid of absent) at = bytes.writeUInt32LE(docid, at)
  assert(at === size, `aggregation: wrote ${at} of ${size} bytes`)
  return bytes
}

/** @param json what the engine returns: native/engine/query/facets/aggregation.h */
export function decodeAggregated(json: string): Aggregated {
  return JSON.parse(json) as Aggregated
}
