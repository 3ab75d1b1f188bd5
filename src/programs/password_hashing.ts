/**
 * The program of a thread that hashes passwords, one after another, at the lowest priority of the machine: a
 * hash takes 0.2 s of a core, and event loops and lanes go first.
 */
import { parentPort, workerData } from 'node:worker_threads'
import { hashSync, verifySync } from '@node-rs/bcrypt'
import type { HashRequest, HashResult, HashStart } from '../background/access/password_threads.js'
import { lowerPriority } from '../base/thread_priority.js'

/** The lowest priority of the machine: a hash takes 0.2 s of a core. */
const PASSWORD_THREAD_NICE = 19

const { cost } = workerData as HashStart
lowerPriority(PASSWORD_THREAD_NICE)

parentPort?.on('message', ({ password, hash }: HashRequest) => {
  const result: HashResult = hash === null ? hashSync(password, cost) : verifySync(password, hash)
  parentPort?.postMessage(result)
})
