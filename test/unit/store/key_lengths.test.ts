/** Keys with text: which texts fit without being encoded. */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { fitsAnyKey, identityKey, isKey, spellingKey } from '../../../src/store/rows/keys.js'

const UNITS_MAX = 700

it('keys: a text that fits any key fits as written and in lower case, of whatever characters it consists', () => {
  let most = 0
  for (let unit = 1; unit < 0x10000; unit++) {
    const key = String.fromCharCode(unit)
    most = Math.max(most, identityKey(0, key, '').length - 5, spellingKey(0, 0, key, '').length - 9)
  }
  assert.equal(most, 3, 'bytes of a unit')
  const largest = Array.from({ length: UNITS_MAX }, (_, units) => units).findLast(fitsAnyKey) ?? 0
  assert.ok(largest > 600, `${largest} units`)
  for (const letter of ['x', 'İ', '漢', '\u{1f600}']) {
    const key = letter.repeat(largest / letter.length)
    assert.ok(isKey(identityKey(0, key, '')) && isKey(spellingKey(0, 0, key, '')), letter)
  }
})
