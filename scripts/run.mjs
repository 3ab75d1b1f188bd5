/**
 * `npm run bench -- NAME [ARG...]`, and the same of `loadtest` and `campaign`: builds what has changed, then
 * runs the program. Without a name it lists the names.
 * A program of `bench` or `loadtest` says in its header how it is run; the other files are its parts.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { projectRoot } from './lib/root.mjs'

/** Where the programs of a kind are, as sources, and as what is run. */
const KINDS = {
  bench: { folder: 'bench', source: (name) => `${name.replaceAll('-', '_')}.ts`, built: 'dist/bench' },
  loadtest: { folder: 'loadtest', source: (name) => `${name.replaceAll('-', '_')}.ts`, built: 'dist/loadtest' },
  campaign: { folder: 'scripts', source: (name) => `campaign-${name}.mjs`, built: 'scripts' },
}

const [kind, name, ...args] = process.argv.slice(2)
const { folder, source, built } = KINDS[kind]
const names = readdirSync(join(projectRoot, folder))
  .map((file) => ({ file, name: file.replace(/^campaign-|\.\w+$/g, '').replaceAll('_', '-') }))
  .filter(({ file, name: each }) => file === source(each) && (kind === 'campaign' || isProgram(file, each)))
  .map(({ name: each }) => each)

function isProgram(file, each) {
  const text = readFileSync(join(projectRoot, folder, file), 'utf8').replaceAll(/\s+(?:\* )?/g, ' ')
  return new RegExp(`npm run ${kind} -- ${each}(?![\\w-])`).test(text)
}

if (name === undefined || !names.includes(name)) {
  if (name !== undefined) console.error(`there is no ${kind} ${name}`)
  console.error(`npm run ${kind} -- NAME, one of:\n  ${names.join('\n  ')}`)
  process.exitCode = 2
} else {
  process.argv.splice(2, Infinity, join(projectRoot, built, source(name).replace(/\.ts$/, '.js')), ...args)
  await import('./with-build.mjs')
}
