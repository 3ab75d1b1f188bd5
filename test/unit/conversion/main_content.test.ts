/** The main content of HTML: its bounds, and pages that no text stands out of. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { convertBytes } from '../../../src/conversion/formats/converters.js'
import { mainContentOf } from '../../../src/conversion/formats/main_content.js'

const paragraph = '<p>A paragraph with many words, commas, and something to say about the subject of the page.</p>'

describe('main content of a page', () => {
  it('a page without a main part, an empty one and plain text are converted as a whole', async () => {
    for (const html of ['', 'plain', '<p>short', '<a href="/x">menu</a>', '<frameset><frame src=x></frameset>'])
      assert.equal(await convertBytes(Buffer.from(html), 'html', false, true), await convertBytes(Buffer.from(html), 'html', false), html)
  })

  it('pages with more than 20 000 elements or 500 levels are converted as a whole', () => {
    const page = (count: number): string => `<html><body><article>${paragraph.repeat(count)}</article><footer>end</footer></body></html>`
    const nested = (depth: number): string =>
      page(20).replace('<article>', '<div>'.repeat(depth)).replace('</article>', '</div>'.repeat(depth))
    assert.equal(typeof mainContentOf(page(19_990)), 'string')
    assert.equal(mainContentOf(page(20_000)), undefined)
    assert.equal(typeof mainContentOf(nested(490)), 'string')
    assert.equal(mainContentOf(nested(500)), undefined)
    assert.equal(mainContentOf('<div>'.repeat(100_000)), undefined)
    assert.equal(mainContentOf('<b>'.repeat(2_000_000)), undefined)
  })

  it('tags of head and body within the content are no tags of the page', () => {
    const sample = `<pre>\n<head><title>S</title></head>\n<body>\n</body></pre>`
    for (const begin of ['<html><head><title>T</title></head><body>', '<title>T</title>', '<html><head><title>T</title><body>', ''])
      for (const page of [`${begin}<article><h1>FIRST</h1>${paragraph.repeat(8)}${sample}${paragraph.repeat(8)}<p>LAST</p></article>`]) {
        const main = mainContentOf(page) ?? ''
        assert.ok(main.includes('FIRST') && main.includes('LAST') && main.length > 16 * paragraph.length, `${begin}: ${main.slice(0, 200)}`)
      }
  })

  it('the heading of the page comes first, once, and markup in a title is text', () => {
    const body = paragraph.repeat(20)
    const of = (head: string, heading: string): string =>
      mainContentOf(`<html><head>${head}</head><body>${heading}${body}</body></html>`) ?? ''
    assert.match(of('<title>Guide of houses | Site</title>', '<h1>Guide of houses</h1>'), /^<h1>Guide of houses<\/h1>/)
    assert.match(of('<title>A title of the page</title>', ''), /^<h1>A title of the page<\/h1>/)
    assert.match(of('<title>1 &lt; 2 &amp; more</title>', ''), /^<h1>1 &lt; 2 &amp; more<\/h1>/)
    for (const head of ['', '<title></title>']) assert.doesNotMatch(of(head, ''), /<h1/)
  })
})
