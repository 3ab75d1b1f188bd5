/**
 * The import of a page on the lanes: the request is checked before anything is fetched, and the page is
 * prepared like any document when the front end has it (src/background/page_imports.ts).
 */
import { readSimpleFrontmatter } from '../../../conversion/simple_frontmatter.js'
import { decodeText } from '../../../conversion/text_files.js'
import { keyOfUrl } from '../../../conversion/url_key.js'
import type { Command } from '../../../domain/commands.js'
import { checkIdentity, requirePlainName } from '../../../domain/documents/identity.js'
import { parseMetadata, requireText } from '../../../domain/documents/metadata.js'
import { checkTtl, prepareDocument } from '../../../domain/writes/preparation.js'
import { badRequest } from '../../../errors.js'
import { importUrl as importRow, storePage as storeRow } from '../../../operations/documents/import_url.js'
import type { InputOf } from '../../../operations/row/operation.js'
import { checkUrl, OutboundRefused, policyOf } from '../../../outbound/destination.js'
import type { StoreFirst } from '../../../wire/messages/messages.js'
import type { PageImport } from '../../../wire/messages/page_messages.js'
import { type BoundHandler, io, type LaneContext, prepare } from '../../request/handler.js'
import { commandOf } from '../../request/storage.js'
import { rulesOf } from '../documents.js'

function check(lane: LaneContext, input: InputOf<typeof importRow>): PageImport {
  const { collection, url, lang, key: given = '', meta = {}, ttl = 0, mainContent = false } = input
  checkDestination(lane, url)
  const key = given === '' ? keyOfUrl(url) : given
  checkIdentity(key, lang)
  requirePlainName('collection', collection)
  requirePlainName('lang', lang)
  checkTtl(ttl)
  requireText(undefined, meta)
  parseMetadata(meta)
  return { collection, key, lang, url, meta, ttl, mainContent }
}

/** What can be seen without the network. */
function checkDestination({ config }: LaneContext, url: string): void {
  try {
    checkUrl(url, policyOf(config))
  } catch (error) {
    if (!(error instanceof OutboundRefused)) throw error
    throw badRequest(`invalid url: ${error.message}`)
  }
}

function store(lane: LaneContext, input: InputOf<typeof storeRow>): Command | StoreFirst {
  const { collection, key, lang, page, charset, hasFrontmatter, meta, ttl } = input
  const contentMd = decodeText(page, { charset })
  const frontmatter = hasFrontmatter ? { frontmatter: readSimpleFrontmatter } : {}
  const rules = rulesOf(lane, collection)
  const document = prepareDocument(lane, { key, lang, contentMd, meta, ttl, rules, ...frontmatter, saveRevision: true, answered: true })
  return commandOf(lane, { kind: 'add', collection, document })
}

export const importUrlHandlers: readonly BoundHandler[] = [io(importRow, check), prepare(storeRow, store)]
