/**
 * The packages on which the stores are built. All are CommonJS or have a CommonJS form in one file. They are
 * loaded by `require`, because an import would scan their whole text for names, or load many small files, in
 * every thread of a start (docs/decisions/operation/starting.md). No other file of src imports them except
 * for types.
 */
import { createRequire } from 'node:module'

const require = createRequire(import.meta.url)

export const { open: openLmdb } = require('lmdb') as typeof import('lmdb')
export const { pack, unpack, Packr } = require('msgpackr') as typeof import('msgpackr')
export const { crc32, crc32c } = require('@node-rs/crc32') as typeof import('@node-rs/crc32')
export const { compressSync, uncompressSync } = require('snappy') as typeof import('snappy')
/**
 * The binding compresses and decompresses into an existing buffer. The package's own interface allocates
 * buffers and loads streams.
 */
export const { CCtx, DCtx, compressBound } = require('zstd-napi/binding.js') as typeof import('zstd-napi/binding.js')
