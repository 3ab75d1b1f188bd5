/**
 * What becomes of a document between its client and its preparation. One ordered list, which every write goes
 * through, whatever its protocol; so what it adds is in the entry, and neither a replay nor a rebuild repeats
 * it. Pure; on the lane that prepares.
 */
import { firstHeading } from '../../conversion/first_heading.js'
import type { Frontmatter } from '../../conversion/frontmatter.js'

export interface Draft {
  readonly contentMd: string
  /** As the client gave it; checked later. */
  readonly meta: unknown
  /** Reads the block at the beginning that moves from the content into the metadata. Default: it stays. */
  readonly frontmatter?: (contentMd: string) => Frontmatter
  /** The first heading becomes the metadata `title` where there is none. Default: it does not. */
  readonly titled?: boolean
  /** Metadata of the server, which replaces the client's. */
  readonly injected?: Readonly<Record<string, readonly string[]>>
  /** Called with what the client should know, although the document is written. */
  readonly warn?: (warning: string) => void
}

export type Enriched = Pick<Draft, 'contentMd' | 'meta'>
type Enricher = (draft: Draft) => Enriched

/** In this order: each sees what those before it made. */
const ENRICHERS: readonly Enricher[] = [withFrontmatter, withTitle, withInjectedKeys]

/** @returns content and metadata to be stored */
export function enriched(draft: Draft): Enriched {
  return ENRICHERS.reduce<Draft>((present, enrich) => {
    const next = enrich(present)
    return next === present ? present : { ...present, ...next }
  }, draft)
}

/** A block that can't be read stays in the content. The client's metadata has priority. */
function withFrontmatter(draft: Draft): Enriched {
  if (draft.frontmatter === undefined) return draft
  const { meta, bodyOffset, problem } = draft.frontmatter(draft.contentMd)
  if (problem !== undefined) {
    draft.warn?.(problem)
    return draft
  }
  return bodyOffset === 0 ? draft : { contentMd: draft.contentMd.slice(bodyOffset), meta: merged(meta, draft.meta) }
}

/** Metadata that is no map is left as it is: it is refused later. */
function withTitle(draft: Draft): Enriched {
  const { titled = false, contentMd, meta } = draft
  if (!titled || !isMap(meta) || Object.hasOwn(meta ?? {}, 'title')) return draft
  const title = firstHeading(contentMd)
  return title === undefined ? draft : { contentMd, meta: merged({ title: [title] }, meta) }
}

function withInjectedKeys(draft: Draft): Enriched {
  return draft.injected === undefined ? draft : { contentMd: draft.contentMd, meta: merged(draft.meta, draft.injected) }
}

/** Metadata that is no map is left as it is: it is refused later. */
function merged(first: unknown, then: unknown): unknown {
  if (!isMap(first)) return first
  if (!isMap(then)) return then
  // fromEntries defines own properties, so a key `__proto__` stays data.
  return Object.fromEntries([...Object.entries(first ?? {}), ...Object.entries(then ?? {})])
}

function isMap(meta: unknown): meta is object | null | undefined {
  return meta === undefined || meta === null || (typeof meta === 'object' && !Array.isArray(meta))
}
