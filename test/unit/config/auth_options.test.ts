/** The options of access control by flag, variable and YAML key: service-2, "Authentication". */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, it } from 'node:test'
import { type Config, loadConfig } from '../../../src/config/config.js'

const folder = mkdtempSync(join(tmpdir(), 'mds-auth-options-'))
after(() => rmSync(folder, { recursive: true, force: true }))

const HOUR_MS = 3_600_000
const SECRETS = { SVC_AUTH_JWT_SECRET: 'a secret of tests, which is long enough', SVC_AUTH_ADMIN_PASSWORD: 'a password of tests' }
const WANTED = [true, 7 * HOUR_MS, 'root', { jwtSecret: SECRETS.SVC_AUTH_JWT_SECRET, adminPassword: SECRETS.SVC_AUTH_ADMIN_PASSWORD }]

const accessOf = ({ authEnabled, authJwtExpiryMs, authAdminUsername, auth }: Config): unknown[] => [
  authEnabled,
  authJwtExpiryMs,
  authAdminUsername,
  auth,
]

it('access options: flags and YAML keys say the same as the variables; the secrets have YAML keys and no flags', () => {
  const env = { ...SECRETS, SVC_AUTH_ENABLED: 'true', SVC_AUTH_JWT_EXPIRY: '7h', SVC_AUTH_ADMIN_USERNAME: 'root' }
  assert.deepEqual(accessOf(loadConfig([], env)), WANTED)
  const flags = ['--auth-enabled', '--auth-jwt-expiry', '7h', '--auth-admin-username', 'root']
  assert.deepEqual(accessOf(loadConfig(flags, SECRETS)), WANTED)
  const path = join(folder, 'auth.yaml')
  writeFileSync(
    path,
    `auth:\n  enabled: true\n  jwtExpiry: 7h\n  adminUsername: root\n  jwtSecret: ${SECRETS.SVC_AUTH_JWT_SECRET}\n` +
      `  adminPassword: ${SECRETS.SVC_AUTH_ADMIN_PASSWORD}\n`,
  )
  const config = loadConfig(['--config', path], {})
  assert.deepEqual([accessOf(config), config.warnings], [WANTED, []])
  for (const flag of ['--auth-jwt-secret', '--auth-admin-password'])
    assert.throws(() => loadConfig([flag, 'x'], env), /unknown|not a known/i, flag)
})
