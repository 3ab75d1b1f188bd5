/**
 * Rows of logins, API keys and the caller's own account. They exist while access control is on. Pure data;
 * rules in src/domain/access.
 */
import { DEADLINE_POINT_MS, DEADLINE_WRITE_MS } from '../../limits/lanes.js'
import { ACCOUNT, SERVER } from '../row/collection_access.js'
import { Type } from '../row/json_schema.js'
import { HTTP_ONLY, internal, operation, optional, shape, text, unixSeconds, wholeNumber } from '../row/schema.js'

export const offeredWithAccess = { group: 'Access', feature: 'authEnabled' } as const
/** Whoever has valid credentials. */
const own = { ...offeredWithAccess, collections: ACCOUNT, permission: 'authenticated' } as const

export const username = text('Name of the user, at most 128 bytes. Its case is significant.', 'alice')
export const password = text('At most 72 bytes.', 'correct horse battery staple')
const description = optional(Type.String({ description: 'What the key is for.', examples: ['nightly import'] }))
const expiresAt = optional(wholeNumber('Unix seconds until which the key is valid. 0: without end.', { default: 0 }))
const keyHash = Type.String({ description: 'SHA-256 of the key, in hexadecimal digits.' })

export const login = operation({
  ...offeredWithAccess,
  collections: ACCOUNT,
  permission: 'public',
  name: 'login',
  client: 'auth.login',
  boundedBy: ['PASSWORDS_WAITING_MAX', 'PASSWORD_BYTES_MAX'],
  protocols: { grpc: null, graphql: 'login', mcp: null },
  description: 'Returns a token for a username and a password',
  effect: 'system',
  cost: 'point',
  waitsForHash: true,
  deadlineMs: DEADLINE_WRITE_MS,
  http: { routes: [{ method: 'POST', path: '/v1/auth/login' }] },
  input: Type.Object({ username, password }),
  output: shape('Send the token as `Authorization: Bearer <token>`.', {
    token: Type.String(),
    expiresAt: unixSeconds('Until when the token is valid.'),
  }),
  errors: ['invalidCredentials', 'tooManyLogins'],
  audit: 'auth.login',
})

export const me = operation({
  ...own,
  name: 'me',
  client: 'auth.me',
  boundedBy: ['PERMISSIONS_MAX', 'GROUPS_OF_USER_MAX'],
  protocols: { grpc: null, graphql: 'me', mcp: null },
  description: "Returns the caller's own account",
  effect: 'system',
  cost: 'point',
  deadlineMs: DEADLINE_POINT_MS,
  http: {
    routes: [
      { method: 'GET', path: '/v1/auth/me' },
      { method: 'POST', path: '/v1/auth/me' },
    ],
  },
  input: Type.Object({}),
  output: shape('The account.', {
    username: Type.String(),
    admin: Type.Boolean({ description: 'Whether it may do everything.' }),
    createdAt: unixSeconds('When it was created.'),
  }),
  audit: null,
})

export const createApiKey = operation({
  ...own,
  needsLogin: true,
  name: 'createApiKey',
  client: 'auth.createApiKey',
  boundedBy: ['KEYS_OF_USER_MAX', 'KEY_USES_GATHERED_MAX'],
  protocols: { grpc: null, graphql: 'createAPIKey', mcp: null },
  description: "Creates an API key with the caller's rights; it is shown once",
  effect: 'write',
  cost: 'write',
  deadlineMs: DEADLINE_WRITE_MS,
  http: { routes: [{ method: 'POST', path: '/v1/auth/api-key' }] },
  input: Type.Object({ description, expiresAt }),
  output: shape('Send the key as `X-API-Key: <key>`.', {
    key: Type.String({ examples: ['svc_live_0123456789abcdef0123456789abcdef0123456789abcdef'] }),
    description: Type.String(),
    createdAt: unixSeconds('When it was created.'),
    expiresAt: unixSeconds('Until when it is valid; 0: without end.'),
  }),
  audit: 'write./v1/auth/api-key',
})

export const listApiKeys = operation({
  ...own,
  needsLogin: true,
  name: 'listApiKeys',
  client: 'auth.listApiKeys',
  boundedBy: ['KEYS_OF_USER_MAX', 'KEY_USES_GATHERED_MAX'],
  protocols: HTTP_ONLY,
  description: "Lists the caller's own API keys",
  effect: 'system',
  cost: 'point',
  deadlineMs: DEADLINE_POINT_MS,
  http: { routes: [{ method: 'GET', path: '/v1/auth/api-keys' }] },
  input: Type.Object({}),
  output: shape('In order of creation.', {
    keys: Type.Array(
      Type.Object(
        {
          keyHash,
          description: Type.String(),
          createdAt: unixSeconds('When it was created.'),
          expiresAt: unixSeconds('Until when it is valid; 0: without end.'),
          lastUsedAt: unixSeconds('When it was last used, to about two minutes; 0: never.'),
        },
        { title: 'ApiKey' },
      ),
    ),
  }),
  audit: null,
})

export const deleteApiKey = operation({
  ...own,
  needsLogin: true,
  name: 'deleteApiKey',
  client: 'auth.deleteApiKey',
  boundedBy: ['KEYS_OF_USER_MAX', 'KEY_USES_GATHERED_MAX'],
  protocols: HTTP_ONLY,
  description: "Deletes one of the caller's own API keys, which is invalid from the next request on",
  effect: 'write',
  cost: 'write',
  freesSpace: true,
  deadlineMs: DEADLINE_WRITE_MS,
  http: {
    routes: [
      { method: 'DELETE', path: '/v1/auth/api-keys/:keyHash' },
      { method: 'DELETE', path: '/v1/auth/api-keys/' },
      { method: 'DELETE', path: '/v1/auth/api-keys' },
    ],
  },
  input: Type.Object({ keyHash: optional(keyHash) }),
  output: shape('Done.', { status: Type.String({ examples: ['deleted'] }) }),
  errors: ['keyNotFound', 'notYourKey'],
  audit: 'write./v1/auth/api-keys/:keyHash',
})

export const authOperations = [login, me, createApiKey, listApiKeys, deleteApiKey] as const

/** Requested by the front end from a lane: who a credential belongs to. No surface offers it. */
export const identify = internal({
  name: 'identify',
  boundedBy: ['PERMISSIONS_MAX', 'GROUPS_OF_USER_MAX'],
  description: 'Returns the owner of a credential and its rights',
  effect: 'read',
  cost: 'point',
  deadlineMs: DEADLINE_POINT_MS,
  input: Type.Object({ username: optional(Type.String()), keyHash: optional(Type.String()), mcpKeyHash: optional(Type.String()) }),
  output: Type.Object({}),
})

/** Requested by the front end, which has hashed the password. */
export const storeAccount = internal({
  name: 'storeAccount',
  boundedBy: ['PERMISSIONS_MAX', 'GROUPS_OF_USER_MAX'],
  description: 'Creates or changes a user; `ensure` creates it if it does not',
  effect: 'write',
  cost: 'write',
  freesSpace: true,
  deadlineMs: DEADLINE_WRITE_MS,
  input: Type.Object({
    change: Type.String(),
    username,
    passwordHash: optional(Type.String()),
    disabled: optional(Type.Boolean()),
  }),
  output: Type.Object({}),
})

/** Requested by the front end at its start. */
export const findUser = internal({
  name: 'findUser',
  boundedBy: ['PERMISSIONS_MAX', 'GROUPS_OF_USER_MAX'],
  description: 'Says whether a user exists',
  effect: 'read',
  cost: 'point',
  deadlineMs: DEADLINE_POINT_MS,
  input: Type.Object({ username }),
  output: Type.Object({}),
})

/** Requested by the front end now and then. */
export const noteKeyUses = internal({
  name: 'noteKeyUses',
  boundedBy: ['KEYS_OF_USER_MAX', 'KEY_USES_GATHERED_MAX'],
  description: 'Stores when API keys were last used',
  effect: 'write',
  cost: 'write',
  deadlineMs: DEADLINE_WRITE_MS,
  input: Type.Object({ hashes: Type.Array(Type.String()), at: Type.Array(Type.Integer()) }),
  output: Type.Object({}),
})

export const internalAuthOperations = [identify, storeAccount, findUser, noteKeyUses] as const

export const onServer = { ...offeredWithAccess, collections: SERVER, permission: 'admin' } as const
