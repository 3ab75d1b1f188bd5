/**
 * Reads a recall with every default applied, or the error that says what is wrong. Precedence: request,
 * retrieval profile of the collection of messages, default. Pure; any lane.
 */
import type { VectorAlgorithm } from '../../engine/vectors/vector_types.js'
import { badRequest } from '../../errors.js'
import { MEMORY_MESSAGES } from '../../operations/memory/memory_collections.js'
import { MESSAGE_ROLES, RECALL_STRATEGIES } from '../../operations/memory/memory_fields.js'
import { type FulltextDefaults, type FulltextRequest, readRequest } from '../fulltext/fulltext_request.js'
import type { Strategy } from '../hybrid/fusion.js'
import { type FilterInput, type Filters, parseFilters } from '../search/filters.js'
import { readRetrieval, type Retrieval } from '../search/retrieval.js'
import type { RetrievalProfile } from '../settings/collection_config.js'
import { readChoice, readNumber, readTopK, type VectorChoice } from '../vectors/vector_request.js'
import { MEMORY_LANG } from './memory_documents.js'

/** Default number of messages. Fixed by the contract, as is the constant of the fusion. */
const RECALL_TOP_K_DEFAULT = 10
const RRF_K = 60

type Absent = null | undefined
type RecallStrategy = (typeof RECALL_STRATEGIES)[number]

interface RecallInput extends Pick<FilterInput, 'filterMeta'> {
  readonly query: string
  readonly userId?: string | Absent
  readonly sessionId?: string | Absent
  readonly role?: string | Absent
  readonly topK?: number | Absent
  readonly threshold?: number | Absent
  readonly strategy?: string | Absent
  readonly alpha?: number | Absent
  readonly includeContent?: boolean | Absent
}

export interface RecallRequest {
  readonly strategy: RecallStrategy
  /** The query of words, with the filters of all searches. */
  readonly words: FulltextRequest
  readonly choice: VectorChoice
  readonly fusion: Strategy
  readonly topK: number
  /** Minimum score of words where they are asked alone; that of meanings is in `choice`. */
  readonly threshold: number
  readonly withContent: boolean
  readonly retrieval: Retrieval
  /** Only messages of sessions of this user. Undefined: of all users. */
  readonly userId: string | undefined
}

/**
 * @param userId of the sessions whose messages are wanted; undefined: all
 * @throws ServiceError 400, 422
 */
export function readRecall(
  input: RecallInput,
  userId: string | undefined,
  defaults: FulltextDefaults,
  vectorAlgorithm: VectorAlgorithm,
  profile: RetrievalProfile = {},
): RecallRequest {
  const words = readRequest({ collection: MEMORY_MESSAGES, query: input.query, lang: MEMORY_LANG, mode: 'simple' }, defaults, profile)
  const choice = readChoice({ threshold: input.threshold }, vectorAlgorithm, profile)
  return {
    strategy: readStrategy(input.strategy),
    words: { ...words, filters: filtersOf(input, userId) },
    choice,
    fusion: { kind: 'rrf', k: RRF_K, alpha: readAlpha(input.alpha, profile) },
    topK: readTopK(input.topK, RECALL_TOP_K_DEFAULT, profile),
    threshold: choice.threshold,
    withContent: input.includeContent !== false,
    retrieval: readRetrieval({}, profile),
    userId,
  }
}

function readStrategy(asked: string | Absent): RecallStrategy {
  const strategy = RECALL_STRATEGIES.find((known) => known === (asked || 'hybrid'))
  if (strategy === undefined) throw badRequest(`unknown strategy: ${asked}`)
  return strategy
}

/** Undefined: both sides count fully. */
function readAlpha(asked: number | Absent, profile: RetrievalProfile): number | undefined {
  const given = asked ?? (profile.hybridAlphaSet === true ? profile.hybridAlpha : undefined)
  if (given === undefined) return undefined
  const alpha = readNumber('alpha', given, 0)
  if (alpha < 0 || alpha > 1) throw badRequest('invalid alpha: must be from 0 to 1')
  return alpha
}

function filtersOf({ filterMeta, sessionId, role }: RecallInput, userId: string | undefined): Filters {
  if (role) requireRole(role)
  const own: Filters = [
    ['type', ['message']],
    ...(userId === undefined ? [] : ([['userId', [userId]]] as const)),
    ...(sessionId ? ([['sessionId', [sessionId]]] as const) : []),
    ...(role ? ([['role', [role]]] as const) : []),
  ]
  return [...own, ...parseFilters({ filterMeta })]
}

/** @throws ServiceError 400 */
export function requireRole(role: string): void {
  if (!MESSAGE_ROLES.some((known) => known === role)) throw badRequest('invalid role: must be user, assistant, system, or tool')
}
