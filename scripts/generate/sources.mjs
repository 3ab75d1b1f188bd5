/** What the generators read: the rows of the operations and the table of options, bundled from `src`. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { build } from 'esbuild'
import { projectRoot } from '../lib/root.mjs'

const ENTRY = `
export { laneOperations, operations } from './src/operations/index.ts'
export { factsOf } from './src/operations/json_schema.ts'
export { OPTIONS } from './src/config/options.ts'
export { formatAddress } from './src/config/values.ts'
export { CONTRACT } from './src/surface/graphql/schema.ts'
`

export async function readSources() {
  const folder = mkdtempSync(join(tmpdir(), 'mds-generate-'))
  try {
    const outfile = join(folder, 'sources.mjs')
    const stdin = { contents: ENTRY, resolveDir: projectRoot, loader: 'ts' }
    await build({ stdin, outfile, bundle: true, format: 'esm', platform: 'node', logLevel: 'warning' })
    return await import(pathToFileURL(outfile).href)
  } finally {
    rmSync(folder, { recursive: true })
  }
}
