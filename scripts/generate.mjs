/**
 * Writes every file that is derived from the rows of `src/operations`, from the table of options and from
 * other tables of the sources. Committed; `test/unit/project/generated.test.ts` compares.
 * Usage: npm run generate [-- --check]. With --check it writes nothing, and exits with 1 if a file is stale.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { generatedFiles } from './generate/all.mjs'
import { projectRoot } from './lib/root.mjs'

const stale = Object.entries(await generatedFiles()).filter(([path, wanted]) => {
  const file = join(projectRoot, path)
  return !existsSync(file) || !readFileSync(file).equals(Buffer.from(wanted))
})
if (!process.argv.includes('--check')) for (const [path, wanted] of stale) writeFileSync(join(projectRoot, path), wanted)
else if (stale.length > 0) {
  console.error(`stale: ${stale.map(([path]) => path).join(', ')}\nnpm run generate writes them`)
  process.exitCode = 1
}
