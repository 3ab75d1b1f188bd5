/** Every generated file. */
import { typescriptClient } from './client.mjs'
import { configurationGuide } from './configuration_guide.mjs'
import { graphqlAdditions } from './graphql.mjs'
import { operationsList } from './operations_list.mjs'
import { operationsPage } from './operations_page.mjs'
import { proto } from './proto.mjs'
import { readSources } from './sources.mjs'
import { stopWords } from './stop_words.mjs'

/** Each gives its files: path below the root -> text or bytes. */
const GENERATORS = [proto, graphqlAdditions, typescriptClient, operationsPage, operationsList, configurationGuide, stopWords]

/** @param changed sources that replace those on disk: path below the root -> text */
export async function generatedFiles(changed = new Map()) {
  const sources = await readSources(changed)
  return Object.assign({}, ...(await Promise.all(GENERATORS.map((generate) => generate(sources)))))
}
