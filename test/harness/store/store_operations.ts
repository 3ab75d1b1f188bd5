/**
 * The operations of the model test of the truth store: random operations, and documents as a lane prepares
 * them.
 */
import fc from 'fast-check'
import type { PreparedDocument } from '../../../src/domain/commands.js'
import { encodeUpsert } from '../../../src/engine/search/index_batch.js'
import { encodeBody, escapeContent } from '../../../src/store/body.js'
import { contentHash } from '../../../src/store/document_hash.js'
import { HEAD_FLAGS } from '../../../src/store/head.js'
import type { HashedDocument } from './checksums.js'

const COMPRESSION = { enabled: true, smallThreshold: 64, mediumThreshold: 256 }

export type Operation =
  | {
      readonly kind: 'put'
      readonly collection: string
      readonly key: string
      readonly content: string
      readonly keep: boolean
      readonly ttl: number | null
      readonly embeds: boolean
    }
  | { readonly kind: 'embed'; readonly count: number; readonly variant: string; readonly isWhole: boolean }
  | { readonly kind: 'delete' | 'expiry'; readonly collection: string; readonly key: string }
  | { readonly kind: 'drop'; readonly collection: string }
  | { readonly kind: 'truncate' | 'limit' | 'share'; readonly collection: string; readonly key: string; readonly count: number }
  | { readonly kind: 'restart' | 'reseal' }
  | { readonly kind: 'seal'; readonly collection: string; readonly isSealed: boolean }
  | { readonly kind: 'wait' }
  | { readonly kind: 'pack' }
  | { readonly kind: 'history'; readonly collection: string; readonly key: string; readonly numbers: readonly number[] }

/** A text that hardly compresses, with a small change: worth storing as a difference. */
export function edited(number: number): string {
  const text = Array.from({ length: 80 }, (_, index) => Math.imul(index + 1, 0x9e3779b1).toString(36)).join(' ')
  return `${text.slice(0, number)}-${number}-${text.slice(number)}`
}

const collection = fc.constantFrom('blog', 'Blog', 'wiki')
const key = fc.constantFrom('a', 'A', 'b', 'ä', 'Ä')
export const operation: fc.Arbitrary<Operation> = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      kind: fc.constant('put' as const),
      collection,
      key,
      content: fc.oneof(fc.string({ maxLength: 20 }), fc.constant('long text '.repeat(60)), fc.nat(99).map(edited)),
      keep: fc.boolean(),
      ttl: fc.constantFrom(null, 0, 5),
      embeds: fc.boolean(),
    }),
  },
  { weight: 3, arbitrary: fc.record({ kind: fc.constantFrom('delete' as const, 'expiry' as const), collection, key }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('drop' as const), collection }) },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constantFrom('truncate' as const, 'limit' as const, 'share' as const),
      collection,
      key,
      count: fc.nat({ max: 4 }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constantFrom('restart' as const, 'reseal' as const) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('seal' as const), collection, isSealed: fc.boolean() }) },
  { weight: 1, arbitrary: fc.constant({ kind: 'wait' as const }) },
  { weight: 2, arbitrary: fc.constant({ kind: 'pack' as const }) },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('embed' as const),
      count: fc.integer({ min: 1, max: 6 }),
      variant: fc.constantFrom('one', 'one', 'other'),
      isWhole: fc.boolean(),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('history' as const),
      collection,
      key,
      numbers: fc.array(fc.nat(99), { minLength: 3, maxLength: 8 }),
    }),
  },
)

/** The metadata of every document. */
const META = { k: ['v'] }

export function prepared(keyOf: string, content: string, keep: boolean, ttl: number | null): PreparedDocument {
  const escaped = escapeContent(content)
  return {
    key: keyOf,
    lang: 'en',
    meta: JSON.stringify(META),
    metaTriples: 1,
    settingsLsn: 0n,
    flags: keep ? HEAD_FLAGS.revision : 0,
    contentHash: contentHash({ key: keyOf, lang: 'en', meta: JSON.stringify(META) }, escaped),
    body: { kind: 'new', record: encodeBody(escaped, COMPRESSION), rawBytes: escaped.length },
    escaped,
    index: Buffer.from(encodeUpsert({ collection: 0, key: keyOf, lang: 'en', meta: [], fields: [] })),
    ttl,
  }
}

/** A document of a model, as a client sees it. The last of the spellings is that of the last write. */
export function shownDocument(model: {
  readonly states: readonly { readonly content: string }[]
  readonly spellings: ReadonlySet<string>
  readonly addedAt: number
  readonly updatedAt: number
  readonly expiresAt: number
}): HashedDocument {
  const { states, spellings, ...times } = model
  return { key: [...spellings].at(-1) ?? '', lang: 'en', meta: META, contentMd: states.at(-1)?.content ?? '', ...times }
}
