/**
 * Documents of GraphQL for fuzzers: made from the schema, then often damaged token by token. Most are
 * refused, many are nearly right, some are valid.
 */
import { getNamedType, type GraphQLInputType, type GraphQLObjectType, type GraphQLSchema, isInputObjectType, isObjectType } from 'graphql'
import type { Random } from './random.js'

const STRINGS = [
  '""',
  '"a"',
  '"\\u0041 \\n \\" # \\\\"',
  '"""block "quoted" \\""" # text\n"""',
  '"é 漢 😀"',
  '"2030-01-01T00:00:00Z"',
  '"Time"',
]
const PIECES = [
  ...['{', '}', '(', ')', '[', ']', ':', '!', '$', '@', '...', '=', '|', '&', '#', '"', '"""', '\\', '\n', ',', ' '],
  ...['query', 'mutation', 'subscription', 'fragment', 'on', 'true', 'false', 'null', 'Query', 'Mutation', 'Document', 'String', 'Time'],
  ...[
    'document',
    'search',
    'input',
    'collection',
    'key',
    'lang',
    '__typename',
    '__schema',
    '__type',
    '$v',
    '@include(if: true)',
    '@skip(if: $v)',
  ],
  ...['0', '-1', '1e400', '99999999999999999999', '0.1', '01', '\u0000', '\uFEFF', '\ud800', '# "comment\n', '# """\n'],
]

export class DocumentSource {
  readonly #schema: GraphQLSchema
  readonly #random: Random

  constructor(schema: GraphQLSchema, random: Random) {
    this.#schema = schema
    this.#random = random
  }

  next(): string {
    const document = this.#document()
    return this.#below(3) === 0 ? document : this.#damaged(document)
  }

  #below(count: number): number {
    return this.#random.below(count)
  }

  #one<T>(list: readonly T[]): T {
    return list[this.#below(list.length)]!
  }

  #document(): string {
    const parts = Array.from({ length: 1 + this.#below(3) }, (_, at) => {
      if (at > 0 && this.#below(2) === 0) return `fragment F${at} on Query ${this.#selection(this.#schema.getQueryType()!, 3)}`
      const isQuery = this.#below(4) > 0
      const head = isQuery ? 'query' : 'mutation'
      const name = at === 0 ? 'A' : `B${at}`
      const variables =
        this.#below(3) === 0 ? `($v: ${this.#one(['String!', 'Int', '[MetaInput!]', 'Time = "x"', 'JSONObject', 'Boolean!'])})` : ''
      return `${head} ${name}${variables} ${this.#selection(isQuery ? this.#schema.getQueryType()! : this.#schema.getMutationType()!, 5)}`
    })
    return parts.join(this.#one([' ', '\n', ' # "note\n', ' # """\n']))
  }

  #selection(type: GraphQLObjectType, depth: number): string {
    const fields = Object.values(type.getFields())
    const chosen = Array.from({ length: 1 + this.#below(4) }, () => {
      if (this.#below(12) === 0) return this.#one(['__typename', '...F1', '... on Query { __typename }', '__type(name: "Query") { name }'])
      const field = this.#one(fields)
      const args = field.args
        .filter((arg) => String(arg.type).endsWith('!') || this.#below(3) === 0)
        .map((arg) => `${arg.name}: ${this.#below(8) === 0 ? '$v' : this.#literal(arg.type, 3)}`)
      const inner = getNamedType(field.type)
      const alias = this.#below(6) === 0 ? `a${this.#below(3)}: ` : ''
      const sub = isObjectType(inner) && depth > 0 ? ` ${this.#selection(inner, depth - 1)}` : ''
      return `${alias}${field.name}${args.length > 0 ? `(${args.join(', ')})` : ''}${sub}`
    })
    return `{ ${chosen.join(' ')} }`
  }

  #literal(type: GraphQLInputType, depth: number): string {
    const name = String(type).replace(/!$/, '')
    if (name.startsWith('[')) return `[${this.#literal((type as { ofType: GraphQLInputType }).ofType, depth)}]`
    const named = getNamedType(type)
    if (isInputObjectType(named) && depth > 0) {
      const fields = Object.values(named.getFields()).filter((field) => String(field.type).endsWith('!') || this.#below(3) === 0)
      return `{${fields.map((field) => `${field.name}: ${this.#literal(field.type, depth - 1)}`).join(', ')}}`
    }
    if (named.name === 'Int') return String(this.#below(100))
    if (named.name === 'Float') return '0.5'
    if (named.name === 'Boolean') return 'true'
    if (named.name === 'JSONObject') return '{a: "b", c: [1, {d: null}]}'
    return this.#one(STRINGS)
  }

  #damaged(document: string): string {
    let text = document
    for (let left = 1 + this.#below(4); left > 0; left--) {
      const at = this.#below(text.length + 1)
      const piece = this.#below(3) === 0 ? text.slice(at, at + this.#below(40)) : this.#one(PIECES)
      text =
        this.#below(2) === 0 ? text.slice(0, at) + piece + text.slice(at) : text.slice(0, at) + piece + text.slice(at + this.#below(10))
    }
    return this.#below(40) === 0 ? text.repeat(1 + this.#below(30)) : text
  }
}
