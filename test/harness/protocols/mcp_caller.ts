/** Calls by MCP: the tool of the operation, or its resource. */
import { entryOf, ERROR_CODES } from '../../../src/errors.js'
import { operationByName } from '../../../src/operations/index.js'
import type { ReceivedFile } from '../../../src/operations/row/received_files.js'
import type { Server } from '../server/server.js'
import { type Caller, type Fields, type Outcome, type Refusal, refused, snakeCase, succeeded } from './outcome.js'

interface Answer {
  readonly status: number
  readonly body: {
    readonly error?: string | { readonly message: string; readonly code: number }
    readonly isError?: boolean
    readonly content?: readonly { readonly text: string }[]
    readonly contents?: readonly { readonly text: string }[]
  }
}

const KINDS: Readonly<Record<string, Refusal>> = { input: 'invalid', request: 'invalid', rights: 'forbidden', absence: 'not found', conflict: 'conflict', fault: 'internal', unavailable: 'unavailable' } // prettier-ignore

/** A tool's error is a text of the catalogue: its kind follows from that. */
function refusalOf(text: string): Refusal {
  if (text === 'resource not found') return 'not found'
  const code = ERROR_CODES.find((each) => text.startsWith(entryOf(each).text))
  if (code === undefined) return 'invalid'
  return entryOf(code).http === 401 ? 'unauthenticated' : (KINDS[entryOf(code).kind] ?? 'internal')
}

export class McpCaller implements Caller {
  readonly protocol = 'MCP'
  readonly #url: string

  constructor(server: Server) {
    this.#url = `http://127.0.0.1:${server.addressOf('mcp').split(':').at(-1) ?? ''}`
  }

  async call(name: string, input: Fields, headers: Readonly<Record<string, string>>): Promise<Outcome> {
    const target = operationByName.get(name)?.protocols.mcp ?? ''
    const { status, body } = target.includes('://') ? await this.#read(target, input, headers) : await this.#tool(target, input, headers)
    if (typeof body.error === 'string') return refused(status === 401 ? 'unauthenticated' : refusalOf(body.error), body.error)
    if (body.error !== undefined) return refused(refusalOf(body.error.message), body.error.message)
    const text = (body.content ?? body.contents)?.[0]?.text ?? ''
    if (body.isError === true) return refused(refusalOf(text), text)
    if (body.contents !== undefined) return succeeded(text)
    return succeeded(text.startsWith('{') || text.startsWith('[') ? JSON.parse(text) : text)
  }

  async #tool(name: string, input: Fields, headers: Readonly<Record<string, string>>): Promise<Answer> {
    const { files, ...rest } = input
    const given = Object.fromEntries(Object.entries(rest).map(([field, value]) => [snakeCase(field), inSnakeCase(field, value)]))
    return await this.#post('/tools/call', { name, arguments: { ...given, ...fileOf(files) } }, headers)
  }

  async #read(template: string, input: Fields, headers: Readonly<Record<string, string>>): Promise<Answer> {
    const uri = template.replaceAll(/\{(\w+)\}/g, (_, field: string) => encodeURIComponent(String(input[field])))
    return await this.#post('/resources/read', { uri }, headers)
  }

  async #post(path: string, body: object, headers: Readonly<Record<string, string>>): Promise<Answer> {
    const answer = await fetch(`${this.#url}${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    })
    return { status: answer.status, body: (await answer.json()) as Answer['body'] }
  }
}

/** Documents of batches have their fields in snake case, too; metadata stays as it is. */
function inSnakeCase(field: string, value: unknown): unknown {
  if (field === 'schema') return typeof value === 'string' ? value : JSON.stringify(value)
  if (field !== 'documents' || !Array.isArray(value)) return value
  return value.map((document: Fields) => Object.fromEntries(Object.entries(document).map(([name, each]) => [snakeCase(name), each])))
}

/** A tool takes one file. */
function fileOf(files: unknown): Fields {
  const [file] = (files ?? []) as readonly ReceivedFile[]
  return file === undefined ? {} : { filename: file.name, content: file.content }
}
