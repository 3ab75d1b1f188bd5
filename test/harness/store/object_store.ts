/**
 * A real S3-compatible server for tests: versitygw on a free port of this machine, over a temporary folder.
 * It checks signatures and preconditions. If it is missing (scripts/install-object-store.mjs installs it into
 * .cache/bin), the tests that need it are skipped with a message.
 */
import { type ChildProcess, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, relative } from 'node:path'
import { spawn } from '../process/owned_processes.js'
import { freePort, isListening } from '../process/ports.js'

export const ACCESS_KEY = 'test-access'
export const SECRET_KEY = 'test-secret/+='
export const REGION = 'eu-central-1'
const CACHED = join(import.meta.dirname, '..', '..', '..', '..', '.cache', 'bin', 'versitygw')
const START_MS_MAX = 30_000

function find(): string | undefined {
  if (existsSync(CACHED)) return CACHED
  return spawnSync('versitygw', ['--version']).status === 0 ? 'versitygw' : undefined
}

const program = find()

/** The `skip` option of a suite: the reason, or false. */
export const noObjectStore: string | false =
  program === undefined ? 'NO OBJECT STORE: versitygw is missing; node scripts/install-object-store.mjs installs it' : false
if (noObjectStore !== false) console.error(noObjectStore)

export class ObjectStore {
  readonly #folder = mkdtempSync(join(tmpdir(), 'mds-objects-'))
  #child: ChildProcess | undefined

  private constructor(readonly port: number) {}

  /** Starts the store with these buckets. */
  static async start(...buckets: string[]): Promise<ObjectStore> {
    const store = new ObjectStore(await freePort())
    for (const bucket of buckets) mkdirSync(join(store.#folder, bucket))
    await store.resume()
    return store
  }

  get endpoint(): string {
    return `127.0.0.1:${this.port}`
  }

  /** Paths of the objects of a bucket, relative to it, sorted. */
  objects(bucket: string): string[] {
    const folder = join(this.#folder, bucket)
    for (;;) {
      try {
        const found = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
        return found.map((entry) => relative(folder, join(entry.parentPath, entry.name))).sort()
      } catch (error) {
        // The store removes folders that have become empty; this one disappeared between its listing and its
        // reading.
        if ((error as NodeJS.ErrnoException).code !== 'ENOENT' || !existsSync(folder)) throw error
      }
    }
  }

  /** The bytes of an object as stored; undefined if it is gone. */
  read(bucket: string, path: string): Buffer | undefined {
    const file = join(this.#folder, bucket, path)
    try {
      return readFileSync(file)
    } catch {
      return undefined
    }
  }

  /**
   * Writes or removes an object bypassing the protocol.
   * @param bytes null: removes it
   */
  place(bucket: string, path: string, bytes: Uint8Array | null): void {
    const file = join(this.#folder, bucket, path)
    if (bytes === null) {
      rmSync(file)
      return
    }
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, bytes)
  }

  /**
   * Restarts the store over its data, on the same port.
   * @param secretKey valid from now on
   */
  async resume(secretKey = SECRET_KEY): Promise<void> {
    const args = ['--port', this.endpoint, '--region', REGION, '--keep-alive', '--quiet', 'posix', this.#folder]
    const env = { ...process.env, ROOT_ACCESS_KEY: ACCESS_KEY, ROOT_SECRET_KEY: secretKey }
    this.#child = spawn(program ?? '', args, { env, stdio: 'ignore' })
    const deadline = Date.now() + START_MS_MAX
    while (!(await isListening(this.port))) {
      if (this.#child.exitCode !== null || Date.now() > deadline) throw new Error('versitygw did not start')
      await new Promise((resolve) => setTimeout(resolve, 10))
    }
  }

  /** The store accepts connections and requests but answers none until it continues. */
  hang(): void {
    this.#child?.kill('SIGSTOP')
  }

  goOn(): void {
    this.#child?.kill('SIGCONT')
  }

  /** SIGKILL; the objects are kept. */
  async kill(): Promise<void> {
    const child = this.#child
    if (child === undefined) return
    this.#child = undefined
    const ended = once(child, 'exit')
    child.kill('SIGKILL')
    await ended
  }

  async stop(): Promise<void> {
    await this.kill()
    rmSync(this.#folder, { recursive: true, force: true })
  }
}
