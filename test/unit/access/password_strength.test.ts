/** Which new passwords are weak, and what a server does about them: security.md, "Passwords". */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { loadConfig } from '../../../src/config/config.js'
import { checkPassword } from '../../../src/domain/access/names.js'
import { isCommon, weaknessOf } from '../../../src/passwords/password_strength.js'

const COMMON = [
  'password', 'Password1', 'P@ssw0rd2024!', 'passwordpassword', '123456789012', '210987654321', 'qwertyuiop12', 'Qwertyuiop!2345',
  'aaaaaaaaaaaa', 'abcabcabcabc', 'abcdefghijklm', 'iloveyou1234', '1q1q1q1q1q1q', 'Administrator1', 'welcome2024!!', 'letmeinletmein',
  '0000000000000', 'changeme12345', 'superman99999', '!!!dragon!!!!',
] // prettier-ignore
const STRONG = [
  'correct horse battery staple',
  'the password of the administrator',
  'of a test, too',
  'kT7#vq2!mZr9',
  'dragonpasswordfish',
  'пароль-длинный-9',
]

it('passwords: the most used ones are known in any case, with digits for letters and signs around them; others are not', () => {
  for (const password of COMMON) assert.ok(isCommon(password), password)
  for (const password of STRONG) assert.ok(!isCommon(password), password)
  assert.ok(!isCommon(''))
})

it('passwords: fewer than 12 characters, the username, and the most used ones are refused in production, elsewhere they are named', () => {
  const refusals: readonly (readonly [string, RegExp])[] = [
    ['eleven char', /at least 12 characters/],
    ['Elizabeth of York', /the username/],
    ['Password2024!', /one of the most used passwords/],
  ]
  for (const [password, reason] of refusals) {
    assert.match(weaknessOf(password, 'elizabeth of york') ?? '', reason)
    assert.match(checkPassword(password, 'elizabeth of york', false) ?? '', reason)
    assert.throws(() => checkPassword(password, 'elizabeth of york', true), reason)
  }
  assert.equal(weaknessOf('twelve chars', 'somebody'), null)
  assert.equal(checkPassword('twelve chars', 'somebody', true), null)
})

it('passwords: an empty one, and one of more than 72 bytes, is refused everywhere', () => {
  for (const isProduction of [false, true]) {
    assert.throws(() => checkPassword('', 'somebody', isProduction), /missing fields/)
    assert.throws(() => checkPassword('x'.repeat(73), 'somebody', isProduction), /at most 72 bytes/)
  }
})

it('passwords: a weak one of the bootstrap administrator is a warning that does not show it', () => {
  const env = { SVC_AUTH_ENABLED: 'true', SVC_AUTH_JWT_SECRET: 'x'.repeat(32) }
  const { warnings } = loadConfig([], { ...env, SVC_AUTH_ADMIN_PASSWORD: 'Passw0rd2024' })
  assert.deepEqual(warnings, ['SVC_AUTH_ADMIN_PASSWORD is weak: it is one of the most used passwords'])
  assert.deepEqual(loadConfig([], { ...env, SVC_AUTH_ADMIN_PASSWORD: 'a long one of a test' }).warnings, [])
})
