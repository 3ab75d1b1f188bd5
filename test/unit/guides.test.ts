/**
 * Documents for users match the code: the guide's table of options, the default stop words and the README's
 * limits.
 */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'
import { BATCH_DOCUMENTS_MAX, BODY_BYTES_DEFAULT, DOCUMENT_BYTES_MAX, KEY_BYTES_MAX } from '../../src/limits/input.js'
import { LIMIT_MAX } from '../../src/limits/search.js'

function findRoot(folder: string): string {
  return existsSync(join(folder, 'package.json')) ? folder : findRoot(dirname(folder))
}
const root = findRoot(dirname(fileURLToPath(import.meta.url)))

describe('documents for users', () => {
  it('the configuration guide names every option as it is', () => {
    const run = spawnSync(process.execPath, [join(root, 'scripts', 'generate-configuration-guide.mjs'), '--check'], { encoding: 'utf8' })
    assert.equal(run.status, 0, run.stderr)
  })

  it('the default stop words that are listed are those that the analyzer is compiled with', () => {
    const run = spawnSync(process.execPath, [join(root, 'scripts', 'generate-stop-words.mjs'), '--check'], { encoding: 'utf8' })
    assert.equal(run.status, 0, run.stderr)
  })

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
})
