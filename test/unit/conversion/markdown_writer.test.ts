/** Markdown from events of readers: blocks, marks, escapes, and whatever order events come in. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { MarkdownWriter } from '../../../src/conversion/markdown/writer.js'
import { holds } from '../../harness/property.js'

function write(events: (writer: MarkdownWriter) => void, isPlain = false): string {
  const writer = new MarkdownWriter(isPlain)
  events(writer)
  return writer.finish()
}
function paragraph(text: string): string {
  return write((writer) => writer.text(text))
}
const CELL = { isHeader: false, columns: 1, rows: 1 }

describe('markdown of a converted document', () => {
  it('text that would be markup is escaped, and no other', () => {
    assert.equal(paragraph('# a'), '\\# a\n')
    assert.equal(paragraph('1. a'), '1\\. a\n')
    assert.equal(paragraph('- a'), '\\- a\n')
    assert.equal(paragraph('> a <b> &amp; c & d'), '\\> a \\<b> &amp;amp; c & d\n')
    assert.equal(paragraph('*a* snake_case 2 * 3 _a_'), '\\*a\\* snake_case 2 * 3 \\_a\\_\n')
    assert.equal(paragraph('[a](b) a[0] `c`'), '[a\\](b) a[0] \\`c\\`\n')
    assert.equal(paragraph('C:\\dir 50% #1 1.5 a-b'), 'C:\\dir 50% #1 1.5 a-b\n')
  })

  it('marks stand beside words, and nest in one order', () => {
    const text = write((writer) => {
      writer.text('a')
      writer.mark({ strong: true })
      writer.text(' b ')
      writer.mark({ emphasis: true })
      writer.text('c ')
      writer.mark({ strong: false })
      writer.text('d')
      writer.mark({ emphasis: false, href: 'https://x.org/a b' })
      writer.text(' e')
      writer.mark({ code: true })
      writer.text('`f')
    })
    assert.equal(text, 'a **b *c*** *d* [e`` `f ``](https://x.org/a%20b)\n')
  })

  it('a list in a list is indented by the width of its sign, and two lists stay two', () => {
    const text = write((writer) => {
      for (const isOrdered of [true, true, false]) {
        writer.openList(isOrdered, 9)
        for (const item of ['x', 'y']) {
          writer.openItem()
          writer.text(item)
          writer.openList(false)
          writer.openItem()
          writer.text('deep')
          writer.close('list')
          writer.close('item')
        }
        writer.close('list')
      }
    })
    const list = (signs: string[]): string => signs.map((sign, at) => `${sign} ${'xy'[at]}\n${' '.repeat(sign.length)} - deep\n`).join('')
    assert.equal(
      text,
      [
        ['9.', '10.'],
        ['9)', '10)'],
        ['-', '-'],
      ]
        .map(list)
        .join('\n'),
    )
  })

  it('cells that span others leave empty ones, and signs and lines in cells stay in their row', () => {
    const text = write((writer) => {
      writer.openTable()
      for (const row of [
        ['a|b', 2, 1],
        ['c', 1, 2],
        ['d', 1, 1],
      ] as const) {
        writer.openRow()
        writer.openCell({ isHeader: false, columns: row[1], rows: row[2] })
        writer.text(row[0])
        writer.block()
        writer.text('z')
        writer.close('cell')
      }
    })
    assert.equal(text, '|  |  |\n| --- | --- |\n| a\\|b<br>z |  |\n| c<br>z |  |\n|  | d<br>z |\n')
  })

  it('a table with headings or tables in its cells is a layout', () => {
    const text = write((writer) => {
      writer.openTable()
      for (const title of ['One', 'Two']) {
        writer.openCell(CELL)
        writer.heading(2)
        writer.text(title)
        writer.heading(0)
        writer.close('cell')
      }
    })
    assert.equal(text, '## One\n\n## Two\n')
  })

  it('plain text has no markup', () => {
    const text = write((writer) => {
      writer.heading(1)
      writer.text('T*')
      writer.heading(0)
      writer.mark({ strong: true, href: 'https://x.org' })
      writer.text('b')
      writer.openList(true)
      writer.openItem()
      writer.text('i')
      writer.close('list')
      writer.code('a\n  b', 'js')
    }, true)
    assert.equal(text, 'T*\n\nb\n\ni\n\na\n  b\n')
  })

  it('every word arrives once and in order, whatever events come in whatever order', () => {
    const event = fc.constantFrom(
      'text',
      'block',
      'heading',
      'quote',
      'list',
      'item',
      'table',
      'row',
      'cell',
      'caption',
      'strong',
      'code',
      'link',
      'break',
      'close quote',
      'close list',
      'close item',
      'close table',
      'close cell',
      'close caption',
    )
    holds(
      fc.property(fc.array(event, { maxLength: 300 }), fc.boolean(), (events, isPlain) => {
        let words = 0
        const text = write((writer) => events.forEach((name) => apply(writer, name, () => `w${words++}`)), isPlain)
        assert.deepEqual(
          [...text.matchAll(/w\d+/g)].map(([word]) => word),
          Array.from({ length: words }, (_, at) => `w${at}`),
        )
      }),
    )
  })

  it('containers nested without end cost no more than the text', () => {
    const text = write((writer) => {
      for (let at = 0; at < 10_000; at++) {
        writer.openQuote()
        writer.openList(false)
        writer.openItem()
        writer.text('x')
      }
    })
    assert.ok(text.length < 10_000 * 200, `${text.length}`)
  })
})

function apply(writer: MarkdownWriter, name: string, word: () => string): void {
  if (name === 'text') writer.text(` ${word()} `)
  else if (name === 'block') writer.block()
  else if (name === 'heading') writer.heading(2)
  else if (name === 'quote') writer.openQuote()
  else if (name === 'list') writer.openList(true)
  else if (name === 'item') writer.openItem()
  else if (name === 'table') writer.openTable()
  else if (name === 'row') writer.openRow()
  else if (name === 'cell') writer.openCell({ isHeader: true, columns: 2, rows: 2 })
  else if (name === 'caption') writer.openCaption()
  else if (name === 'strong') writer.mark({ strong: !writer.marks.strong })
  else if (name === 'code') writer.mark({ code: !writer.marks.code })
  else if (name === 'link') writer.mark({ href: writer.marks.href === '' ? 'x' : '' })
  else if (name === 'break') writer.lineBreak()
  else writer.close(name.slice('close '.length) as 'quote')
}
