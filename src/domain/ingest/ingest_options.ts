/**
 * The options of an ingest: presets, and the flags that override them. Rules: service-1, "Document
 * operations".
 */
import { serviceError } from '../../errors.js'

export interface IngestFlags {
  readonly skipDuplicates: boolean
  readonly skipEmbeddings: boolean
  readonly skipFts: boolean
  readonly skipWebhooks: boolean
  readonly autoConfigureCollection: boolean
  readonly saveRevision: boolean
  /** Of what is converted. */
  readonly textOnly: boolean
}

type GivenOptions = Partial<IngestFlags> & { readonly profile?: string }

const DEFAULT: IngestFlags = {
  skipDuplicates: false,
  skipEmbeddings: false,
  skipFts: false,
  skipWebhooks: false,
  autoConfigureCollection: false,
  saveRevision: true,
  textOnly: false,
}

const PROFILES: ReadonlyMap<string, IngestFlags> = new Map([
  ['default', DEFAULT],
  ['fast', { ...DEFAULT, skipDuplicates: true, skipWebhooks: true, saveRevision: false, textOnly: true }],
])

/** @throws ServiceError 400 for an unknown profile */
export function ingestFlags({ profile = 'default', ...given }: GivenOptions = {}): {
  readonly profile: string
  readonly flags: IngestFlags
} {
  const preset = PROFILES.get(profile)
  if (preset === undefined) throw serviceError('unknownProfile')
  const named = Object.keys(DEFAULT) as (keyof IngestFlags)[]
  return { profile, flags: Object.fromEntries(named.map((name) => [name, given[name] ?? preset[name]])) as unknown as IngestFlags }
}
