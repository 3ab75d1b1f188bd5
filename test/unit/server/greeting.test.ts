/** The addresses that a start suggests to its user. */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { curlTarget } from '../../../src/greeting.js'

it('greeting: the addresses to try can be connected to, and pages opened under them may call the server', () => {
  const bases = {
    ':11023': 'http://127.0.0.1:11023',
    '0.0.0.0:11023': 'http://127.0.0.1:11023',
    '[::]:11023': 'http://[::1]:11023',
    '127.0.0.1:80': 'http://127.0.0.1:80',
    '[::1]:80': 'http://[::1]:80',
    '192.168.1.5:11023': 'http://192.168.1.5:11023',
    'docs.example:11023': 'http://docs.example:11023',
  }
  for (const [address, base] of Object.entries(bases)) assert.deepEqual(curlTarget(address), { option: '', base }, address)
  assert.deepEqual(curlTarget(':11023', true), { option: '', base: 'https://127.0.0.1:11023' })
  assert.deepEqual(curlTarget('unix:/run/mds.sock'), { option: '--unix-socket /run/mds.sock ', base: 'http://localhost' })
})
