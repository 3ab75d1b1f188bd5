/**
 * The documents of conversational memory: which keys, metadata and texts sessions, messages and summaries
 * have, and what of them answers show. They are plain documents, so searches, exports, backups and revisions
 * treat them like all others. Layout: docs/decisions/documents/memory.md. Pure.
 */
import { randomBytes } from 'node:crypto'
import { ServiceError } from '../../errors.js'

export const MEMORY_LANG = 'en'
/** Seconds that a session is kept after its last message: 30 days. Fixed by the contract. */
const SESSION_TTL_SECONDS = 2_592_000
const SESSION_ID_BYTES = 16
/** Characters of its id in the title of a session that was given none. */
const TITLE_ID_CHARS = 8
const SECOND_DIGITS = 20
/** Hexadecimal digits behind the second in the key of a message: nanoseconds of a clock, then random ones. */
const NANOSECOND_DIGITS = 16
const RANDOM_BYTES = 4

export type MetaLists = Readonly<Record<string, readonly string[]>>
/** As requests give it. */
type GivenMeta = Readonly<Record<string, string | readonly string[]>> | null | undefined

interface MemoryDraft {
  readonly key: string
  readonly lang: string
  readonly contentMd: string
  readonly meta: MetaLists
  readonly ttl: number
}

/** Metadata of a session that is not the client's. */
const SESSION_KEYS = new Set(['userId', 'type', 'status', 'scenario', 'title', 'ttl'])

interface NewSession {
  readonly userId: string
  readonly scenario?: string | null | undefined
  readonly title?: string | null | undefined
  readonly meta?: GivenMeta
  /** Seconds; 0: it never ends. */
  readonly ttl?: number | null | undefined
}

export function sessionDraft({ userId, scenario, title, meta, ttl }: NewSession, nowMs: number): MemoryDraft {
  const key = randomBytes(SESSION_ID_BYTES).toString('hex')
  const shown = title || `Session ${key.slice(0, TITLE_ID_CHARS)}`
  const seconds = ttl ?? SESSION_TTL_SECONDS
  const about = [`- User: ${userId}`, ...(scenario ? [`- Scenario: ${scenario}`] : []), `- Created: ${new Date(nowMs).toISOString()}`]
  return {
    key,
    lang: MEMORY_LANG,
    contentMd: `# ${shown}\n\n${about.join('\n')}\n`,
    meta: withOwn(meta, {
      userId,
      type: 'session',
      status: 'active',
      ...(scenario ? { scenario } : {}),
      title: shown,
      ttl: String(seconds),
    }),
    ttl: seconds,
  }
}

export interface MessageInput {
  readonly role: string
  readonly content: string
  readonly meta?: GivenMeta
}

/** Has no expiry of its own: it is there as long as its session. */
export function messageDraft({ sessionId, userId }: Session, { role, content, meta }: MessageInput, nowMs: number): MemoryDraft {
  const second = Math.floor(nowMs / 1000)
  const nanosecond = process.hrtime.bigint().toString(16).padStart(NANOSECOND_DIGITS, '0')
  return {
    key: `${sessionId}/${digits(second)}-${nanosecond}${randomBytes(RANDOM_BYTES).toString('hex')}`,
    lang: MEMORY_LANG,
    contentMd: content,
    meta: withOwn(meta, { sessionId, userId, role, type: 'message', timestamp: String(second) }),
    ttl: 0,
  }
}

/** Of the same second is the same document. */
export function summaryDraft(
  { sessionId, userId }: Session,
  { summary, messages }: { readonly summary: string; readonly messages: number },
  nowMs: number,
): MemoryDraft {
  const second = Math.floor(nowMs / 1000)
  const meta = { sessionId, type: 'summary', timestamp: String(second), messages: String(messages), ...(userId === '' ? {} : { userId }) }
  return { key: `${sessionId}/${digits(second)}`, lang: MEMORY_LANG, contentMd: summary, meta: withOwn(undefined, meta), ttl: 0 }
}

function digits(second: number): string {
  return String(second).padStart(SECOND_DIGITS, '0')
}

/** The server's metadata replaces the client's of the same key. */
function withOwn(meta: GivenMeta, own: Readonly<Record<string, string>>): MetaLists {
  const given = Object.entries(meta ?? {}).map(([key, value]) => [key, typeof value === 'string' ? [value] : value] as const)
  // fromEntries defines own properties, so a key `__proto__` stays data.
  return Object.fromEntries([...given, ...Object.entries(own).map(([key, value]) => [key, [value]] as const)])
}

/** A session as it is stored. */
export interface Session {
  readonly sessionId: string
  readonly userId: string
  /** Seconds that a message prolongs it by; 0: it does not. */
  readonly ttl: number
}

export function sessionOf(key: string, meta: MetaLists): Session {
  const ttl = Number(firstOf(meta, 'ttl'))
  return { sessionId: key, userId: firstOf(meta, 'userId'), ttl: Number.isSafeInteger(ttl) && ttl > 0 ? ttl : 0 }
}

export function firstOf(meta: MetaLists, key: string): string {
  return (Object.hasOwn(meta, key) ? meta[key]?.[0] : undefined) ?? ''
}

/** What the JSON of a document has, apart from its content. */
export interface ShownHead {
  readonly id: string
  readonly key: string
  readonly meta: MetaLists
  readonly addedAt: number
  readonly updatedAt: number
  readonly expiresAt?: number
}

/** A session as answers show it. */
export function showSession({ key, meta, addedAt, updatedAt, expiresAt }: ShownHead, messageCount: number): object {
  const scenario = firstOf(meta, 'scenario')
  return {
    sessionId: key,
    userId: firstOf(meta, 'userId'),
    ...(scenario === '' ? {} : { scenario }),
    title: firstOf(meta, 'title'),
    meta: Object.fromEntries(Object.entries(meta).filter(([name]) => !SESSION_KEYS.has(name))),
    createdAt: addedAt,
    updatedAt,
    ...(expiresAt === undefined ? {} : { expiresAt }),
    messageCount,
  }
}

/** Of a session that does not exist, or that the caller may not know of. */
export function sessionNotFound(sessionId: string): ServiceError {
  return new ServiceError('sessionNotFound', `session not found: ${sessionId}`)
}
