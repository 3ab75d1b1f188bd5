/**
 * Text that is pasted from a document finds this document when no mode is named, decision 0283. The requested
 * modes keep their syntax.
 */
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import fc from 'fast-check'
import { type DocumentJson, DocumentsClient } from '../../harness/clients/documents_client.js'
import { holds } from '../../harness/property.js'

const PASTED = [
  'https://example.org/search?q=foo&page=2#top',
  '/srv/a/b?c/d',
  String.raw`C:\Users\me\*.log`,
  '2*2=4',
  '3 + 4 - 2 = 5',
  'git commit -m message',
  'git commit -m "fix the -x flag" && git push -f',
  'ls -1 | wc -l',
  'tar -xzf archive.tgz -C /opt',
  'find . -name "*.ts" -not -path "./dist/*"',
  'docker run --rm -it -p 80:80 nginx:1.25',
  'curl -X POST http://localhost:11023/v1/fts -d \'{"query": "a -b"}\'',
  'if (a[i] != b && !done) { total -= rate * (x ? y : z); }',
  'std::vector<int>::iterator it = v.begin(); *it++ = -1;',
  'const f = (x) => x ** 2 ?? -1',
  'for (auto* p = head; p; p = p->next) sum += *p;',
  'SELECT * FROM users WHERE NOT deleted AND age > 30 -- comment',
  'CREATE TABLE IF NOT EXISTS jobs (id INT NOT NULL)',
  'john.doe+spam@example.org',
  'title:rust OR content:"wal log" -> field',
  '>=1.2 <2.0 || ^3.1 || ~4.2.1',
  'react@^18.2.0 -beta~1',
  "TypeError: Cannot read properties of undefined (reading 'map') at Object.<anonymous> (/srv/app/index.js:12:5)",
  'error[E0382]: borrow of moved value: `x` --> src/main.rs:4:20',
  'panic: runtime error: index out of range [5] with length 3 goroutine 1 [running]: main.main() /tmp/x.go:8 +0x1d',
  '{"key": "value", "list": [1, -2, "*"]}',
  'dependencies: "fast-check" ~3.1 -- "unbalanced',
  'Clients MUST NOT retry, and SHOULD NOT wait',
  'Please do NOT run this as root',
  'DO NOT DISTURB',
  'what is "this"? (or that) - nothing else',
  'print("hello", *args, **kwargs)',
  '+49 30 1234-567',
]

let client: DocumentsClient
let added = 0

before(async () => {
  client = await DocumentsClient.shared()
  await client.addBatch(
    'pasted',
    PASTED.map((text, index) => ({ key: `p${index}`, lang: 'en', contentMd: fenced(text), meta: {} })),
  )
  await client.addBatch('pasted_text-operators', [
    { key: 'car', lang: 'en', contentMd: 'a jaguar is a car', meta: {} },
    { key: 'cat', lang: 'en', contentMd: 'a jaguar is a cat by TCP/IP', meta: {} },
  ])
})
after(() => client.stop())

/** As code, every word of the text can be found; as markup, addresses of links and tags would not be text. */
function fenced(text: string): string {
  return `# An example\n\n~~~~\n${text}\n~~~~\n`
}

async function finds(collection: string, query: string): Promise<{ readonly keys: readonly string[]; readonly mode: string }> {
  const answer = await client.post('/v1/fts', { collection, query, limit: 1000 })
  assert.equal(answer.status, 200, `${query}: ${answer.text}`)
  const { results, mode } = answer.json<{ results: readonly { document: DocumentJson }[]; mode: string }>()
  return { keys: results.map(({ document }) => document.key), mode }
}

const word = fc.constantFrom('alpha', 'beta', 'gamma', 'delta', 'epsilon', 'zeta', 'omega', 'naïve', 'Straße', 'x1', 'v2', 'the', 'NOT_SET')
const option = fc.tuple(fc.constantFrom('-', '--'), fc.constantFrom('m', 'v', '1', 'rf', 'O2', 'all')).map((parts) => parts.join(''))
const code = fc.constantFrom(
  'a[i]',
  'x = -y;',
  'p->next',
  'f(*args)',
  '!done',
  '{',
  '}',
  'i++',
  '<b>',
  'a ? b : c',
  '**kwargs',
  '&x',
  "'s'",
  '`q`',
  '%d',
)
const address = fc.tuple(fc.constantFrom('https://', 'ftp://', '/', './', '~/'), fc.array(word, { minLength: 2, maxLength: 4 }), fc.constantFrom('', '?q=*', '?a=b&c=-d', '#top', '/*')).map(([head, words, tail]) => `${head}${words.join('/')}${tail}`) // prettier-ignore
const sign = fc.constantFrom('-', '+', '*', '?', '~', '^', ':', '(', ')', '"', '/', '\\', '=', '<', '>', '|', '&', ',', '.', ';')
/** A text of nothing but stop words finds nothing, so each has a word that is none. */
const line = (part: fc.Arbitrary<string>) =>
  fc.tuple(
    word.filter((each) => each !== 'the'),
    fc.array(fc.oneof(word, part), { minLength: 1, maxLength: 8 }),
    word,
  )
/** Each has something that no query has. */
const pasted = fc.oneof(
  line(code).map(([head, parts, tail]) => `${[head, ...parts, tail].join(' ')};`),
  line(address).map(([head, parts, tail]) => [head, 'http://host/path?x=1', ...parts, tail].join(' ')),
  line(option).map(([head, parts, tail]) => [head, '-m', ...parts, tail].join(' ')),
  line(sign).map(([head, parts, tail]) => `${[head, ...parts, tail].join('')} = {`),
)

describe('pasted text', () => {
  it('fts: text pasted from a document finds it, whatever marks it has', async () => {
    const lost: string[] = []
    for (const [index, text] of PASTED.entries()) {
      const { keys, mode } = await finds('pasted', text)
      if (!keys.includes(`p${index}`)) lost.push(`${text} (${mode})`)
    }
    assert.deepEqual(lost, [])
  })

  it('fts: generated command lines, addresses and code find the document that they are pasted from', async () => {
    await holds(
      fc.asyncProperty(fc.array(pasted, { minLength: 20, maxLength: 20 }), async (texts) => {
        const collection = `generated-${++added}`
        await client.addBatch(
          collection,
          texts.map((text, index) => ({ key: `g${index}`, lang: 'en', contentMd: fenced(text), meta: {} })),
        )
        for (const [index, text] of texts.entries()) {
          const { keys, mode } = await finds(collection, text)
          assert.ok(keys.includes(`g${index}`), `${text} (${mode})`)
        }
      }),
      { numRuns: 12 },
    )
  })

  it('fts: operators that are meant still count without a mode', async () => {
    for (const query of [
      'jaguar -car',
      'jaguar NOT car',
      '+jaguar -car',
      'TCP/IP jaguar -car',
      'jaguar -"a car"',
      '-(car OR vehicle) jaguar',
    ])
      assert.deepEqual(await finds('pasted_text-operators', query), { keys: ['cat'], mode: 'boolean' }, query)
    assert.equal((await finds('pasted_text-operators', 'jag*')).mode, 'wildcard')
  })

  it('fts: the requested modes keep their syntax for text that auto takes for pasted', async () => {
    const modeOf = async (mode: string, query: string): Promise<string> => {
      const answer = await client.post('/v1/fts', { collection: 'pasted_text-operators', query, mode })
      const { results } = answer.json<{ results: readonly { document: DocumentJson }[] }>()
      return results.map(({ document }) => document.key).join()
    }
    assert.equal(await modeOf('boolean', 'jaguar -car speed/x=1'), 'cat')
    assert.equal(await modeOf('boolean', 'jaguar -cat'), 'car')
    assert.equal(await modeOf('boolean', 'jaguar -tcp'), 'car')
    assert.equal(await modeOf('expression', 'IS NOT cat AND jaguar'), 'car')
    assert.equal(await modeOf('wildcard', 'a=c*r'), 'car')
  })
})
