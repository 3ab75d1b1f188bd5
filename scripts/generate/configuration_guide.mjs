/** The table of docs/guides/configuration.md, between its two markers, from the table of options. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { projectRoot } from '../lib/root.mjs'

const PATH = 'docs/guides/configuration.md'
const MARKERS = /(<!-- options: begin[^\n]*-->\n)[\s\S]*(<!-- options: end -->)/

export function configurationGuide({ OPTIONS, formatAddress }) {
  const rows = Object.values(OPTIONS).map((option) => row(option, formatAddress))
  const table = ['| flag | environment | YAML | default | meaning |', '|---|---|---|---|---|', ...rows].join('\n')
  const guide = readFileSync(join(projectRoot, PATH), 'utf8')
  if (!MARKERS.test(guide)) throw new Error(`${PATH} has lost its markers`)
  return { [PATH]: guide.replace(MARKERS, (_, begin, end) => `${begin}${table}\n${end}`) }
}

function formatDefault(value, formatAddress) {
  if (value === undefined || value === '') return ''
  if (Array.isArray(value)) return `\`${value.join(',')}\``
  return `\`${typeof value === 'object' ? formatAddress(value) : value}\``
}

function row({ flag, variables, yaml, fallback, fallbackText, help, boolean }, formatAddress) {
  const code = (names) => names.map((name) => `\`${name}\``).join(', ')
  const standard = formatDefault(fallbackText ?? fallback, formatAddress)
  return `| \`--${flag}\`${boolean ? `, \`--no-${flag}\`` : ''} | ${code(variables)} | ${code(yaml)} | ${standard} | ${help} |`
}
