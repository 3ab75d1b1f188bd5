/**
 * Requests that are designed to be expensive: one of each kind, with the data that it needs in the store and
 * its correct answers. Used by loadtest/hostile.ts, which measures them at full size, and by
 * test/contract/http/hostile.test.ts, which checks the answers of smaller ones. Every generator yields JSON
 * text, because most of these bodies could not be held as values.
 */
import type { Server } from './server/server.js'

export interface HostileRequest {
  readonly name: string
  readonly method?: 'POST' | 'PUT' | 'PATCH'
  readonly path: string
  /** @param scale 1: as large as the body limit permits */
  readonly body: (scale: number) => string
  /** Correct statuses, and the required beginning of an error. */
  readonly answers: readonly number[]
  readonly error?: RegExp
  readonly prepare?: (server: Server, scale: number) => Promise<void>
}

const ID = '"collection":"hostile","key":"k","lang":"en"'
const MIB = 1024 * 1024

function repeated(count: number, item: (at: number) => string): string {
  const parts: string[] = []
  for (let at = 0; at < count; at++) parts.push(item(at))
  return parts.join(',')
}

const times = (scale: number, count: number): number => Math.max(1, Math.round(scale * count))

async function write(server: Server, path: string, body: string): Promise<void> {
  let { status, text } = await server.post(path, body)
  // A deadline may pass on a busy machine.
  for (let attempt = 0; attempt < 20 && status === 503; attempt++) ({ status, text } = await server.post(path, body))
  if (status >= 300) throw new Error(`${path}: ${status} ${text.slice(0, 200)}`)
}

function document(key: string, contentMd: string, more = ''): string {
  return `{"collection":"hostile","key":"${key}","lang":"en","contentMd":${JSON.stringify(contentMd)}${more}}`
}

/** Writes the versions of a document. */
async function versions(server: Server, key: string, contents: readonly string[]): Promise<void> {
  for (const contentMd of contents) await write(server, '/v1/add', document(key, contentMd))
}

const BODIES: readonly HostileRequest[] = [
  {
    name: 'add: three million members that nobody knows',
    path: '/v1/add',
    body: (scale) => `{${ID},"junk":{${repeated(times(scale, 2_000_000), (at) => `"k${at}":1`)}},"contentMd":"x"}`,
    answers: [200],
  },
  {
    name: 'add: metadata of two million keys',
    path: '/v1/add',
    body: (scale) => `{${ID},"contentMd":"x","meta":{${repeated(times(scale, 2_000_000), (at) => `"k${at}":[]`)}}}`,
    answers: [400],
    error: /^(JSON has more than|invalid meta: )/,
  },
  {
    name: 'add: a list of three million unique texts as metadata',
    path: '/v1/add',
    body: (scale) => `{${ID},"contentMd":"x","meta":{"a":[${repeated(times(scale, 2_900_000), (at) => `"s${at}"`)}]}}`,
    answers: [400],
    error: /^(JSON has more than|invalid meta.a: )/,
  },
  {
    name: 'add: as many values as a body may have, in two-byte text',
    path: '/v1/add',
    body: (scale) => `{${ID},"contentMd":"✓","meta":{"a":[${repeated(times(scale, 2_097_000), (at) => `"s${at}"`)}]}}`,
    answers: [400],
    error: /^invalid meta.a: /,
  },
  {
    name: 'get: as many shapes as a body may have, in two-byte text',
    path: '/v1/get',
    body: (scale) => `{${ID},"env":{"✓":{${repeated(times(scale, 262_000), (at) => `"a name of a member ${at}":"${'v'.repeat(80)}"`)}}}}`,
    answers: [400],
    error: /^invalid env/,
  },
  {
    name: 'add-batch: items with members that nobody knows',
    path: '/v1/add-batch',
    body: (scale) =>
      `{"collection":"hostile","documents":[${repeated(times(scale, 500), (item) => `{"key":"b${item}","lang":"en","contentMd":"x","junk":{${repeated(4_000, (at) => `"k${at + 4_000 * item}":1`)}}}`)}]}`,
    answers: [200],
  },
  {
    name: 'add-batch: a million and more empty items',
    path: '/v1/add-batch',
    body: (scale) => `{"collection":"hostile","documents":[${repeated(times(scale, 1_040_000), () => '{}')}]}`,
    answers: [400],
    error: /^invalid documents: /,
  },
  {
    name: 'add-batch: metadata in as many orders as there are items',
    path: '/v1/add-batch',
    body: (scale) =>
      `{"collection":"hostile","documents":[${repeated(times(scale, 9_000), (item) => `{"key":"o${item}","lang":"en","contentMd":"x","meta":{${repeated(100, (at) => `"k${(at * 7 + item * 31) % 10_007}":[]`)}}}`)}]}`,
    answers: [400],
    error: /^JSON has more than 262144 different members/,
  },
  {
    name: 'bulk ingest: items with members that nobody knows',
    path: '/v1/bulk-ingest-job',
    body: (scale) =>
      `{"collection":"hostile","documents":[${repeated(times(scale, 500), (item) => `{"key":"i${item}","lang":"en","contentMd":"x","junk":[${repeated(4_000, (at) => `"${at + 4_000 * item}"`)}]}`)}]}`,
    answers: [202],
  },
  {
    name: 'search: brackets as deep as the body',
    path: '/v1/search',
    body: (scale) => `{"collection":"hostile","junk":${'['.repeat(times(scale, 16_000_000))}${']'.repeat(times(scale, 16_000_000))}}`,
    answers: [400],
    error: /^JSON is nested deeper/,
  },
  {
    name: 'search: a filter of a million keys',
    path: '/v1/search',
    body: (scale) => `{"collection":"hostile","filterMeta":{${repeated(times(scale, 1_000_000), (at) => `"k${at}":["v"]`)}}}`,
    answers: [400],
    error: /^(JSON has more than|invalid filterMeta)/,
  },
  {
    name: 'search: a name of 30 MB',
    path: '/v1/search',
    body: (scale) => `{"collection":"hostile","${'n'.repeat(times(scale, 30_000_000))}":1}`,
    answers: [200],
  },
  {
    name: 'vector-search: fifteen million numbers',
    path: '/v1/vector-search',
    body: (scale) => `{"collection":"hostile","queryVector":[${repeated(times(scale, 15_000_000), () => '1')}]}`,
    answers: [400],
    error: /^JSON has more than 2097152 values/,
  },
  {
    name: 'vector-search: two million numbers',
    path: '/v1/vector-search',
    body: (scale) => `{"collection":"hostile","queryVector":[${repeated(times(scale, 2_000_000), (at) => `0.${at}5`)}]}`,
    answers: [200, 400, 503],
  },
  {
    name: 'fts: a number of 30 million digits',
    path: '/v1/fts',
    body: (scale) => `{"collection":"hostile","query":"x","limit":1${'0'.repeat(times(scale, 30_000_000))}}`,
    answers: [200, 400],
  },
  {
    name: 'fts: a query of 30 MB in escapes',
    path: '/v1/fts',
    body: (scale) => `{"collection":"hostile","query":"${String.raw`\u0061`.repeat(times(scale, 5_000_000))}"}`,
    answers: [400],
    error: /^(invalid query|query)/,
  },
  {
    name: 'fts: a million facets',
    path: '/v1/fts',
    body: (scale) => `{"collection":"hostile","query":"x","facetBy":[${repeated(times(scale, 1_000_000), (at) => `"f${at}"`)}]}`,
    answers: [400],
  },
  {
    name: 'multi-search: a million searches',
    path: '/v1/multi-search',
    body: (scale) => `{"searches":[${repeated(times(scale, 1_000_000), () => '{"query":"x"}')}]}`,
    answers: [400],
  },
  {
    name: 'aggregate: a million facets and histograms',
    path: '/v1/aggregate',
    body: (scale) =>
      `{"collection":"hostile","facets":[${repeated(times(scale, 500_000), (at) => `{"field":"meta.f${at}"}`)}],"histograms":[${repeated(times(scale, 400_000), (at) => `{"field":"addedAt","interval":${at}}`)}]}`,
    answers: [400],
  },
  {
    name: 'synonyms: two million words for a term',
    path: '/v1/synonyms',
    body: (scale) => `{"collection":"hostile","term":"x","synonyms":[${repeated(times(scale, 2_000_000), (at) => `"w${at}"`)}]}`,
    answers: [400],
  },
  {
    name: 'stop words: two million',
    path: '/v1/stopwords',
    body: (scale) => `{"collection":"hostile","words":[${repeated(times(scale, 2_000_000), (at) => `"w${at}"`)}]}`,
    answers: [400],
  },
  {
    name: 'spell dictionary: two million words',
    method: 'PUT',
    path: '/v1/spell-dictionary',
    body: (scale) => `{"collection":"hostile","lang":"en","words":[${repeated(times(scale, 2_000_000), (at) => `"w${at}"`)}]}`,
    answers: [400],
  },
  {
    name: 'curation: a million pins',
    path: '/v1/curation',
    body: (scale) =>
      `{"collection":"hostile","query":"x","pins":[${repeated(times(scale, 500_000), (at) => `{"docID":"hostile|${at}|en","position":${at}}`)}]}`,
    answers: [400],
  },
  {
    name: 'schema: a million keys',
    path: '/v1/schema/set',
    body: (scale) =>
      `{"collection":"hostile","schema":{"properties":{${repeated(times(scale, 500_000), (at) => `"k${at}":{"type":"string"}`)}}}}`,
    answers: [400],
  },
  {
    name: 'collection-config: 30 MB of what is to be kept',
    method: 'PUT',
    path: '/v1/collection-config',
    body: (scale) => `{"collection":"hostile","customMeta":{${repeated(times(scale, 1_000_000), (at) => `"k${at}":{"a":${at}}`)}}}`,
    answers: [400],
  },
  {
    name: 'classify: a million labels',
    path: '/v1/classify',
    body: (scale) => `{"text":"x","labels":[${repeated(times(scale, 1_000_000), (at) => `"l${at}"`)}]}`,
    answers: [400, 503],
  },
  {
    name: 'delete-batch: a million identities',
    path: '/v1/delete-batch',
    body: (scale) => `{"collection":"hostile","documents":[${repeated(times(scale, 600_000), (at) => `{"key":"${at}","lang":"en"}`)}]}`,
    answers: [400],
    error: /^invalid documents: /,
  },
]

const WORK: readonly HostileRequest[] = [
  {
    name: 'get: a template whose answer would be 600 MB',
    path: '/v1/get',
    prepare: async (server, scale) => write(server, '/v1/add', document('template', '%%a%%'.repeat(times(scale, 3_200_000)))),
    body: () => `{"collection":"hostile","key":"template","lang":"en","env":{"a":"${'v'.repeat(200)}"}}`,
    answers: [200, 400],
    error: /^answer too large: /,
  },
  {
    name: 'get: a template whose answer is 240 MB',
    path: '/v1/get',
    body: () => `{"collection":"hostile","key":"template","lang":"en","env":{"a":"${'v'.repeat(75)}"}}`,
    answers: [200],
  },
  {
    name: 'get: a template of percent signs, and names that begin alike',
    path: '/v1/get',
    prepare: async (server, scale) => write(server, '/v1/add', document('percent', '%'.repeat(times(scale, 16 * MIB)))),
    body: () => `{"collection":"hostile","key":"percent","lang":"en","env":{${repeated(250, (at) => `"${'%'.repeat(4_000)}${at}":"v"`)}}}`,
    answers: [200],
  },
  {
    name: 'diff: eight million short lines of one letter and of another',
    path: '/v1/revisions/diff',
    prepare: async (server, scale) =>
      versions(server, 'short', ['a\n'.repeat(times(scale, 8_300_000)), 'b\n'.repeat(times(scale, 8_300_000))]),
    body: () => '{"collection":"hostile","key":"short","lang":"en","from":1}',
    answers: [200],
  },
  {
    name: 'diff: 100 000 lines, backwards',
    path: '/v1/revisions/diff',
    prepare: async (server, scale) => {
      const lines = Array.from({ length: times(scale, 100_000) }, (_, at) => String(at))
      await versions(server, 'backwards', [lines.join('\n'), lines.reverse().join('\n')])
    },
    body: () => '{"collection":"hostile","key":"backwards","lang":"en","from":1}',
    answers: [200],
  },
  {
    name: 'add: 16 MiB of words that nobody uses',
    path: '/v1/add',
    body: (scale) => document('words', repeated(times(scale, 1_600_000), (at) => `w${at}`).replaceAll(',', ' ')),
    answers: [200],
  },
  {
    name: 'add: 16 MiB of headings, tables and links',
    path: '/v1/add',
    body: (scale) => document('markdown', '# [a](b) `c` **d**\n| x | y |\n|---|---|\n> - * '.repeat(times(scale, 370_000))),
    answers: [200],
  },
  {
    name: 'add: as much metadata as a document may have',
    path: '/v1/add',
    body: (scale) =>
      document(
        'wide',
        'x',
        `,"meta":{${repeated(256, (key) => `"k${key}":[${repeated(times(scale, 1_024), (at) => `"v${key}-${at}"`)}]`)}}`,
      ),
    answers: [200],
  },
  {
    name: 'update: 16 MiB and all metadata of a document',
    method: 'PATCH',
    path: '/v1/update',
    body: (scale) =>
      `{"collection":"hostile","key":"wide","lang":"en","contentMd":"${'word '.repeat(times(scale, 3_300_000))}","meta":{${repeated(256, (key) => `"m${key}":["a","b"]`)}}}`,
    answers: [200],
  },
  {
    name: 'fts: highlights of documents of 16 MiB',
    path: '/v1/fts',
    body: () =>
      '{"collection":"hostile","query":"word w1 a x","highlight":true,"maxHighlights":100,"fragmentSize":10000,"limit":100,"includeContent":false}',
    answers: [200],
  },
  {
    name: 'fts: patterns, fuzzy words and distances over 1.6 million terms',
    path: '/v1/fts',
    body: () =>
      `{"collection":"hostile","query":"${Array.from({ length: 40 }, (_, at) => `w*${at % 10}* w${at}1234~2`).join(' OR ')}","mode":"expression","fuzzy":2,"limit":1000}`,
    answers: [200, 400, 503],
  },
  {
    name: 'aggregate: facets over all metadata of wide documents',
    path: '/v1/aggregate',
    body: () => `{"collection":"hostile","facets":[${repeated(64, (at) => `{"field":"meta.k${at}"}`)}],"maxFacetSize":10000}`,
    answers: [200, 400],
  },
  {
    name: 'schema and validate: a pattern that backtracking would not survive',
    path: '/v1/validate',
    prepare: async (server) =>
      write(server, '/v1/schema/set', '{"collection":"patterns","schema":{"properties":{"a":{"type":"string","pattern":"^(a+)+$"}}}}'),
    body: () => `{"collection":"patterns","meta":{"a":[${repeated(1_024, () => `"${'a'.repeat(8_000)}!"`)}]}}`,
    answers: [200, 400],
  },
  {
    name: 'spell-cleanup: as long a text as there may be',
    path: '/v1/spell-cleanup',
    body: (scale) => `{"collection":"hostile","lang":"en","text":"${'wrd teh '.repeat(times(scale, 3_900_000))}"}`,
    answers: [200, 400, 404],
  },
  {
    name: 'export: documents of 16 MiB',
    path: '/v1/export',
    body: () => '{"collection":"hostile","format":"zip"}',
    answers: [200],
  },
  {
    name: 'search: a page of documents of 16 MiB',
    path: '/v1/search',
    body: () => '{"collection":"hostile","limit":10000}',
    answers: [200, 400],
  },
  {
    name: 'revisions: twenty versions of 16 MiB',
    path: '/v1/revisions',
    prepare: async (server, scale) => {
      for (let version = 0; version < 20; version++)
        await write(server, '/v1/add', document('versions', `${version} ${'word '.repeat(times(scale, 3_000_000))}`))
    },
    body: () => '{"collection":"hostile","key":"versions","lang":"en"}',
    answers: [200, 400],
    error: /^answer too large: /,
  },
]

/** The order matters: later requests use the data written by earlier ones. */
export const HOSTILE_REQUESTS: readonly HostileRequest[] = [...BODIES, ...WORK]
