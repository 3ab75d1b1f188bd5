/**
 * What each RPC does beyond the rules of its messages (request_input.ts, answer_message.ts): fields that are
 * passed with their zero values, wrapped requests and answers, names that differ. By the name of the RPC, and
 * pure: rows of the table of operations say which operation an RPC is.
 */
import { factOf, type Facts } from '../../wire/answer.js'
import type { Message } from './proto.js'
import type { Input } from './request_input.js'

interface RpcRules {
  /** Fields that are passed with their zero values, too. */
  readonly always?: readonly string[]
  readonly input?: (input: Input) => Input
  readonly answer?: (answer: unknown, facts: Facts) => Message
  /** The text of a required field that is missing. Default: that of most RPCs. */
  readonly missing?: string
}

const MISSING_COLLECTION = 'missing collection'

/** No revision is kept unless the request asks for it, unlike over HTTP. */
function withRevision<Given extends Input>(input: Given): Given {
  return { ...input, saveRevision: input['saveRevision'] ?? false }
}

/** The content and its revision are given for each document, also where they are empty. */
function batchOf(input: Input): Input {
  const documents = (input['documents'] ?? []) as readonly Input[]
  return { ...input, documents: documents.map((document) => withRevision({ contentMd: '', ...document })) }
}

function ingestOf(input: Input): Input {
  const documents = (input['documents'] ?? []) as readonly Input[]
  return {
    ...input,
    documents: documents.map((document) => ({ contentMd: '', ...document })),
    options: withRevision((input['options'] ?? {}) as Input),
  }
}

/** Only what the flags name is applied. */
function changesOf({ meta = {}, contentMd = '', ttl = 0, updateMeta, updateContent, updateTtl, ...identity }: Input): Input {
  return {
    ...identity,
    ...(updateMeta === true ? { meta } : {}),
    ...(updateContent === true ? { contentMd } : {}),
    ...(updateTtl === true ? { ttl } : {}),
  }
}

const ruleOf = ({ rule, ...others }: Input): Input => ({ ...(rule as Input | undefined), ...others })

/** Groups have ids of text over HTTP, which count from 1 for each kind. */
function groupsOf(answer: unknown): Message {
  const { exactGroups = [], similarGroups = [], ...others } = answer as Readonly<Record<string, readonly Message[] | undefined>>
  const numbered = (groups: readonly Message[]): readonly Message[] => groups.map((group, at) => ({ ...group, groupId: at + 1 }))
  return { ...others, exactGroups: numbered(exactGroups), similarGroups: numbered(similarGroups) }
}

function configOf(config: Message | undefined): Message {
  const { cms, ...others } = config ?? {}
  return cms === undefined ? others : { ...others, wordpress: cms }
}

function evidenceOf(answer: unknown): Message {
  const { suggestions, ...others } = answer as { readonly suggestions: readonly Message[] }
  return {
    ...others,
    suggestions: suggestions.map(({ evidence, ...suggestion }) => ({ ...suggestion, evidenceJson: JSON.stringify(evidence) })),
  }
}

const ofCollection: RpcRules = { missing: MISSING_COLLECTION }

export const RPC_RULES: Readonly<Record<string, RpcRules>> = {
  Add: {
    always: ['content_md'],
    input: ({ saveRevision, ...input }) => ({ ...input, skipRevision: saveRevision !== true }),
  },
  AddBatch: { input: batchOf },
  Ingest: { input: ingestOf },
  DeleteBatch: { always: ['documents'] },
  UpdateBatch: {
    always: ['documents'],
    input: (input) => ({ ...input, documents: ((input['documents'] ?? []) as readonly Input[]).map(withRevision) }),
  },
  UpdateDocument: { input: changesOf },
  SetTTL: { always: ['ttl'] },
  Search: {
    ...ofCollection,
    input: ({ sort = 'updatedAt', ...input }) => ({ ...input, sort }),
    answer: (documents, facts) => ({ documents, total: Number(factOf(facts, 'total') ?? 0) }),
  },
  Truncate: { always: ['keep_revs'], ...ofCollection },
  Restore: { missing: 'missing backup filename' },
  ValidateDocument: { always: ['meta'], ...ofCollection },
  CreateCurationRule: { input: ruleOf },
  UpdateCurationRule: { input: ruleOf },
  FindDuplicates: { answer: groupsOf, ...ofCollection },
  GetCollectionConfig: {
    ...ofCollection,
    answer: (answer) => ({ ...(answer as Message), config: configOf((answer as { readonly config?: Message }).config) }),
  },
  ListCollectionConfigs: {
    answer: (answer) => {
      const { configs, ...others } = answer as { readonly configs: readonly { readonly config?: Message }[] }
      return { ...others, configs: configs.map((entry) => ({ ...entry, config: configOf(entry.config) })) }
    },
  },
  ListWebhooks: { answer: (webhooks) => ({ webhooks }) },
  SearchAdvisor: { answer: evidenceOf, ...ofCollection },
  Export: ofCollection,
  ...Object.fromEntries(
    [
      'DeleteCollection',
      'GetMetaKeys',
      'GetChecksum',
      'FTSReindex',
      'VectorReindex',
      'GetSchema',
      'DeleteSchema',
      'SetCollectionConfig',
      'ListSynonyms',
      'ListStopwords',
    ].map((name) => [name, ofCollection]),
  ),
}
