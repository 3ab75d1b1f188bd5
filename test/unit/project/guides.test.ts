/**
 * Documents for users match the code: the guide's table of options, the default stop words and the README's
 * limits.
 */
import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'
import { AUTH_VARIABLES } from '../../../src/config/auth.js'
import { ENCRYPTION_VARIABLES } from '../../../src/config/encryption.js'
import { OPTIONS } from '../../../src/config/options/options.js'
import { KEY_BYTES_MAX } from '../../../src/domain/documents/identity.js'
import { BATCH_DOCUMENTS_MAX, BODY_BYTES_DEFAULT, DOCUMENT_BYTES_MAX } from '../../../src/limits/documents.js'
import { LIMIT_MAX } from '../../../src/limits/search.js'
import { operations } from '../../../src/operations/index.js'

/** events.md section 14. */
const CONTROLS = [
  'audit log and its export',
  'encryption at rest',
  'storage limitation (TTL)',
  'deletion of accounts',
  'separation of tenants',
  'production guard',
  'incidents',
]

function findRoot(folder: string): string {
  return existsSync(join(folder, 'package.json')) ? folder : findRoot(dirname(folder))
}
const root = findRoot(dirname(fileURLToPath(import.meta.url)))

describe('documents for users', () => {
  it("the README's limits are those of the code", () => {
    const readme = readFileSync(join(root, 'README.md'), 'utf8')
    const rows = [
      `| key | ${KEY_BYTES_MAX.toLocaleString('en-US').replace(',', ' ')} bytes |`,
      `| content of a document | ${DOCUMENT_BYTES_MAX / 2 ** 20} MiB |`,
      `| request body | ${BODY_BYTES_DEFAULT / 2 ** 20} MiB (\`--max-body-bytes\`) |`,
      `| documents in one add-batch | ${BATCH_DOCUMENTS_MAX.toLocaleString('en-US').replace(',', ' ')} |`,
      `| results of one search | ${LIMIT_MAX.toLocaleString('en-US').replace(',', ' ')} |`,
    ]
    for (const row of rows) assert.ok(readme.includes(row), row)
  })

  it('the compliance guide has every control, and each variable and request that it names is there', () => {
    const rows = readFileSync(join(root, 'docs/guides/compliance.md'), 'utf8')
      .split('\n')
      .filter((line) => line.startsWith('| '))
    for (const control of CONTROLS)
      assert.ok(
        rows.some((row) => row.startsWith(`| ${control} |`)),
        control,
      )
    const variables = new Set([
      ...Object.values(OPTIONS).flatMap(({ variables: names }) => names),
      ...AUTH_VARIABLES,
      ...ENCRYPTION_VARIABLES,
    ])
    const routes = new Set(operations.flatMap(({ http }) => http?.routes.map(({ method, path }) => `${method} ${path}`) ?? []))
    const named = rows.flatMap((row) => [...row.matchAll(/`([^`]+)`/g)].map(([, text = '']) => text))
    for (const text of named) {
      if (text.startsWith('SVC_')) assert.ok(variables.has(text), text)
      if (/^(?:GET|POST|PUT|DELETE) /.test(text)) assert.ok(routes.has(text), text)
    }
    assert.ok(named.length > 30)
  })

  it('the guide of access says how to close a server, and how a load balancer, a browser and a script authenticate', () => {
    const guide = readFileSync(join(root, 'docs/guides/access.md'), 'utf8')
    for (const part of ['## From open to closed', 'mds init', 'load balancer', 'browser', 'script', 'X-API-Key', '/readyz'])
      assert.ok(guide.toLowerCase().includes(part.toLowerCase()), part)
  })
})
