#!/usr/bin/env node
/** Starts the compiled command line, or prints what to do if nothing is compiled yet. */
import { existsSync } from 'node:fs'

const main = new URL('../dist/bin/cli/main.js', import.meta.url)
if (!existsSync(main)) {
  process.stderr.write('mds: not built yet; run `npm start` once, or `node scripts/setup.mjs`\n')
  process.exit(1)
}
const { runCli } = await import(main.href)
await runCli(process.argv.slice(2))
