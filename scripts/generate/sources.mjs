/** What the generators read: the rows of the operations and the table of options, bundled from `src`. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { build } from 'esbuild'
import { withChanges } from '../lib/bundle.mjs'
import { projectRoot } from '../lib/root.mjs'

const ENTRY = `
export { laneOperations, operations } from './src/operations/index.ts'
export { factsOf } from './src/operations/row/json_schema.ts'
export { OPTIONS } from './src/config/options/options.ts'
export { formatAddress } from './src/config/options/values.ts'
export { CONTRACT } from './src/surface/graphql/contract.ts'
`

/** @param changed sources that replace those on disk: path below the root -> text */
export async function readSources(changed) {
  const folder = mkdtempSync(join(tmpdir(), 'mds-generate-'))
  try {
    const outfile = join(folder, 'sources.mjs')
    const stdin = { contents: ENTRY, resolveDir: projectRoot, loader: 'ts' }
    const plugins = [withChanges(projectRoot, changed)]
    await build({ stdin, outfile, bundle: true, format: 'esm', platform: 'node', preserveSymlinks: true, logLevel: 'warning', plugins })
    return await import(pathToFileURL(outfile).href)
  } finally {
    rmSync(folder, { recursive: true })
  }
}
