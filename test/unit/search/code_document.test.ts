/** Which documents are source code, and in which language: service-1, "Code documents". */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { codeLanguage, codeMarksOf, isCodeDocument } from '../../../src/domain/documents/code_document.js'

describe('code documents', () => {
  const cases: readonly (readonly [key: string, meta: Record<string, string[]>, isCode: boolean, language: string | undefined])[] = [
    ['src/main.ts', {}, true, 'typescript'],
    ['SRC/MAIN.TSX', {}, true, 'typescript'],
    ['page.htm', {}, true, 'html'],
    ['run.sh', {}, true, 'shell'],
    ['notes.md', {}, false, undefined],
    ['main', {}, false, undefined],
    ['a.js/readme', {}, false, undefined],
    ['dir/.json', {}, false, undefined],
    ['x.constructor', {}, false, undefined],
    ['slug', { path: ['lib/x.py'] }, true, 'python'],
    ['slug.go', { path: ['doc/notes.md'] }, true, 'go'],
    ['slug.go', { path: ['x.rs'] }, true, 'rust'],
    ['slug', { kind: ['code'] }, true, undefined],
    ['slug', { kind: ['code', 'prose'], language: ['zig'] }, true, 'zig'],
    ['main.ts', { kind: ['prose'] }, false, 'typescript'],
    ['main.ts', { kind: ['anything'] }, false, 'typescript'],
    ['main.ts', { kind: [] }, true, 'typescript'],
  ]
  for (const [key, meta, isCode, language] of cases) {
    it(`${key} ${JSON.stringify(meta)}`, () => {
      const marks = codeMarksOf(key, Object.entries(meta))
      assert.equal(isCodeDocument(marks), isCode)
      assert.equal(codeLanguage(marks), language)
    })
  }
})
