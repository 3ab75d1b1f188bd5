/**
 * test/fault/io_failure/io_failure.test.ts shows that a start whose writes are refused reports it before it
 * ends. This test shows that the installed lmdb can be given what that needs.
 */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { reserveLmdbLineBuffer } from '../../../src/engine/search/native_engine.js'
import { openLmdb } from '../../../src/store/rows/packages.js'

describe('lines of LMDB about refused writes', () => {
  it(
    "the package's binary, once it is loaded, has the slot through which they get room",
    { skip: process.platform !== 'linux' && 'on Linux only' },
    () => {
      assert.equal(typeof openLmdb, 'function')
      assert.equal(reserveLmdbLineBuffer(), true)
      assert.equal(reserveLmdbLineBuffer(), true)
    },
  )
})
