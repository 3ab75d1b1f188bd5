/** The reference page for readers, which is made of the table of operations. */
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { describe, it } from 'node:test'
import { ANONYMOUS } from '../../../src/access/principal.js'
import { operations } from '../../../src/operations/index.js'
import { docsPolicy } from '../../../src/surface/http/pages/docs_page.js'
import { referencePages } from '../../../src/surface/http/pages/reference.js'
import type { Answer } from '../../../src/wire/answer.js'
import { serverState } from '../../harness/server/server_state.js'

function ask(name: string): Answer {
  const [, run] = referencePages(serverState().config).find(([row]) => row.name === name) ?? assert.fail(name)
  return run({}, ANONYMOUS)
}

describe('the reference page', () => {
  it('docs: the page is whole in itself: no address outside of the server', () => {
    const page = String(ask('docs').body)
    assert.doesNotMatch(page, /(src|href)="(?!#|\/openapi\.json)/)
    // Examples of fields name pages of a domain that is reserved for that.
    assert.doesNotMatch(page.replaceAll('https://example.com/', ''), /https?:\/\//)
    assert.doesNotMatch(page, /@import|url\(/)
  })

  it('docs: the policy allows exactly the page’s own style and script', () => {
    const policy = docsPolicy()
    const page = String(ask('docs').body)
    for (const tag of ['style', 'script']) {
      const content = new RegExp(`<${tag}>([\\s\\S]*?)</${tag}>`).exec(page)?.[1] ?? ''
      assert.ok(policy.includes(`'sha256-${createHash('sha256').update(content).digest('base64')}'`), tag)
    }
    // `default-src 'none'` holds for objects, too.
    for (const rule of ["default-src 'none'", "base-uri 'none'", "frame-ancestors 'none'", "form-action 'none'"])
      assert.ok(policy.split('; ').includes(rule), rule)
    assert.doesNotMatch(page, /\son[a-z]+="|style="/)
  })

  it('docs: every operation has a section with route, fields and an example', () => {
    const page = String(ask('docs').body)
    // The page is that of HTTP.
    for (const row of operations.filter(({ http }) => http !== undefined)) {
      assert.ok(page.includes(`<section id="${row.name}" `), row.name)
      for (const { path } of row.http?.routes ?? []) assert.ok(page.includes(`<code>${path}</code>`), path)
    }
    assert.ok(page.includes('{base_url}/v1/add'))
  })
})
