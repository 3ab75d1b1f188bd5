/** The client: one object with the methods of the server, by noun. */
import { type Documents, documentsOf } from './documents.js'
import { type GraphqlProblem, MdsError, MdsGraphqlError } from './errors.js'
import { NOUNS, type Nouns, ROUTES } from './generated.js'
import type { CallOptions, ClientOptions } from './options.js'
import type { Input, Route } from './route.js'
import { type Search, searchOf } from './search.js'
import { Transport } from './transport.js'

interface Members extends Omit<Nouns, 'documents' | 'search'> {
  readonly documents: Documents
  readonly search: Search
}

/** TypeScript declares members by name only; those by noun come from a table. */
const WithMembers = class {
  constructor(members: Members) {
    Object.assign(this, members)
  }
} as new (members: Members) => Readonly<Members>

export class MdsClient extends WithMembers {
  readonly #options: ClientOptions
  readonly #transport: Transport

  constructor(options: ClientOptions) {
    const transport = new Transport(options)
    super(membersOf(transport))
    this.#options = options
    this.#transport = transport
  }

  /** A client with other options, such as the token of a login. */
  with(options: Partial<ClientOptions>): MdsClient {
    return new MdsClient({ ...this.#options, ...options })
  }

  /**
   * Sends a query or mutation and returns its data. The client does not know which it is: a query is retried
   * as reads are if `isRepeatable` says so.
   * @throws MdsGraphqlError if the answer has errors
   */
  async graphql<Data = Readonly<Record<string, unknown>>>(
    query: string,
    variables?: Readonly<Record<string, unknown>>,
    options?: CallOptions,
  ): Promise<Data> {
    const answer = await this.#transport.call(ROUTES.graphql, { query, variables }, options)
    const { data, errors } = answer as { readonly data?: Data | null; readonly errors?: readonly GraphqlProblem[] }
    if (errors !== undefined && errors.length > 0) throw new MdsGraphqlError(200, errors, data)
    if (data === undefined || data === null) throw new MdsError('the answer has no data', { status: 200 })
    return data
  }
}

function membersOf(transport: Transport): Members {
  const nouns = Object.fromEntries(Object.entries(NOUNS).map(([noun, methods]) => [noun, methodsOf(transport, methods)]))
  const { documents, search, ...rest } = nouns as unknown as Nouns
  return { ...rest, documents: documentsOf(transport, documents), search: searchOf(search) }
}

type Method = (...parameters: readonly unknown[]) => Promise<unknown>

function methodsOf(transport: Transport, methods: Readonly<Record<string, string>>): Readonly<Record<string, Method>> {
  return Object.fromEntries(Object.entries(methods).map(([method, name]) => [method, methodOf(transport, name as keyof typeof ROUTES)]))
}

function methodOf(transport: Transport, name: keyof typeof ROUTES): Method {
  const route: Route = ROUTES[name]
  if (route.takesNothing === true) return (options) => transport.call(route, {}, options as CallOptions | undefined)
  return (input, options) => transport.call(route, (input ?? {}) as Input, options as CallOptions | undefined)
}
