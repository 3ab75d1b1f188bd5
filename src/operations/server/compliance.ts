/** The row about the guards of a production server. Pure data. */
import { DEADLINE_POINT_MS } from '../../limits/lanes.js'
import { SERVER } from '../row/collection_access.js'
import { Type } from '../row/json_schema.js'
import { HTTP_ONLY, operation, shape, wholeNumber } from '../row/schema.js'

export const complianceStatus = operation({
  name: 'complianceStatus',
  client: 'admin.complianceStatus',
  protocols: HTTP_ONLY,
  description:
    'Lists the settings of a production server that are missing, by name. With SVC_PRODUCTION=true a missing one stops the start.',
  effect: 'system',
  collections: SERVER,
  cost: 'loop',
  permission: 'public',
  input: Type.Object({}),
  deadlineMs: DEADLINE_POINT_MS,
  audit: null,
  group: 'System',
  http: { routes: [{ method: 'GET', path: '/v1/compliance-status' }] },
  output: shape('What a production server still needs.', {
    production: Type.Boolean({ description: 'Whether the server runs with SVC_PRODUCTION=true.' }),
    compliant: Type.Boolean({ description: 'True if nothing is missing.' }),
    missing: Type.Array(
      Type.Object({
        envVar: Type.String({ examples: ['SVC_RATE_LIMIT_ENABLED'], description: 'Name of the variable. Values are never shown.' }),
        want: Type.String({ examples: ['true'] }),
        reason: Type.String(),
      }),
    ),
    missingCount: wholeNumber('Number of missing settings.'),
  }),
})

export const complianceOperations = [complianceStatus] as const
