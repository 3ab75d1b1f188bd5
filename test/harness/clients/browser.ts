/**
 * A browser for tests: the machine's Chromium, headless, driven by its own protocol over a WebSocket. Nothing
 * is installed: tests say so when they skip.
 */
import { type ChildProcess, spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { WebSocket } from 'undici'
import { spawn } from '../process/owned_processes.js'
import { untilAsked } from '../process/until.js'

const NAMES = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable']

interface Reply {
  readonly id?: number
  readonly method?: string
  readonly params?: Readonly<Record<string, unknown>>
  readonly result?: Readonly<Record<string, unknown>>
  readonly error?: unknown
}

/** @returns undefined: the machine has none */
export function findBrowser(): string | undefined {
  return NAMES.find((name) => spawnSync(name, ['--version']).status === 0)
}

export class Page {
  readonly #child: ChildProcess
  readonly #socket: WebSocket
  readonly #folder: string
  readonly #waiting = new Map<number, (reply: Reply) => void>()
  #lastId = 0
  #session = ''
  /** URLs that the page has asked for, but those of its own data. */
  readonly requested: string[] = []
  /** What the browser has reported: errors of scripts, violations of policies, failed requests. */
  readonly reports: string[] = []

  private constructor(child: ChildProcess, socket: WebSocket, folder: string) {
    this.#child = child
    this.#socket = socket
    this.#folder = folder
    socket.addEventListener('message', ({ data }) => this.#take(JSON.parse(String(data)) as Reply))
  }

  static async open(program: string): Promise<Page> {
    const folder = mkdtempSync(join(tmpdir(), 'mds-browser-'))
    const flags = ['--headless=new', '--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage', '--remote-debugging-port=0']
    const child = spawn(program, [...flags, `--user-data-dir=${folder}`, 'about:blank'], { stdio: ['ignore', 'ignore', 'pipe'] })
    const url = await new Promise<string>((resolve, reject) => {
      child.once('exit', () => reject(new Error(`${program} ended`)))
      createInterface({ input: child.stderr }).on('line', (line) => {
        const found = /DevTools listening on (ws:\S+)/.exec(line)?.[1]
        if (found !== undefined) resolve(found)
      })
    })
    const socket = new WebSocket(url)
    await new Promise((resolve) => socket.addEventListener('open', resolve, { once: true }))
    const page = new Page(child, socket, folder)
    const { targetId } = await page.#call('Target.createTarget', { url: 'about:blank' })
    const { sessionId } = await page.#call('Target.attachToTarget', { targetId, flatten: true })
    page.#session = String(sessionId)
    for (const domain of ['Page', 'Runtime', 'Log', 'Network']) await page.#call(`${domain}.enable`)
    return page
  }

  async go(url: string): Promise<void> {
    await this.#call('Page.navigate', { url })
  }

  /** The value of an expression in the page. */
  async value<T>(expression: string): Promise<T> {
    const { result } = await this.#call('Runtime.evaluate', { expression, returnByValue: true, awaitPromise: true })
    return (result as { readonly value: T }).value
  }

  async until(expression: string): Promise<void> {
    await untilAsked(
      () => this.value<unknown>(expression),
      (value) => value === true,
    )
  }

  async close(): Promise<void> {
    const ended = new Promise((resolve) => this.#child.once('exit', resolve))
    this.#socket.close()
    this.#child.kill()
    await ended
    rmSync(this.#folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 })
  }

  async #call(method: string, params: object = {}): Promise<Readonly<Record<string, unknown>>> {
    const id = ++this.#lastId
    const answered = new Promise<Reply>((resolve) => this.#waiting.set(id, resolve))
    this.#socket.send(JSON.stringify({ id, method, params, ...(this.#session === '' ? {} : { sessionId: this.#session }) }))
    const { result, error } = await answered
    if (result === undefined) throw new Error(`${method}: ${JSON.stringify(error)}`)
    return result
  }

  #take({ id, method, params, result, error }: Reply): void {
    if (id !== undefined) this.#waiting.get(id)?.({ result, error } as Reply)
    else if (method === 'Network.requestWillBeSent') {
      const { url } = (params as { readonly request: { readonly url: string } }).request
      if (!/^(data|blob):/.test(url)) this.requested.push(url)
    } else if (method === 'Runtime.exceptionThrown' || method === 'Log.entryAdded') this.reports.push(JSON.stringify(params))
  }
}
