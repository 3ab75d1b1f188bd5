/**
 * The tools, resources and prompts that the conformance suite of MCP expects of a server, in place of those
 * of the server. Those with which a server asks its client something are missing: this server asks nothing.
 */
import { setTimeout as wait } from 'node:timers/promises'
import { type CallContext, type Catalogue, CatalogueError, RESOURCE_NOT_FOUND } from '../../src/surface/mcp/catalogue/catalogue.js'
import type { Edit } from './scratch_copy.js'

/** Installs the fixtures in a scratch copy of the server. */
export const FIXTURE_EDITS: readonly Edit[] = [
  {
    file: 'src/programs/mcp_thread.ts',
    find: "import { openCatalogue } from '../surface/mcp/catalogue/open_catalogue.js'",
    replace: "import { openFixtures as openCatalogue } from '../../test/harness/mcp_fixtures.js'",
  },
]

const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg=='
const WAV = 'UklGRiQAAABXQVZFZm10IBAAAAABAAEARKwAAIhYAQACABAAZGF0YQAAAAA='
const STEP_MS = 50

const text = (words: string): object => ({ type: 'text', text: words })
const image = { type: 'image', data: PNG, mimeType: 'image/png' }
const embedded = (uri: string, mimeType: string, words: string): object => ({ type: 'resource', resource: { uri, mimeType, text: words } })

type Call = (context: CallContext, args: Readonly<Record<string, unknown>>) => Promise<readonly object[]> | readonly object[]

async function logs(context: CallContext): Promise<readonly object[]> {
  for (const words of ['Tool execution started', 'Tool processing data', 'Tool execution completed']) {
    context.log('info', words)
    await wait(STEP_MS, undefined, { signal: context.signal })
  }
  return [text('logged')]
}

async function progresses(context: CallContext): Promise<readonly object[]> {
  for (const done of [0, 50, 100]) {
    context.progress(done, 100, `Completed step ${done} of 100`)
    await wait(STEP_MS, undefined, { signal: context.signal })
  }
  return [text('done')]
}

const CALLS: Readonly<Record<string, Call>> = {
  test_simple_text: () => [text('This is a simple text response for testing.')],
  test_image_content: () => [image],
  test_audio_content: () => [{ type: 'audio', data: WAV, mimeType: 'audio/wav' }],
  test_embedded_resource: () => [embedded('test://embedded-resource', 'text/plain', 'This is an embedded resource content.')],
  test_multiple_content_types: () => [
    text('Multiple content types test:'),
    image,
    embedded('test://mixed-content-resource', 'application/json', '{"test":"data","value":123}'),
  ],
  test_tool_with_logging: logs,
  test_logging_tool: logs,
  test_tool_with_progress: progresses,
  /** Until it is cancelled: for tests of cancellation. */
  test_waits: async (context) => await wait(60_000, [text('waited')], { signal: context.signal }),
  /** Asks an operation of the server by name. */
  test_ask: async (context, { operation, input }) => {
    const { code, body } = await context.ask(String(operation), input as object)
    return [text(`${code ?? 'ok'} ${Buffer.from(body).toString('utf8')}`)]
  },
  json_schema_2020_12_tool: () => [text('ok')],
}

const SCHEMA_2020_12 = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  type: 'object',
  $defs: {
    address: { $anchor: 'addressDef', type: 'object', properties: { street: { type: 'string' }, city: { type: 'string' } } },
  },
  properties: {
    name: { type: 'string' },
    address: { $ref: '#/$defs/address' },
    contactMethod: { type: 'string', enum: ['phone', 'email'] },
    phone: { type: 'string' },
    email: { type: 'string' },
  },
  allOf: [{ anyOf: [{ required: ['phone'] }, { required: ['email'] }] }],
  if: { properties: { contactMethod: { const: 'phone' } }, required: ['contactMethod'] },
  then: { required: ['phone'] },
  else: { required: ['email'] },
  additionalProperties: false,
}

const user = (content: object): object => ({ role: 'user', content })

const PROMPTS: Readonly<Record<string, (args: Readonly<Record<string, unknown>>) => readonly object[]>> = {
  test_simple_prompt: () => [user(text('This is a simple prompt for testing.'))],
  test_prompt_with_arguments: ({ arg1, arg2 }) => [user(text(`Prompt with arguments: arg1='${String(arg1)}', arg2='${String(arg2)}'`))],
  test_prompt_with_embedded_resource: ({ resourceUri }) => [
    user(embedded(String(resourceUri), 'text/plain', 'Embedded resource content for testing.')),
    user(text('Please process the embedded resource above.')),
  ],
  test_prompt_with_image: () => [user(image), user(text('Please analyze the image above.'))],
}

const PROMPT_ARGUMENTS: Readonly<Record<string, readonly string[]>> = {
  test_prompt_with_arguments: ['arg1', 'arg2'],
  test_prompt_with_embedded_resource: ['resourceUri'],
}

function contentsOf(uri: string): object | undefined {
  if (uri === 'test://static-text') return { uri, mimeType: 'text/plain', text: 'This is the content of the static text resource.' }
  if (uri === 'test://static-binary') return { uri, mimeType: 'image/png', blob: PNG }
  if (uri === 'test://watched-resource') return { uri, mimeType: 'text/plain', text: 'Watched resource content' }
  const id = /^test:\/\/template\/([^/]+)\/data$/.exec(uri)?.[1]
  if (id === undefined) return undefined
  const data = { id, templateTest: true, data: `Data for ID: ${id}` }
  return { uri, mimeType: 'application/json', text: JSON.stringify(data) }
}

export function openFixtures(): Catalogue {
  return {
    tools: () => [
      ...Object.keys(CALLS).map((name) => ({
        name,
        description: `The fixture ${name}`,
        inputSchema: name === 'json_schema_2020_12_tool' ? SCHEMA_2020_12 : { type: 'object', properties: {} },
      })),
      { name: 'test_error_handling', description: 'Fails', inputSchema: { type: 'object', properties: {} } },
    ],
    callTool: async (name, args, context) => {
      const failed = { content: [{ type: 'text', text: 'This tool intentionally returns an error for testing' }], isError: true } as const
      if (name === 'test_error_handling') return failed
      const call = Object.hasOwn(CALLS, name) ? CALLS[name] : undefined
      if (call === undefined) throw new CatalogueError(-32602, `unknown tool: ${name}`)
      // The tools of the server answer texts only.
      return { content: (await call(context, args)) as never }
    },
    resources: () =>
      ['static-text', 'static-binary', 'watched-resource'].map((name) => ({
        uri: `test://${name}`,
        name,
        description: `The fixture ${name}`,
        mimeType: 'text/plain',
      })),
    resourceTemplates: () => [{ uriTemplate: 'test://template/{id}/data', name: 'template', mimeType: 'application/json' }],
    readResource: async (uri) => {
      const contents = contentsOf(uri)
      if (contents === undefined) throw new CatalogueError(RESOURCE_NOT_FOUND, 'Resource not found', { uri })
      return await Promise.resolve({ contents: [contents] })
    },
    prompts: () =>
      Object.keys(PROMPTS).map((name) => ({
        name,
        description: `The fixture ${name}`,
        arguments: (PROMPT_ARGUMENTS[name] ?? []).map((argument) => ({ name: argument, required: true })),
      })),
    getPrompt: async (name, args) => {
      const prompt = PROMPTS[name]
      if (prompt === undefined) throw new CatalogueError(-32602, `unknown prompt: ${name}`)
      return await Promise.resolve({ messages: prompt(args) })
    },
    complete: async () => await Promise.resolve({ completion: { values: [], total: 0, hasMore: false } }),
  }
}
