/** Hashes of passwords, made in threads of their own. */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { PasswordThreads } from '../../src/background/access/password_threads.js'

it('passwords: hashed by bcrypt with cost 12 and a salt of their own, in a thread, and compared with their hash', async () => {
  const threads = new PasswordThreads()
  try {
    const [one, other] = await Promise.all([threads.hash('a password'), threads.hash('a password')])
    for (const hash of [one, other]) assert.match(hash, /^\$2[aby]\$12\$[./A-Za-z0-9]{53}$/)
    assert.notEqual(one, other)
    assert.equal(await threads.matches('a password', one), true)
    assert.equal(await threads.matches('another one', one), false)
  } finally {
    await threads.close()
  }
})
