/**
 * Builds the package of clients/typescript: `dist/esm` and `dist/cjs`, each one bundled file and its
 * declarations. `--out FOLDER` writes a package that can be used as it is there, with what npm would publish.
 * Prints the size of the ESM file, minified and compressed, which is what a web page loads.
 */
import { execFileSync } from 'node:child_process'
import { cpSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { build } from 'esbuild'
import { projectRoot } from './lib/root.mjs'

const source = join(projectRoot, 'clients', 'typescript')
const at = process.argv.indexOf('--out')
const out = at < 0 ? source : process.argv[at + 1]
if (out === undefined) throw new Error('usage: build-client.mjs [--out FOLDER]')

const options = {
  entryPoints: [join(source, 'src', 'index.ts')],
  bundle: true,
  // No module of a platform can be imported.
  platform: 'neutral',
  target: 'es2022',
  logLevel: 'warning',
}

const dist = join(out, 'dist')
rmSync(dist, { recursive: true, force: true })
for (const format of ['esm', 'cjs']) {
  const folder = join(dist, format)
  await build({ ...options, format, outfile: join(folder, 'index.js') })
  const compiler = join(projectRoot, 'node_modules', 'typescript', 'bin', 'tsc')
  if (format === 'esm') execFileSync(process.execPath, [compiler, '-p', source, '--outDir', folder], { stdio: 'inherit' })
  else {
    cpSync(join(dist, 'esm'), folder, { recursive: true, filter: (path) => !path.endsWith('.js') })
    writeFileSync(join(folder, 'package.json'), '{"type":"commonjs"}\n')
  }
}
if (out !== source) {
  mkdirSync(out, { recursive: true })
  for (const file of ['package.json', 'README.md', 'LICENSE']) cpSync(join(source, file), join(out, file))
}

const { outputFiles } = await build({ ...options, format: 'esm', minify: true, write: false })
console.log(`client: ${gzipSync(outputFiles[0].contents, { level: 9 }).length} bytes minified and compressed`)
