/**
 * `npm run bench -- NAME [ARG...]`, and the same of `loadtest` and `campaign`: builds what has changed, then
 * runs the program. Without a name it lists the names.
 * A program of `bench` or `loadtest` says in its header how it is run; the other files are its parts.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { projectRoot } from './lib/root.mjs'

/** Where the programs of a kind are, as sources, and as what is run. */
const KINDS = {
  bench: { folder: 'bench', source: (name) => `${name.replaceAll('-', '_')}.ts`, built: 'dist/bench' },
  loadtest: { folder: 'loadtest', source: (name) => `${name.replaceAll('-', '_')}.ts`, built: 'dist/loadtest' },
  campaign: { folder: 'scripts/campaigns', source: (name) => `${name}.mjs`, built: 'scripts/campaigns' },
}

const [kind, name, ...args] = process.argv.slice(2)
const { folder, source, built } = KINDS[kind]
/** The programs: name -> path below the folder of the kind. */
const programs = new Map(
  readdirSync(join(projectRoot, folder), { recursive: true })
    .map((path) => [
      basename(path)
        .replace(/\.\w+$/, '')
        .replaceAll('_', '-'),
      path,
    ])
    .filter(([each, path]) => basename(path) === source(each) && (kind === 'campaign' || isProgram(path, each))),
)
const names = [...programs.keys()].sort()

function isProgram(path, each) {
  const text = readFileSync(join(projectRoot, folder, path), 'utf8').replaceAll(/\s+(?:\* )?/g, ' ')
  return new RegExp(`npm run ${kind} -- ${each}(?![\\w-])`).test(text)
}

if (name === undefined || !names.includes(name)) {
  if (name !== undefined) console.error(`there is no ${kind} ${name}`)
  console.error(`npm run ${kind} -- NAME, one of:\n  ${names.join('\n  ')}`)
  process.exitCode = 2
} else {
  process.argv.splice(2, Infinity, join(projectRoot, built, programs.get(name).replace(/\.ts$/, '.js')), ...args)
  await import('./with-build.mjs')
}
