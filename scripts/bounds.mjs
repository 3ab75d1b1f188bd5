/**
 * `npm run -s bounds [-- WORD]`: the catalogue of the bounds of the server, by folder: name, value, reason
 * and place. With a word, only those whose name, path or reason contains it.
 */
import { dirname } from 'node:path'
import { boundsOf } from './lib/bounds.mjs'
import { projectRoot } from './lib/root.mjs'

const word = process.argv[2]?.toLowerCase() ?? ''
const shown = boundsOf(projectRoot).filter(({ name, path, comment }) => `${name} ${path} ${comment}`.toLowerCase().includes(word))
let folder
for (const { path, line, name, value, comment } of shown) {
  if (dirname(path) !== folder) {
    folder = dirname(path)
    console.log(`\nsrc/${folder}`)
  }
  console.log(`  ${name} = ${value}  (${path.slice(folder.length + 1)}:${line})\n      ${comment}`)
}
console.log(`\n${shown.length} bounds`)
