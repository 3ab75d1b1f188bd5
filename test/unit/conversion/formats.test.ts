/** The table of formats, and text files that state their encoding badly. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { formatOf } from '../../../src/conversion/formats.js'
import { decodeText, fenced, isBinary } from '../../../src/conversion/text_files.js'
import { holds } from '../../harness/property.js'

describe('formats', () => {
  it('each extension has its format, and says whether the file is stored, converted or wrapped', () => {
    const kinds = Object.fromEntries(
      'md txt html htm pdf docx odt rtf tex latex yaml yml log lex'.split(' ').map((extension) => {
        const format = formatOf(`a.b.${extension.toUpperCase()}`)
        return [extension, `${format?.kind} ${format?.name}`]
      }),
    )
    assert.deepEqual(kinds, {
      md: 'stored md',
      txt: 'stored txt',
      html: 'converted html',
      htm: 'converted html',
      pdf: 'converted pdf',
      docx: 'converted docx',
      odt: 'converted odt',
      rtf: 'converted rtf',
      tex: 'converted tex',
      latex: 'converted tex',
      yaml: 'wrapped yaml',
      yml: 'wrapped yaml',
      log: 'wrapped log',
      lex: 'wrapped lex',
    })
  })

  it('a name without a known extension has no format', () => {
    for (const name of ['', 'pdf', 'a.doc', 'a.pdf.zip', 'a.', 'a.constructor', 'a.pdf/b']) assert.equal(formatOf(name), undefined, name)
  })
})

describe('texts of files', () => {
  it('a byte order mark decides the encoding, then a declaration, then UTF-8, then windows-1252', () => {
    const page = '<meta charset="koi8-r"><p>'
    assert.equal(decodeText(Buffer.from('\ufeffä')), 'ä')
    assert.equal(decodeText(Buffer.from('\ufeffä', 'utf16le')), 'ä')
    assert.equal(decodeText(Buffer.from('feff00e4', 'hex')), 'ä')
    assert.equal(decodeText(Buffer.concat([Buffer.from(page), Buffer.from([0xc1])]), { declares: true }), `${page}а`)
    assert.equal(decodeText(Buffer.from('grün')), 'grün')
    assert.equal(decodeText(Buffer.from([0x67, 0xfc, 0x80])), 'gü€')
  })

  it('binary data under the name of a text is told from text in any encoding', () => {
    for (const text of ['', 'a', '\ufeffä', '{x}', 'PK', '% comment']) assert.equal(isBinary(Buffer.from(text)), false, text)
    assert.equal(isBinary(Buffer.from('\ufeffa', 'utf16le')), false)
    for (const data of ['%PDF-1.4', 'PK\x03\x04', '{\\rtf1 a}', 'a\0b']) assert.equal(isBinary(Buffer.from(data)), true, data)
  })

  it('a declaration that is unknown, or can not be true, is passed over', () => {
    for (const charset of ['nothing-known', 'utf-16', '']) {
      const page = `<meta charset="${charset}">ä`
      assert.equal(decodeText(Buffer.from(page), { declares: true }), page)
    }
  })

  it('wrapped text comes back whole from its block, whatever fences are in it', () => {
    holds(
      fc.property(fc.array(fc.constantFrom('`', '``', '```', '~~~', 'a', '\n', ' ')), (pieces) => {
        const text = pieces.join('')
        const lines = fenced(text, 'log').split('\n')
        const [first = '', ...rest] = lines
        const fence = /^`+/.exec(first)![0]
        assert.equal(first, `${fence}log`)
        assert.equal(
          rest.findIndex((line) => line.trimEnd().startsWith(fence)),
          rest.length - 2,
        )
        assert.equal(rest.slice(0, -2).join('\n'), text.replace(/\n$/, ''))
      }),
    )
  })
})
