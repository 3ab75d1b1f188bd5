/**
 * The packages that the stores are made of, all CommonJS or with a CommonJS form in one file, taken by
 * `require`: an import would search their whole text for names, or load many small files, in every thread of
 * a start (docs/decisions/0051-what-a-start-loads.md). Nothing else in src imports them but for types.
 */
import { createRequire } from 'node:module'

const require = createRequire(import.meta.url)

export const { open: openLmdb } = require('lmdb') as typeof import('lmdb')
export const { pack, unpack, Packr } = require('msgpackr') as typeof import('msgpackr')
export const { crc32, crc32c } = require('@node-rs/crc32') as typeof import('@node-rs/crc32')
export const { compressSync, uncompressSync } = require('snappy') as typeof import('snappy')
/**
 * The binding packs and unpacks into a buffer that is there; the package's own face allocates, and loads
 * streams.
 */
export const { CCtx, DCtx, compressBound } = require('zstd-napi/binding.js') as typeof import('zstd-napi/binding.js')
