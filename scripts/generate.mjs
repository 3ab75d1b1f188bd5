/**
 * Writes every file that is derived from the rows of `src/operations`, from the table of options and from
 * other tables of the sources. Committed; `test/unit/generated.test.ts` compares.
 * Usage: npm run generate [-- --check]. With --check it writes nothing, and exits with 1 if a file is stale.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { typescriptClient } from './generate/client.mjs'
import { configurationGuide } from './generate/configuration_guide.mjs'
import { graphqlAdditions } from './generate/graphql.mjs'
import { operationsPage } from './generate/operations_page.mjs'
import { proto } from './generate/proto.mjs'
import { readSources } from './generate/sources.mjs'
import { stopWords } from './generate/stop_words.mjs'
import { projectRoot } from './lib/root.mjs'

/** Each gives its files: path below the root -> text or bytes. */
const GENERATORS = [proto, graphqlAdditions, typescriptClient, operationsPage, configurationGuide, stopWords]

const sources = await readSources()
const files = Object.assign({}, ...(await Promise.all(GENERATORS.map((generate) => generate(sources)))))
const stale = Object.entries(files).filter(([path, wanted]) => {
  const file = join(projectRoot, path)
  return !existsSync(file) || !readFileSync(file).equals(Buffer.from(wanted))
})
if (!process.argv.includes('--check')) for (const [path, wanted] of stale) writeFileSync(join(projectRoot, path), wanted)
else if (stale.length > 0) {
  console.error(`stale: ${stale.map(([path]) => path).join(', ')}\nnpm run generate writes them`)
  process.exitCode = 1
}
