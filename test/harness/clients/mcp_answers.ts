/** Results of MCP's tools as a model reads them, and how many tokens they have. */
import assert from 'node:assert/strict'
import type { McpClient, Result } from './mcp_client.js'

export type Fields = Readonly<Record<string, unknown>>

/** Bound of an answer whose call names none. */
export const DEFAULT_TOKENS = 8_000

/**
 * As a user counts them, apart from the code: ASCII has 2.5 characters a token, Chinese 1.6 tokens each. In
 * Lao and Malayalam, tokenizers have 2.2 and 1.7 for each character.
 */
export const tokensOf = (text: string): number =>
  [...text].reduce(
    (sum, letter) => sum + (letter <= '\x7f' ? 0.4 : /[\u0e80-\u0eff]/.test(letter) ? 2.2 : /[\u0d00-\u0d7f]/.test(letter) ? 1.7 : 1.6),
    0,
  )

export async function resultOf(client: McpClient, name: string, args: Fields): Promise<Result> {
  const { rpc } = await client.stateless('tools/call', { name, arguments: args })
  assert.equal(rpc.error, undefined, `${name}: ${JSON.stringify(rpc.error)}`)
  return rpc.result
}

export const textsOf = ({ content }: Result): string => content.map(({ text }) => text).join('\n')
/** What a model may read of a result. */
export const readable = (each: Result): string =>
  `${each.structuredContent === undefined ? '' : JSON.stringify(each.structuredContent)}${textsOf(each)}`
export const valueOf = (each: Result): Fields => (each.structuredContent ?? JSON.parse(each.content[0]?.text ?? '')) as Fields
export const itemsOf = (value: Fields): readonly Fields[] => (value['results'] ?? value['documents']) as readonly Fields[]
/** The document of a result; a listing has nothing around it. */
export const documentOf = (item: Fields): Fields => (item['document'] ?? item) as Fields
