/**
 * Question: which scores does Lucene compute for the small collection of the golden tests? Writes
 * test/golden/scores/lucene.json, which the tests read. Run it after a change of collection.json or
 * scores.json.
 * Run: npm run bench -- golden-scores
 */
import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import path from 'node:path'
import { PROJECT_ROOT } from '../../test/fault/shim/shim_build.js'
import { lucenePeerClassPath } from '../peers/peers.js'

const folder = path.join(PROJECT_ROOT, 'test/golden/scores')
const classPath = lucenePeerClassPath()
if (classPath === null) process.exit(1)
const scores = execFileSync('java', [
  '-cp',
  classPath,
  'GoldenScores',
  path.join(folder, 'collection.json'),
  path.join(folder, 'scores.json'),
])
writeFileSync(path.join(folder, 'lucene.json'), scores)
