/**
 * Runs of the command line in processes of their own, and a folder for their files. `bin/mds.mjs` runs the
 * compiled code of `dist`, which is the code under test when the tests run from there.
 */
import type { ChildProcess } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { after, before } from 'node:test'
import { projectFolder } from '../../src/base/installation.js'
import { spawn } from './process/owned_processes.js'
import { type Server, startServer } from './server/server.js'

interface Run {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

export class CliRuns {
  readonly folder = mkdtempSync(join(tmpdir(), 'mds-cli-runs-'))
  readonly #going: ChildProcess[] = []
  #made = 0

  /** @param url address of the server, set once it is started */
  constructor(readonly url: () => string) {}

  readonly mds = (...args: readonly string[]): Promise<Run> => this.withEnv({})(...args)

  /** @param variables beside those of this process */
  readonly withEnv =
    (variables: Readonly<Record<string, string>>) =>
    async (...args: readonly string[]): Promise<Run> => {
      const env = { ...process.env, MDS_URL: this.url(), XDG_STATE_HOME: join(this.folder, 'state'), ...variables }
      const child = spawn(process.execPath, [join(projectFolder(), 'bin', 'mds.mjs'), ...args], { env, stdio: ['ignore', 'pipe', 'pipe'] })
      const output = { stdout: '', stderr: '' }
      for (const stream of ['stdout', 'stderr'] as const)
        child[stream]?.setEncoding('utf8').on('data', (text: string) => (output[stream] += text))
      const code = await new Promise<number | null>((resolve) => child.on('close', resolve))
      return { code, ...output }
    }

  /** A run that goes on: its lines can be waited for. */
  start(...args: readonly string[]): GoingRun {
    const env = { ...process.env, MDS_URL: this.url(), XDG_STATE_HOME: join(this.folder, 'state') }
    const child = spawn(process.execPath, [join(projectFolder(), 'bin', 'mds.mjs'), ...args], { env, stdio: ['ignore', 'pipe', 'pipe'] })
    this.#going.push(child)
    return new GoingRun(child)
  }

  /** @returns a new folder with the files */
  makeTree(files: Readonly<Record<string, string | Buffer>>): string {
    const root = join(this.folder, `tree-${++this.#made}`)
    mkdirSync(root)
    for (const [path, content] of Object.entries(files)) this.write(join(root, path), content)
    return root
  }

  write(path: string, content: string | Buffer): void {
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, content)
  }

  remove(): void {
    // Of a test that has failed.
    for (const child of this.#going) child.kill('SIGKILL')
    rmSync(this.folder, { recursive: true })
  }
}

class GoingRun {
  output = ''
  #read = 0
  #wake = (): void => undefined
  /** Once it has ended; null after a signal. */
  readonly code: Promise<number | null>

  constructor(readonly child: ChildProcess) {
    for (const stream of [child.stdout, child.stderr])
      stream?.setEncoding('utf8').on('data', (text: string) => {
        this.output += text
        this.#wake()
      })
    this.code = new Promise((resolve) => child.on('close', resolve))
    void this.code.then(() => this.#wake())
  }

  /**
   * @returns the next text that matches, behind what was returned before. @throws Error if the run ends
   * without
   */
  async until(pattern: RegExp): Promise<string> {
    for (;;) {
      const match = pattern.exec(this.output.slice(this.#read))
      if (match !== null) {
        this.#read += match.index + match[0].length
        return match[0]
      }
      if (this.child.exitCode !== null || this.child.signalCode !== null)
        throw new Error(`ended without ${String(pattern)}:\n${this.output}`)
      await new Promise<void>((resolve) => (this.#wake = resolve))
    }
  }

  /** @returns its exit code */
  async end(signal: 'SIGINT' | 'SIGTERM' = 'SIGTERM'): Promise<number | null> {
    this.child.kill(signal)
    return await this.code
  }
}

/** A server and runs against it, for all tests of the file. */
export function cliWithServer(): { readonly runs: CliRuns } & Pick<Server, 'post' | 'get'> {
  let server: Server
  const runs = new CliRuns(() => server.url)
  before(async () => void (server = await startServer()))
  after(async () => {
    await server.stop()
    runs.remove()
  })
  return { runs, post: (...asked) => server.post(...asked), get: (...asked) => server.get(...asked) }
}
