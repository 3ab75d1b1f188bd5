/**
 * One document of an ingest as its client gave it, and the draft that follows from it: text without invalid
 * parts, a key from the URL, metadata about its origin. Pure; any error is one of this document only.
 */
import { readFrontmatter } from '../../conversion/frontmatter.js'
import { keyOfUrl } from '../../conversion/url_key.js'
import { badRequest, serviceError } from '../../errors.js'
import { checkIdentity } from '../documents/identity.js'
import type { Draft } from '../writes/enrichment.js'

export interface IngestDraft extends Draft {
  readonly key: string
  readonly lang: string
  readonly ttl: number
  /** The URL that gave the key; empty: the client did. */
  readonly keyedBy: string
}

type Fields = Readonly<Record<string, unknown>>

/** @param titled as of a draft @throws ServiceError 400 */
export function ingestDraft(item: unknown, titled: boolean, warn: (warning: string) => void): IngestDraft {
  const fields = fieldsOf(item)
  const [url, scraper, lang] = [textOf(fields, 'url'), textOf(fields, 'scraper'), textOf(fields, 'lang')]
  const { contentMd, ttl = 0, extractFrontmatter = false } = fields
  const given = textOf(fields, 'key')
  if (lang === '' || contentMd === undefined || contentMd === null || (given === '' && url === '')) throw serviceError('missingFields')
  if (typeof contentMd !== 'string') throw badRequest('invalid contentMd')
  if (typeof (ttl ?? 0) !== 'number') throw badRequest('invalid ttl')
  if (typeof (extractFrontmatter ?? false) !== 'boolean') throw badRequest('invalid extractFrontmatter')
  const key = given === '' ? keyOfUrl(url) : given
  checkIdentity(key, lang)
  return {
    key,
    lang,
    contentMd,
    meta: fields['meta'],
    ttl: (ttl ?? 0) as number,
    keyedBy: given === '' ? url : '',
    ...(extractFrontmatter === true ? { frontmatter: readFrontmatter } : {}),
    titled,
    ...originOf(url, scraper, secondOf(fields['scrapedAt'])),
    warn,
  }
}

/** Where the document comes from, as metadata. Most documents of an importer say nothing of it. */
function originOf(url: string, scraper: string, scrapedAt: number): Pick<Draft, 'injected'> {
  if (url === '' && scraper === '' && scrapedAt === 0) return {}
  return {
    injected: {
      ...(url === '' ? {} : { source_url: [url] }),
      ...(scrapedAt === 0 ? {} : { scraped_at: [String(scrapedAt)] }),
      ...(scraper === '' ? {} : { scraper: [scraper] }),
    },
  }
}

function fieldsOf(item: unknown): Fields {
  if (typeof item !== 'object' || item === null || Array.isArray(item)) throw badRequest('an object is expected')
  return item as Fields
}

function textOf(fields: Fields, name: string): string {
  const value = fields[name] ?? ''
  if (typeof value !== 'string') throw badRequest(`invalid ${name}`)
  return value
}

function secondOf(value: unknown): number {
  const second = value ?? 0
  if (!Number.isSafeInteger(second) || (second as number) < 0) throw badRequest('invalid scrapedAt')
  return second as number
}
