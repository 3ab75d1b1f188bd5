/**
 * Runs the Lucene server of the shared aids: the same HTTP paths over Lucene 9.12, without durability. It is
 * started on a free port and stopped by its process id.
 */
import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { spawn } from '../../test/harness/process/owned_processes.js'
import { luceneClassPath } from './peers.js'

/**
 * Without `nodelay` head and body are sent as two packets, and every answer waits 40 ms for the client's
 * delayed acknowledgement.
 */
const FLAGS = ['-Xmx2g', '-Dsun.net.httpserver.nodelay=true']

export interface LuceneServer {
  readonly port: number
  stop(): Promise<void>
}

/**
 * Null if Lucene cannot be built. The server's error stream is ignored: it prints a stack for every
 * connection that the load closes.
 */
export async function startLuceneServer(directory: string): Promise<LuceneServer | null> {
  const classPath = luceneClassPath()
  if (classPath === null) return null
  const port = await freePort()
  const child = spawn('java', [...FLAGS, '-cp', classPath, 'LH', String(port), directory], { stdio: ['ignore', 'pipe', 'ignore'] })
  const ended = once(child, 'exit')
  const ready = await Promise.race([once(child.stdout, 'data').then(() => true), ended.then(() => false)])
  if (!ready) throw new Error('the Lucene server ended at its start')
  return {
    port,
    stop: async () => {
      child.kill('SIGKILL')
      await ended
    },
  }
}

async function freePort(): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.1')
  await once(probe, 'listening')
  const { port } = probe.address() as AddressInfo
  probe.close()
  await once(probe, 'close')
  return port
}
