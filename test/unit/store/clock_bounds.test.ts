/**
 * Clocks before 1970 and after 2106: stored data contains the nearest storable time, and no write ends the
 * process.
 */
import assert from 'node:assert/strict'
import { it, mock } from 'node:test'
import { addWrite, decodeHistory, emptyHistory, encodeHistory } from '../../../src/store/histories/history.js'
import { newObjectId } from '../../../src/store/objects.js'
import { minuteKey } from '../../../src/store/rows/keys.js'
import { unixSeconds } from '../../../src/store/truth_store.js'

for (const [year, milliseconds, second] of [
  [1960, Date.UTC(1960, 0, 1), 0],
  [2120, Date.UTC(2120, 0, 1), 0xffff_ffff],
] as const)
  it(`a clock of ${year} is taken for the nearest second that histories, counts by minute and ids of objects can hold`, (test) => {
    mock.method(Date, 'now', () => milliseconds)
    test.after(() => mock.restoreAll())
    const history = emptyHistory()
    addWrite(history, 'create', unixSeconds(), null)
    assert.equal(decodeHistory(encodeHistory(history), () => 'history').writes[0]?.second, second)
    assert.equal(minuteKey(1, 0, Math.floor(unixSeconds() / 60) - 1e6).length, 9)
    assert.equal(newObjectId().length, 16)
  })
