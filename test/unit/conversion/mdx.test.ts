/** Prose of MDX: what is left out, what stays, and that no text takes more than linear time. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { mdxProse } from '../../../src/conversion/mdx/prose.js'
import { holds } from '../../harness/property.js'

const PAGE = `import Tabs from '@theme/Tabs'
import { A,
  B } from './ab'

export const meta = {
  title: "x }",

  list: [1, 2],
}

# Title {#anchor}

<Tabs items={['npm', "a > b"]} {...rest} onClick={() => { go(\`\${a}}\`) }}>
  <TabItem value="npm"
    label='<b>'>

    Install it with **npm**:

    \`\`\`js
    import x from '<y>' // {stays}
      <Tag />
    \`\`\`

    - one <br/>two

  </TabItem>
</Tabs>

{/* a comment
with lines */}
Text{/* here */} with \`<Code> {x}\` and <b>bo</b>ld, <Card title="t">a</Card><Card>b</Card>, {'a <literal>'}{" "}{value}.
More \\<escaped> and \\{escaped}, $\\frac{a}{b}$, a < b, <https://example.com>.
<!-- old --> End <></> of it.
`

const PROSE = `# Title {#anchor}

Install it with **npm**:

\`\`\`js
import x from '<y>' // {stays}
  <Tag />
\`\`\`

- one two

Text with \`<Code> {x}\` and bold, a b, a \\<literal> .
More \\<escaped> and \\{escaped}, $\\frac{a}{b}$, a < b, <https://example.com>.
End  of it.
`

describe('mdx', () => {
  it('mdx: statements, tags, comments and expressions are left out; children, code, texts and formulas stay', () => {
    assert.equal(mdxProse(PAGE), PROSE)
    assert.equal(mdxProse(PAGE.replaceAll('\n', '\r\n')), PROSE)
  })

  it('mdx: import and export are left out where a block begins with them, and are words elsewhere', () => {
    for (const statement of [
      `import 'a.css'`,
      `import * as x from "x";`,
      `import type { X } from 'x'`,
      `import x, { y } from 'x'`,
      `export * from 'x'`,
      `export { x }`,
      'export default Layout',
      'export default ({ children }) => (\n  <div>\n\n {children}</div>\n)',
      'export const toc = `a\n\n${b + `}`}`',
      'export async function load() {\n\n  // "\n  /* } */\n  return 1\n}',
      'export type X = {\n\n a: 1 }',
    ]) {
      assert.equal(mdxProse(`a\n\n${statement}\n\nb\n`), 'a\n\nb\n', statement)
    }
    for (const prose of [
      'import maps, and more',
      'exporters export data',
      'a\nimport x from "x"',
      'export default values to a file',
      ' import',
    ])
      assert.equal(mdxProse(`${prose}\n`), `${prose}\n`)
    assert.equal(mdxProse('export const x = {\n\na\n\nb'), 'a\n\nb')
  })

  it('mdx: children lose the indentation of their tag, also in lists, and paragraphs stay apart', () => {
    assert.equal(mdxProse('<A>\n    one\n      two\n  <B>\n      three\n  </B>\n</A>\nfour\n'), 'one\n  two\n\nthree\n\nfour\n')
    assert.equal(mdxProse('- item\n\n  <A>\n    one\n  </A>\n\n- <B>two</B>\n'), '- item\n\n  one\n\n- two\n')
    assert.equal(mdxProse('<A>\n  ~~~\n  <x>\n ~~\n  ~~~\n</A>'), '~~~\n<x>\n~~\n~~~')
  })

  it('mdx: what is not closed is text', () => {
    for (const text of ['a { b', 'a <b c', '`{ ``b', 'a <!-- b', '`a <', '<a b="c', "{'a\n", '<5>', '</', '<', '{', '\\', '$', '`', '< b>'])
      assert.equal(mdxProse(text), text)
    assert.equal(mdxProse('`` a <b/>`c'), '`` a `c')
    assert.equal(mdxProse("{ok && <p>Don't {x} </p>} b"), 'b')
    assert.equal(mdxProse('<style>{`a { b }`}</style>c <script>d</script>'), 'c')
  })

  it('mdx: text without its signs is not touched, and neither is code, whatever is in it', async () => {
    const plain = fc.stringMatching(/^[^{}<\r\uFEFF]*$/).filter((text) => !/^(?:import|export)/m.test(text))
    await holds(
      fc.asyncProperty(plain, async (text) => {
        assert.equal(mdxProse(text), text)
      }),
    )
    const code = fc.string({ unit: fc.constantFrom('<', '{', '}', '>', '/', 'a', ' ', '\n', '"', "'", '$', '\\', '`') })
    await holds(
      fc.asyncProperty(code, async (text) => {
        const fence = `\`\`\`\`\n${text.replaceAll('````', '')}\n\`\`\`\`\n`
        assert.equal(mdxProse(`<A/>\n\n${fence}\n<B/>\n`), fence)
        const span = text.replaceAll(/[`\n]/g, '')
        assert.equal(mdxProse(`a \`${span}x\` <B/>b`), `a \`${span}x\` b`)
      }),
    )
  })

  it('mdx: hostile texts take linear time, and what is not closed is not looked for again and again', () => {
    const unit = [
      '{',
      '<a ',
      '<a b="',
      '<a b={',
      '`',
      '``` `',
      '{`${',
      "{'\\'",
      '{/*',
      '<!--',
      'export {\n\n',
      '$a ',
      '<a>',
      '<a>x',
      '</a>',
      '{"',
      '<a\n',
    ]
    const texts = [
      ...unit,
      '{'.repeat(400) + '}',
      '<a><b>',
      '`'.repeat(81) + ' ',
      "{'a' ",
      '\\',
      '<style>',
      '> ',
      '- ',
      '<A>\n ',
      'import {',
      '<a b=c ',
      '//',
      '{//',
    ]
    for (const text of texts) {
      const begun = performance.now()
      mdxProse(text.repeat(Math.ceil(60_000 / text.length)))
      mdxProse(Array.from({ length: 300 }, (_, at) => '`'.repeat(at + 1)).join(text))
      assert.ok(performance.now() - begun < 4000, `${JSON.stringify(text.slice(0, 20))}: ${performance.now() - begun} ms`)
    }
  })

  it('mdx: any text of its signs is read, and reading ends', async () => {
    const sign = fc.constantFrom(
      '<',
      '>',
      '/',
      '{',
      '}',
      '`',
      '```',
      '\n',
      '\n\n',
      'a',
      'A',
      ' ',
      '"',
      "'",
      '=',
      '$',
      '${',
      '\\',
      '*/',
      '/*',
      '<!--',
      'export {',
      '  ',
    )
    await holds(
      fc.asyncProperty(fc.string({ unit: sign, maxLength: 200 }), async (text) => {
        assert.ok(mdxProse(text).length <= 2 * text.length + 1)
      }),
    )
  })
})
