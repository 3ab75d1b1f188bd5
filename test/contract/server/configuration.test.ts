/** A configuration that asks for protection and does not get it ends the start: issue "Mended", A 4. */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, it } from 'node:test'
import { runToEnd, startServer } from '../../harness/server/server.js'

const folder = mkdtempSync(join(tmpdir(), 'mds-configuration-'))
after(() => rmSync(folder, { recursive: true }))

it('start: a protection that is misspelled or half configured ends it in one line, exit code 2', async () => {
  const file = join(folder, 'mds.yaml')
  const cases = [
    ['auth: { enable: true }', {}, 'auth.enable in the configuration file is not a known key; did you mean auth.enabled?'],
    [
      'tls: { cert: a.pem, key: a.key }',
      {},
      'tls.cert and tls.key in the configuration file, but TLS would be off: tls.enabled is not true',
    ],
    ['', { SVC_AUTH_ENABLE: 'true' }, 'SVC_AUTH_ENABLE is not a known variable; did you mean SVC_AUTH_ENABLED?'],
  ] as const
  for (const [yaml, env, line] of cases) {
    writeFileSync(file, yaml)
    for (const supervisor of [false, true]) {
      const { code, output } = await runToEnd({ args: ['--config', file], env, supervisor })
      assert.equal(code, 2, output)
      assert.ok(output.startsWith(`configuration: ${line}`) && output.trimEnd().split('\n').length === 1, output)
    }
  }
})

it('start: SVC_CONFIG_LENIENT=true logs other unknown keys and starts', async () => {
  const file = join(folder, 'lenient.yaml')
  writeFileSync(file, 'fts: { stemmer: true }\n')
  const server = await startServer({ args: ['--config', file], env: { SVC_CONFIG_LENIENT: 'true' } })
  assert.equal(await server.stop(), 0)
  assert.match(server.output(), /^warning: fts\.stemmer in the configuration file is not a known key/m)
})
