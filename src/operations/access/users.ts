/** Rows of users and their permissions. Pure data; rules in src/domain/access. */
import { DEADLINE_POINT_MS, DEADLINE_SEARCH_MS, DEADLINE_WRITE_MS } from '../../limits/lanes.js'
import { ACCOUNT } from '../row/collection_access.js'
import { Type } from '../row/json_schema.js'
import { HTTP_ONLY, operation, optional, shape, text, unixSeconds } from '../row/schema.js'
import { offeredWithAccess, onServer, password, username } from './auth.js'

const changed = { ...onServer, effect: 'write', cost: 'write', deadlineMs: DEADLINE_WRITE_MS } as const
const status = { status: Type.String({ examples: ['deleted'] }) }

/** Fields of a permission on a collection. */
export const grantFields = {
  collection: text('Name of the collection; `*`: all of them.', 'blog'),
  read: optional(Type.Boolean({ description: 'May read.', default: false })),
  write: optional(Type.Boolean({ description: 'May write.', default: false })),
  admin: optional(
    Type.Boolean({ description: 'Administrator of the collection, who may read and write it; of the server on `*`.', default: false }),
  ),
}
export const shownGrant = { collection: Type.String(), read: Type.Boolean(), write: Type.Boolean(), admin: Type.Boolean() }

export const register = operation({
  ...changed,
  name: 'register',
  client: 'users.register',
  boundedBy: ['PASSWORDS_WAITING_MAX', 'PASSWORD_BYTES_MAX'],
  protocols: { grpc: null, graphql: 'register', mcp: null },
  description: 'Creates a user, who may do nothing until permissions are set',
  http: { routes: [{ method: 'POST', path: '/v1/auth/register' }] },
  input: Type.Object({ username, password }),
  output: shape('The user.', { username: Type.String(), createdAt: unixSeconds('When it was created.') }),
  errors: ['userExists', 'tooManyLogins'],
  audit: 'write./v1/auth/register',
})

export const listUsers = operation({
  ...onServer,
  name: 'listUsers',
  client: 'users.list',
  boundedBy: ['USERS_MAX'],
  protocols: { grpc: null, graphql: 'users', mcp: null },
  description: 'Lists all users',
  effect: 'system',
  cost: 'search',
  deadlineMs: DEADLINE_SEARCH_MS,
  http: { routes: [{ method: 'GET', path: '/v1/auth/users' }] },
  input: Type.Object({}),
  output: shape('In the order of their names.', {
    users: Type.Array(
      Type.Object(
        {
          username: Type.String(),
          createdAt: unixSeconds('When it was created.'),
          disabled: Type.Boolean(),
          admin: Type.Boolean({ description: 'Whether it may do everything.' }),
          groups: Type.Array(Type.String()),
        },
        { title: 'User' },
      ),
    ),
  }),
  audit: null,
})

export const changeUser = operation({
  ...offeredWithAccess,
  collections: ACCOUNT,
  permission: 'authenticated',
  needsLogin: true,
  name: 'changeUser',
  client: 'users.change',
  boundedBy: ['PASSWORDS_WAITING_MAX', 'PASSWORD_BYTES_MAX'],
  protocols: HTTP_ONLY,
  description: 'Changes a password, or disables a user; users change their own password with the old one',
  effect: 'write',
  cost: 'write',
  freesSpace: true,
  deadlineMs: DEADLINE_WRITE_MS,
  http: { routes: [{ method: 'PUT', path: '/v1/auth/users/:username' }] },
  input: Type.Object({
    username,
    disabled: optional(Type.Boolean({ description: 'A disabled user has no access. Administrators only.' })),
    password: optional(Type.String({ description: 'New password. All tokens of the user become invalid.' })),
    oldPassword: optional(Type.String({ description: 'Needed unless an administrator changes the password.' })),
  }),
  output: shape('The user.', {
    username: Type.String(),
    disabled: Type.Boolean(),
    createdAt: unixSeconds('When it was created.'),
  }),
  errors: ['userNotFound', 'invalidCredentials', 'tooManyLogins', 'nothingToUpdate'],
  audit: 'write./v1/auth/users/:username',
})

export const deleteUser = operation({
  ...changed,
  freesSpace: true,
  name: 'deleteUser',
  client: 'users.delete',
  boundedBy: ['USERS_MAX'],
  protocols: HTTP_ONLY,
  description: 'Deletes a user with its API keys, permissions and memberships',
  http: { routes: [{ method: 'DELETE', path: '/v1/auth/users/:username' }] },
  input: Type.Object({ username }),
  output: shape('Done.', status),
  errors: ['userNotFound'],
  audit: 'write./v1/auth/users/:username',
})

export const listPermissions = operation({
  ...onServer,
  name: 'listPermissions',
  client: 'users.listPermissions',
  boundedBy: ['PERMISSIONS_MAX', 'GROUPS_OF_USER_MAX'],
  protocols: { grpc: null, graphql: 'userPermissions', mcp: null },
  description: 'Lists the permissions of a user, without those of its groups',
  effect: 'system',
  cost: 'point',
  deadlineMs: DEADLINE_POINT_MS,
  http: { routes: [{ method: 'GET', path: '/v1/auth/permissions' }] },
  input: Type.Object({ username }),
  output: Type.Array(Type.Object({ username: Type.String(), ...shownGrant }, { title: 'Permission' })),
  audit: null,
})

export const setPermission = operation({
  ...changed,
  freesSpace: true,
  name: 'setPermission',
  client: 'users.setPermission',
  isIdempotent: true,
  boundedBy: ['PERMISSIONS_MAX', 'GROUPS_OF_USER_MAX'],
  protocols: { grpc: null, graphql: 'setPermission', mcp: null },
  description: 'Sets the permissions of a user on a collection; without any they are removed',
  http: { routes: [{ method: 'POST', path: '/v1/auth/permissions' }] },
  input: Type.Object({ username, ...grantFields }),
  output: shape('Done.', { status: Type.String({ examples: ['ok'] }) }),
  errors: ['userNotFound'],
  audit: 'write./v1/auth/permissions',
})

export const userOperations = [register, listUsers, changeUser, deleteUser, listPermissions, setPermission] as const
