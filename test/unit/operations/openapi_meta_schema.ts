/**
 * The rules of OpenAPI 3.1.0 for the parts that our document uses, written from the specification's text
 * (sections 4.8.1 to 4.8.24): the fields of each object, required fields, and the form of paths, statuses and
 * component names. The test itself checks the schemas inside as JSON Schema.
 */
const text = { type: 'string' } as const
const mapOf = (values: object): object => ({ type: 'object', additionalProperties: values })

export const openApiMetaSchema: object = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  type: 'object',
  required: ['openapi', 'info', 'paths'],
  additionalProperties: false,
  properties: {
    openapi: { type: 'string', pattern: '^3\\.1\\.\\d+$' },
    info: {
      type: 'object',
      required: ['title', 'version'],
      additionalProperties: false,
      properties: {
        title: text,
        version: text,
        description: text,
        contact: { type: 'object', additionalProperties: false, properties: { name: text, url: text, email: text } },
        license: {
          type: 'object',
          required: ['name'],
          additionalProperties: false,
          properties: { name: text, identifier: text, url: text },
        },
      },
    },
    servers: {
      type: 'array',
      items: { type: 'object', required: ['url'], additionalProperties: false, properties: { url: text, description: text } },
    },
    security: { type: 'array', items: { type: 'object' } },
    tags: {
      type: 'array',
      uniqueItems: true,
      items: { type: 'object', required: ['name'], additionalProperties: false, properties: { name: text, description: text } },
    },
    paths: {
      type: 'object',
      propertyNames: { pattern: '^/' },
      additionalProperties: {
        type: 'object',
        propertyNames: { enum: ['get', 'put', 'post', 'delete', 'patch'] },
        additionalProperties: { $ref: '#/$defs/operation' },
      },
    },
    components: {
      type: 'object',
      additionalProperties: false,
      properties: {
        schemas: { type: 'object', propertyNames: { pattern: '^[a-zA-Z0-9._-]+$' }, additionalProperties: { type: 'object' } },
        securitySchemes: {
          type: 'object',
          additionalProperties: {
            type: 'object',
            required: ['type'],
            additionalProperties: false,
            properties: { type: { enum: ['http', 'apiKey'] }, scheme: text, bearerFormat: text, in: { enum: ['header'] }, name: text },
          },
        },
      },
    },
  },
  $defs: {
    operation: {
      type: 'object',
      required: ['responses'],
      additionalProperties: false,
      properties: {
        operationId: text,
        summary: text,
        description: text,
        tags: { type: 'array', items: text },
        security: { type: 'array', items: { type: 'object' } },
        parameters: { type: 'array', items: { $ref: '#/$defs/parameter' } },
        requestBody: {
          type: 'object',
          required: ['content'],
          additionalProperties: false,
          properties: { description: text, required: { type: 'boolean' }, content: { $ref: '#/$defs/content' } },
        },
        responses: {
          type: 'object',
          minProperties: 1,
          propertyNames: { pattern: '^([1-5]\\d\\d|[1-5]XX|default)$' },
          additionalProperties: { $ref: '#/$defs/response' },
        },
      },
    },
    parameter: {
      type: 'object',
      required: ['name', 'in', 'schema'],
      additionalProperties: false,
      properties: {
        name: text,
        in: { enum: ['query', 'path', 'header', 'cookie'] },
        required: { type: 'boolean' },
        description: text,
        schema: { type: 'object' },
      },
      if: { type: 'object', properties: { in: { const: 'path' } } },
      then: { type: 'object', required: ['required'], properties: { required: { const: true } } },
    },
    response: {
      type: 'object',
      required: ['description'],
      additionalProperties: false,
      properties: {
        description: text,
        headers: mapOf({
          type: 'object',
          required: ['schema'],
          additionalProperties: false,
          properties: { description: text, schema: { type: 'object' } },
        }),
        content: { $ref: '#/$defs/content' },
      },
    },
    content: {
      type: 'object',
      propertyNames: { pattern: '^[a-z]+/[a-z0-9.+-]+$' },
      additionalProperties: {
        type: 'object',
        additionalProperties: false,
        properties: {
          schema: { type: 'object' },
          example: {},
          examples: mapOf({ type: 'object', additionalProperties: false, properties: { summary: text, value: {} } }),
        },
        not: { required: ['example', 'examples'] },
      },
    },
  },
}
