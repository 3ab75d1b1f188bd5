/** Rows of groups of users and their permissions. Pure data; rules in src/domain/access. */
import { DEADLINE_POINT_MS, DEADLINE_SEARCH_MS, DEADLINE_WRITE_MS } from '../../limits/lanes.js'
import { Type } from '../row/json_schema.js'
import { HTTP_ONLY, operation, optional, shape, text, unixSeconds } from '../row/schema.js'
import { onServer } from './auth.js'
import { grantFields, shownGrant } from './users.js'

const asked = { ...onServer, effect: 'system', cost: 'point', deadlineMs: DEADLINE_POINT_MS, audit: null } as const
const changed = { ...onServer, effect: 'write', cost: 'write', freesSpace: true, deadlineMs: DEADLINE_WRITE_MS } as const

const name = text('Name of the group, at most 128 bytes.', 'editors')
const description = optional(Type.String({ examples: ['Writes the blog'] }))
const members = optional(Type.Array(Type.String(), { description: 'Usernames.', examples: [['alice', 'bob']] }))
const Group = Type.Object(
  {
    name: Type.String(),
    description: Type.String(),
    members: Type.Array(Type.String(), { description: 'Usernames, in order.' }),
    createdAt: unixSeconds('When it was created.'),
  },
  { title: 'Group' },
)
const status = { status: Type.String({ examples: ['deleted'] }) }

export const listGroups = operation({
  ...asked,
  cost: 'search',
  deadlineMs: DEADLINE_SEARCH_MS,
  name: 'listGroups',
  client: 'groups.list',
  boundedBy: ['GROUPS_MAX', 'GROUP_MEMBERS_MAX'],
  protocols: { grpc: null, graphql: 'groups', mcp: null },
  description: 'Lists all groups',
  http: { routes: [{ method: 'GET', path: '/v1/auth/groups' }] },
  input: Type.Object({}),
  output: shape('In the order of their names.', { groups: Type.Array(Group) }),
})

export const createGroup = operation({
  ...changed,
  name: 'createGroup',
  client: 'groups.create',
  boundedBy: ['GROUPS_MAX', 'GROUP_MEMBERS_MAX'],
  protocols: { grpc: null, graphql: 'createGroup', mcp: null },
  description: 'Creates a group of users',
  http: { routes: [{ method: 'POST', path: '/v1/auth/groups' }], successStatus: 201 },
  input: Type.Object({ name, description, members }),
  output: Group,
  errors: ['groupExists', 'userNotFound'],
  audit: 'write./v1/auth/groups',
})

export const getGroup = operation({
  ...asked,
  name: 'getGroup',
  client: 'groups.get',
  boundedBy: ['GROUPS_MAX', 'GROUP_MEMBERS_MAX'],
  protocols: HTTP_ONLY,
  description: 'Returns a group',
  http: { routes: [{ method: 'GET', path: '/v1/auth/groups/:name' }] },
  input: Type.Object({ name }),
  output: Group,
  errors: ['groupNotFound'],
})

export const updateGroup = operation({
  ...changed,
  name: 'updateGroup',
  client: 'groups.update',
  isIdempotent: true,
  boundedBy: ['GROUPS_MAX', 'GROUP_MEMBERS_MAX'],
  protocols: { grpc: null, graphql: 'updateGroup', mcp: null },
  description: 'Replaces the description and the members of a group; absent fields are kept',
  http: { routes: [{ method: 'PUT', path: '/v1/auth/groups/:name' }] },
  input: Type.Object({ name, description, members }),
  output: Group,
  errors: ['groupNotFound', 'userNotFound'],
  audit: 'write./v1/auth/groups/:name',
})

export const deleteGroup = operation({
  ...changed,
  name: 'deleteGroup',
  client: 'groups.delete',
  boundedBy: ['GROUPS_MAX', 'GROUP_MEMBERS_MAX'],
  protocols: { grpc: null, graphql: 'deleteGroup', mcp: null },
  description: 'Deletes a group with its permissions',
  http: { routes: [{ method: 'DELETE', path: '/v1/auth/groups/:name' }] },
  input: Type.Object({ name }),
  output: shape('Done.', status),
  errors: ['groupNotFound'],
  audit: 'write./v1/auth/groups/:name',
})

export const listGroupPermissions = operation({
  ...asked,
  name: 'listGroupPermissions',
  client: 'groups.listPermissions',
  boundedBy: ['GROUPS_MAX', 'GROUP_MEMBERS_MAX'],
  protocols: { grpc: null, graphql: 'groupPermissions', mcp: null },
  description: 'Lists the permissions of a group',
  http: { routes: [{ method: 'GET', path: '/v1/auth/group-permissions' }] },
  input: Type.Object({ group: text('Name of the group.', 'editors') }),
  output: shape('In the order of their collections.', {
    permissions: Type.Array(Type.Object({ group: Type.String(), groupName: Type.String(), ...shownGrant }, { title: 'GroupPermission' })),
  }),
  errors: ['groupNotFound'],
})

export const setGroupPermission = operation({
  ...changed,
  name: 'setGroupPermission',
  client: 'groups.setPermission',
  isIdempotent: true,
  boundedBy: ['GROUPS_MAX', 'GROUP_MEMBERS_MAX'],
  protocols: { grpc: null, graphql: 'setGroupPermission', mcp: null },
  description: 'Sets the permissions of a group on a collection; without any they are removed',
  http: { routes: [{ method: 'POST', path: '/v1/auth/group-permissions' }] },
  input: Type.Object({
    group: optional(Type.String({ description: 'Name of the group.', examples: ['editors'] })),
    groupName: optional(Type.String({ description: 'The same; `group` wins.' })),
    ...grantFields,
  }),
  output: shape('Done.', { status: Type.String({ examples: ['permission set'] }) }),
  errors: ['groupNotFound'],
  audit: 'write./v1/auth/group-permissions',
})

export const groupOperations = [
  listGroups,
  createGroup,
  getGroup,
  updateGroup,
  deleteGroup,
  listGroupPermissions,
  setGroupPermission,
] as const
