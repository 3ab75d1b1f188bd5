/** Hashes of passwords, made in threads of their own. */
import assert from 'node:assert/strict'
import { it } from 'node:test'
import { PasswordThreads } from '../../../src/background/access/password_threads.js'
import { BCRYPT_COST } from '../../../src/limits/access.js'

it('passwords: hashed by bcrypt with cost 12 and a salt of their own, in a thread, and compared with their hash', async () => {
  const threads = new PasswordThreads(BCRYPT_COST)
  try {
    const [one, other] = await Promise.all([threads.hash('a password'), threads.hash('a password')])
    for (const hash of [one, other]) assert.match(hash, /^\$2[aby]\$12\$[./A-Za-z0-9]{53}$/)
    assert.notEqual(one, other)
    assert.equal(await threads.matches('login', 'a password', one), true)
    assert.equal(await threads.matches('login', 'another one', one), false)
  } finally {
    await threads.close()
  }
})

it('passwords: a full queue of changes refuses no login, and takes turns with logins', async () => {
  let isFull = false
  const threads = new PasswordThreads(BCRYPT_COST, (full) => (isFull = full))
  let changed = 0
  const changes: Promise<unknown>[] = []
  while (threads.hasSpace('change')) changes.push(threads.hash('a password').then(() => changed++))
  try {
    assert.deepEqual([threads.hasSpace('login'), isFull], [true, false])
    assert.equal(await threads.matches('login', 'a password', `$2b$12$${'a'.repeat(53)}`), false)
    // Two threads at most: those that were at work, and one whose turn came before.
    assert.ok(changed <= 4 && changes.length > 30, `${changed} of ${changes.length} changes came before the login`)
  } finally {
    const all = Promise.allSettled(changes)
    await threads.close()
    await all
  }
})
