/** Failed logins and bursts of failed authentication, against simple models. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { AUTH_BURST_TIMES_MAX, AuthFailures } from '../../../src/access/auth_failures.js'
import type { Incident } from '../../../src/access/checks.js'
import { LOGIN_ENTRIES_MAX, LOGIN_QUIET_MS, type LoginRules, loginRules, LoginThrottle } from '../../../src/access/login_throttle.js'
import { holds } from '../../harness/property.js'

const STRICT = loginRules({ production: true })
const LENIENT = loginRules({ production: false })

/** One counter of the model: all attempts so far, evaluated from the beginning. */
class Model {
  free: number
  at = 0
  waits = 0
  ready = 0

  constructor(readonly rules: LoginRules) {
    this.free = rules.failures
  }

  wait(now: number): number {
    return Math.max(0, this.ready - now)
  }

  charge(now: number): void {
    if (this.waits > 0 && now - this.ready >= LOGIN_QUIET_MS) [this.waits, this.free, this.at] = [0, this.rules.failures, now]
    if (this.waits === 0) {
      this.free = Math.min(this.rules.failures, this.free + ((now - this.at) * this.rules.failures) / 60_000)
      this.at = now
      this.free -= 1
      if (this.free >= 1) return
    }
    this.ready = now + Math.min(this.rules.waitMs * 2 ** this.waits, this.rules.waitMsMax)
    this.waits += 1
  }

  refund(now: number): void {
    if (this.waits > 0) [this.waits, this.ready] = [this.waits - 1, now]
    if (this.waits === 0) this.free = Math.min(this.rules.failures, this.free + 1)
  }
}

const steps = fc.array(
  fc.record({
    user: fc.constantFrom('ada', 'bob', 'eve'),
    ip: fc.constantFrom('203.0.113.1', '203.0.113.2', '2001:db8::1'),
    isRight: fc.boolean(),
    // Whole numbers of 60 ms, so that tokens are exact: 10 in a minute are one in 6 s.
    pause: fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 200 }), fc.integer({ min: 0, max: 20_000 })).map((units) => units * 60),
  }),
  { maxLength: 200 },
)

describe('login throttle', () => {
  it('login throttle: waits are those of a simple model of the pair and of the address', () => {
    holds(
      fc.property(steps, fc.constantFrom(STRICT, { failures: 3, waitMs: 1000, waitMsMax: 5000 }), (attempts, rules) => {
        let now = 0
        const throttle = new LoginThrottle(rules, () => now)
        const models = new Map<string, Model>()
        const modelOf = (key: string): Model => {
          if (!models.has(key)) models.set(key, Object.assign(new Model(rules), { at: now, ready: now }))
          return models.get(key)!
        }
        for (const { user, ip, isRight, pause } of attempts) {
          now += pause
          const both = [modelOf(`${user} ${ip}`), modelOf(ip)]
          const expected = Math.max(...both.map((model) => model.wait(now)))
          assert.equal(throttle.admit(user, ip), expected)
          if (expected > 0) continue
          for (const model of both) model.charge(now)
          if (!isRight) continue
          models.delete(`${user} ${ip}`)
          modelOf(ip).refund(now)
          throttle.succeeded(user, ip)
        }
      }),
    )
  })

  it('login throttle: in production ten failures are free, then waits double from 6 s to 15 min', () => {
    let now = 0
    const throttle = new LoginThrottle(STRICT, () => now)
    for (let attempt = 0; attempt < 10; attempt++) assert.equal(throttle.admit('ada', '203.0.113.1'), 0)
    const waits = Array.from({ length: 9 }, () => {
      const wait = throttle.admit('ada', '203.0.113.1')
      now += wait
      assert.equal(throttle.admit('ada', '203.0.113.1'), 0)
      return wait / 1000
    })
    assert.deepEqual(waits, [6, 12, 24, 48, 96, 192, 384, 768, 900])
    now += 900_000 + LOGIN_QUIET_MS
    for (let attempt = 0; attempt < 10; attempt++) assert.equal(throttle.admit('ada', '203.0.113.1'), 0)
  })

  it('login throttle: outside of production a client that tries five passwords a second never waits', () => {
    let now = 0
    const throttle = new LoginThrottle(LENIENT, () => now)
    for (let attempt = 0; attempt < 3000; attempt++, now += 200) assert.equal(throttle.admit('ada', '203.0.113.1'), 0)
    let longest = 0
    for (let attempt = 0; attempt < 3000; attempt++) longest = Math.max(longest, throttle.admit('ada', '203.0.113.1'))
    assert.ok(longest > 0 && longest <= 1000, `${longest} ms`)
  })

  it('login throttle: attempts in parallel are charged before their passwords are known to be wrong', () => {
    const throttle = new LoginThrottle(STRICT, () => 0)
    const admitted = Array.from({ length: 100 }, () => throttle.admit('ada', '203.0.113.1')).filter((wait) => wait === 0)
    assert.equal(admitted.length, 10)
  })

  it('login throttle: many users tried from one address wait as one; other addresses do not', () => {
    const throttle = new LoginThrottle(STRICT, () => 0)
    const admitted = Array.from({ length: 100 }, (_, at) => throttle.admit(`user${at}`, '2001:db8::1')).filter((wait) => wait === 0)
    assert.equal(admitted.length, 10)
    assert.ok(throttle.admit('another', '2001:db8::2') > 0, 'the same network')
    assert.equal(throttle.admit('user0', '203.0.113.1'), 0)
  })

  it('login throttle: right passwords are never slowed down, and free nobody else of the address from waiting', () => {
    const throttle = new LoginThrottle(STRICT, () => 0)
    for (let login = 0; login < 1000; login++) {
      assert.equal(throttle.admit('ada', '203.0.113.1'), 0)
      throttle.succeeded('ada', '203.0.113.1')
    }
    let failures = 0
    for (let at = 0; at < 100; at++) {
      if (throttle.admit('ada', '203.0.113.1') === 0) throttle.succeeded('ada', '203.0.113.1')
      if (throttle.admit(`victim${at}`, '203.0.113.1') === 0) failures += 1
    }
    assert.equal(failures, 10)
  })

  it('login throttle: memory is bounded under a flood of users and addresses', () => {
    const throttle = new LoginThrottle(STRICT, () => 0)
    for (let at = 0; at < 3 * LOGIN_ENTRIES_MAX; at++) throttle.admit(`u${at}`, `10.${at >> 16}.${(at >> 8) & 255}.${at & 255}`)
    assert.equal(throttle.size, 2 * LOGIN_ENTRIES_MAX)
  })
})

describe('bursts of failed authentication', () => {
  it('auth failures: a burst is an incident when the sliding window holds the threshold, at most once in the cooldown', () => {
    const failures = fc.array(
      fc.record({
        actor: fc.constantFrom('ada', ''),
        ip: fc.constantFrom('203.0.113.1', '203.0.113.2'),
        pause: fc.integer({ min: 0, max: 8 }),
      }),
      { maxLength: 150 },
    )
    holds(
      fc.property(
        failures,
        fc.integer({ min: 1, max: 6 }),
        fc.integer({ min: 1, max: 20 }),
        fc.integer({ min: 0, max: 40 }),
        (list, threshold, window, cooldown) => {
          let now = 0
          const seen: Incident[] = []
          const rules = { incidentAuthThreshold: threshold, incidentAuthWindowSeconds: window, incidentAuthCooldownSeconds: cooldown }
          const bursts = new AuthFailures(rules, (incident) => seen.push(incident), () => now * 1000) // prettier-ignore
          const past: { readonly key: string; readonly at: number }[] = []
          const quiet = new Map<string, number>()
          for (const { actor, ip, pause } of list) {
            now += pause
            const key = `${actor} ${ip}`
            past.push({ key, at: now })
            const recent = past.filter((one) => one.key === key && one.at > now - window).length
            const isDue = recent >= threshold && now >= (quiet.get(key) ?? 0)
            if (isDue) quiet.set(key, now + cooldown)
            seen.length = 0
            bursts.failed(actor, ip)
            const expected = {
              action: 'security.auth_failure_burst',
              actor,
              ip,
              detail: JSON.stringify({ actor, ip, count: threshold, windowSec: window }),
            }
            assert.deepEqual(seen, isDue ? [expected] : [])
          }
        },
      ),
    )
  })

  it('auth failures: memory is bounded under a flood of actors, and those of the latest failures are kept', () => {
    const seen: Incident[] = []
    const rules = { incidentAuthThreshold: 3, incidentAuthWindowSeconds: 60, incidentAuthCooldownSeconds: 300 }
    const bursts = new AuthFailures(rules, (incident) => seen.push(incident), () => 0) // prettier-ignore
    for (let at = 0; at < AUTH_BURST_TIMES_MAX + 1000; at++)
      bursts.failed('x'.repeat(1000) + String(at), `10.${at >> 16}.${(at >> 8) & 255}.${at & 255}`)
    assert.ok(bursts.kept <= AUTH_BURST_TIMES_MAX)
    for (let at = 0; at < 2; at++) bursts.failed('late', '203.0.113.1')
    assert.equal(seen.length, 0)
    bursts.failed('late', '203.0.113.1')
    assert.equal(seen.length, 1)
    assert.ok((seen[0]?.detail.length ?? 0) < 200)
  })
})
