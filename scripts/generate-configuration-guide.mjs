/**
 * Writes the table of docs/guides/configuration.md, between its two markers, from the table of options
 * (src/config/options.ts).
 * Usage: node scripts/generate-configuration-guide.mjs [--check].
 * With --check it only compares, and exits with 1 if the guide is stale. Needs a compiled checkout.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { OPTIONS } from '../dist/src/config/options.js'
import { formatAddress } from '../dist/src/config/values.js'
import { projectRoot } from './lib/root.mjs'

const guide = join(projectRoot, 'docs', 'guides', 'configuration.md')
const MARKERS = /(<!-- options: begin[^\n]*-->\n)[\s\S]*(<!-- options: end -->)/

function formatDefault(value) {
  if (value === undefined || value === '') return ''
  if (Array.isArray(value)) return `\`${value.join(',')}\``
  return `\`${typeof value === 'object' ? formatAddress(value) : value}\``
}

function row({ flag, variables, yaml, fallback, fallbackText, help, boolean }) {
  const code = (names) => names.map((name) => `\`${name}\``).join(', ')
  return `| \`--${flag}\`${boolean ? `, \`--no-${flag}\`` : ''} | ${code(variables)} | ${code(yaml)} | ${formatDefault(fallbackText ?? fallback)} | ${help} |`
}

const rows = Object.values(OPTIONS).map(row)
const table = ['| flag | environment | YAML | default | meaning |', '|---|---|---|---|---|', ...rows].join('\n')
const current = readFileSync(guide, 'utf8')
const wanted = current.replace(MARKERS, (_, begin, end) => `${begin}${table}\n${end}`)
if (!process.argv.includes('--check')) writeFileSync(guide, wanted)
else if (current !== wanted) {
  console.error('docs/guides/configuration.md is not what scripts/generate-configuration-guide.mjs writes: run it')
  process.exitCode = 1
}
