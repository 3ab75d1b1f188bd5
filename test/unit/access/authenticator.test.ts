/** Who asks: what an event loop keeps of credentials, and for how long. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { Authenticator, type AuthenticatorParts } from '../../../src/access/authenticator.js'
import type { CheckedRequest } from '../../../src/access/checks.js'
import { FailureReports } from '../../../src/access/failure_reports.js'
import type { AskedIdentity, Identity } from '../../../src/access/principal.js'
import { GUEST } from '../../../src/access/principal.js'
import { get } from '../../../src/operations/documents/documents.js'
import { bearer, JWT_SECRET, tokenOf } from '../../harness/server/access.js'

const ALICE: Identity = { username: 'alice', tokenEpoch: 1, rights: { isAdmin: false, grants: [] }, expiresAt: 0 }
const FIELDS: CheckedRequest = {
  authorization: '',
  ...bearer(tokenOf('alice')),
  apiKey: '',
  path: '/v1/get',
  clientAddress: () => '',
  userAgent: () => '',
}

/** A store whose answers come when the test says so. */
class Store {
  accessEpoch = 0
  readonly asked: { readonly asked: AskedIdentity; readonly answer: (identity: Identity | null) => void }[] = []
  readonly identify: AuthenticatorParts['identify'] = (asked) => new Promise((answer) => this.asked.push({ asked, answer }))
}

function started(): { readonly store: Store; readonly authenticator: Authenticator } {
  const store = new Store()
  return {
    store,
    authenticator: new Authenticator({
      jwtSecret: JWT_SECRET,
      control: store,
      identify: store.identify,
      failures: new FailureReports(() => undefined),
    }),
  }
}

describe('credentials on an event loop', () => {
  it('credentials: many requests with one credential ask the store once, and later ones not at all', async () => {
    const { store, authenticator } = started()
    const checks = Array.from({ length: 10 }, () => Promise.resolve(authenticator.check(get, FIELDS)))
    assert.deepEqual(
      store.asked.map(({ asked }) => asked),
      [{ username: 'alice' }],
    )
    store.asked[0]?.answer(ALICE)
    for (const checked of await Promise.all(checks)) assert.equal(typeof checked === 'string' ? checked : checked.name, 'alice')
    assert.ok(!(authenticator.check(get, FIELDS) instanceof Promise))
    store.accessEpoch++
    assert.ok(authenticator.check(get, FIELDS) instanceof Promise, 'asked again after a change')
  })

  it('credentials: a request after a change does not use a look-up that began before it', async () => {
    const { store, authenticator } = started()
    const before = authenticator.check(get, FIELDS)
    store.accessEpoch++
    const after = authenticator.check(get, FIELDS)
    assert.equal(store.asked.length, 2)
    // The lane has read the user before it was deleted.
    store.asked[0]?.answer(ALICE)
    store.asked[1]?.answer(null)
    assert.notEqual(await before, 'invalidToken')
    assert.equal(await after, 'invalidToken')
    const later = authenticator.check(get, FIELDS)
    assert.equal(store.asked.length, 3, 'what the first look-up found is not kept')
    store.asked[2]?.answer(null)
    assert.equal(await later, 'invalidToken')
  })

  it('credentials: a refusal of the store is not kept', async () => {
    const { store, authenticator } = started()
    const checked = authenticator.check(get, FIELDS)
    store.asked[0]?.answer('overloaded' as unknown as null)
    assert.equal(await checked, 'overloaded')
    const again = authenticator.check(get, FIELDS)
    store.asked[1]?.answer(ALICE)
    assert.notEqual(await again, 'overloaded')
  })

  it('credentials: what is found out about a token is kept for a minute at most', async (test) => {
    test.mock.timers.enable({ apis: ['Date'], now: Date.now() })
    const { store, authenticator } = started()
    const checked = authenticator.check(get, FIELDS)
    store.asked[0]?.answer(ALICE)
    await checked
    test.mock.timers.tick(59_999)
    assert.ok(!(authenticator.check(get, FIELDS) instanceof Promise))
    test.mock.timers.tick(1)
    assert.ok(authenticator.check(get, FIELDS) instanceof Promise)
  })

  it('credentials: refused ones are reported with their address, at most 1000 in a second; valid ones and none are not', async () => {
    const reported: string[] = []
    let now = 0
    const reports = new FailureReports(
      (ip) => reported.push(ip),
      () => now,
    )
    const from = (ip: string): { clientAddress: () => string } => ({ clientAddress: () => ip })
    reports.watch(GUEST, { clientAddress: () => assert.fail('the address of a valid request is not needed') })
    reports.watch('missingAuthentication', from('none'))
    reports.watch('invalidToken', from('token'))
    reports.watch(Promise.resolve('invalidApiKey'), from('key'))
    reports.watch(Promise.resolve(GUEST), from('valid'))
    await new Promise((resolve) => setImmediate(resolve))
    assert.deepEqual(reported, ['token', 'key'])
    for (let at = 0; at < 2_000; at++) reports.watch('invalidToken', from('flood'))
    assert.equal(reported.length, 1_000)
    now = 1_000
    reports.watch('invalidToken', from('later'))
    assert.equal(reported.length, 1_001)
  })
})
