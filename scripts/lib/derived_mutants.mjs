/**
 * Mutations that follow from rows of the coverage, so that nobody writes them: the text of a row names a
 * request field, an answer field, a route, a variable or a metric, and the mutation takes it away. A row with
 * an entry in test/mutants has that one instead.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** How the text of a row becomes an entry, by kind of the row. */
const DERIVED = {
  'request field': [/^([A-Z]+ \/\S+): request field ([^\s:]+)(?::.*)?$/, ([, input, field]) => ({ input, field })],
  'response field': [/^([A-Z]+ \/\S+): response field (\S+)$/, ([, answer, field]) => ({ answer, field })],
  endpoint: [/^([A-Z]+ \/\S+)$/, ([, route]) => ({ route })],
  variable: [/^(SVC_[A-Z0-9_]+)\b/, ([, option]) => ({ option })],
  metric: [/^metric (\w+)$/, ([, metric]) => ({ metric })],
}

/** Options are declared in tables; variables that are read elsewhere have entries of their own. */
function optionTables(root) {
  const folder = join(root, 'src/config/options')
  const names = existsSync(folder) ? readdirSync(folder).filter((name) => name.endsWith('options.ts')) : []
  return names.map((name) => readFileSync(join(folder, name), 'utf8')).join('')
}

/**
 * @param rows of the coverage
 * @param entries written by hand
 */
export function derivedMutants(root, rows, entries) {
  const options = optionTables(root)
  const written = new Set(entries.map(({ row }) => row))
  return rows.flatMap(({ id, kind, text, proof }) => {
    const [pattern, entryOf] = DERIVED[kind] ?? [/$^/]
    const match = typeof proof.test === 'string' && !written.has(id) ? pattern.exec(text) : null
    if (match === null || (kind === 'variable' && !options.includes(`'${match[1]}'`))) return []
    return [{ row: id, ...entryOf(match), list: 'derived' }]
  })
}
