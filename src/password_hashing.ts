/**
 * The program of a thread that hashes passwords, one after another, at the lowest priority of the machine: a
 * hash takes 0.2 s of a core, and event loops and lanes go first.
 */
import { setPriority } from 'node:os'
import { parentPort } from 'node:worker_threads'
import { hashSync, verifySync } from '@node-rs/bcrypt'
import { BCRYPT_COST } from './limits/access.js'
import type { HashRequest, HashResult } from './background/access/password_threads.js'

const PRIORITY_LOWEST = 19

try {
  // Of this thread only.
  setPriority(PRIORITY_LOWEST)
} catch {
  // Not permitted here: hashes then compete with requests.
}

parentPort?.on('message', ({ password, hash }: HashRequest) => {
  const result: HashResult = hash === null ? hashSync(password, BCRYPT_COST) : verifySync(password, hash)
  parentPort?.postMessage(result)
})
