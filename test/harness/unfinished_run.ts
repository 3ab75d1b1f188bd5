/**
 * A test run without an end: it starts every kind of process that tests start, prints their ids as one line
 * of JSON, and waits to be killed.
 */
import { readFileSync } from 'node:fs'
import { mkdtemp } from 'node:fs/promises'
import { join } from 'node:path'
import { spawn } from './process/owned_processes.js'
import { nginxMain, skippedWithout, startProxy } from './proxies.js'
import { startServer } from './server/server.js'
import { noObjectStore, ObjectStore } from './store/object_store.js'

const [folder = ''] = process.argv.slice(2)

const server = async (supervisor: boolean): Promise<number> =>
  (await startServer({ supervisor, directory: await mkdtemp(join(folder, 'store-')) })).pid

/** A pipe to a shell, a child of that shell, and a process in a session of its own. */
function helpers(): readonly number[] {
  const shell = spawn('sh', ['-c', 'sleep 600 & wait'], { stdio: 'ignore' })
  const detached = spawn('sleep', ['600'], { stdio: 'ignore', detached: true })
  return [shell, detached].map(({ pid }) => pid ?? -1)
}

/** The process and all that descend from it. */
function tree(pid: number): readonly number[] {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ').filter(Boolean).map(Number)
  return [pid, ...children.flatMap(tree)]
}

const frozen = await server(true)
const started = [await server(false), frozen, ...helpers()]
if (noObjectStore === false) await ObjectStore.start()
if (skippedWithout('haproxy') === false)
  await startProxy('haproxy', (port) => `defaults\n timeout client 1s\nfrontend f\n mode tcp\n bind 127.0.0.1:${port}\n`)
if (skippedWithout('nginx') === false) await startProxy('nginx', (port, at) => nginxMain(`server { listen 127.0.0.1:${port}; }`, at))
const all = tree(process.pid).slice(1)
// A process that is stopped can not react to the end of its parent.
for (const pid of tree(frozen)) process.kill(pid, 'SIGSTOP')
process.stdout.write(`${JSON.stringify([...new Set([...started, ...all])])}\n`)
