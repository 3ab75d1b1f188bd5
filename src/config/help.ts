/** Text of `--help`, derived from the table of options. Pure; main thread. */
import type { Option } from './options/option.js'
import { OPTIONS } from './options/options.js'
import type { ListenAddress } from './options/values.js'
import { formatAddress } from './options/values.js'

export function wantsHelp(argv: readonly string[]): boolean {
  return argv.includes('--help') || argv.includes('-h')
}

export function wantsVersion(argv: readonly string[]): boolean {
  return argv.includes('--version')
}

export function helpText(): string {
  const rows = Object.values(OPTIONS).map((option) => {
    const { flag, variables, fallback, fallbackText, help, boolean } = option as Option<unknown>
    return {
      flag: boolean === true ? `--[no-]${flag}` : `--${flag} VALUE`,
      help: `${help}${formatFallback(fallbackText ?? fallback)}`,
      variables: variables.join(', '),
    }
  })
  const width = Math.max(...rows.map((row) => row.flag.length))
  const lines = rows.map((row) => `  ${row.flag.padEnd(width)}  ${row.help}\n  ${' '.repeat(width)}  ${row.variables}`)
  const file = `  ${'--config, -c FILE'.padEnd(width)}  YAML file with the same options\n  ${' '.repeat(width)}  SVC_CONFIG`
  return [
    'Usage: npm start -- [OPTIONS]',
    '',
    'A flag wins over its variable, a variable over the YAML file.',
    '',
    file,
    ...lines,
    '',
  ].join('\n')
}

function formatFallback(fallback: unknown): string {
  if (fallback === undefined || fallback === '') return ''
  if (typeof fallback === 'object' && fallback !== null && 'kind' in fallback)
    return ` (default ${formatAddress(fallback as ListenAddress)})`
  return ` (default ${Array.isArray(fallback) ? fallback.join(',') : JSON.stringify(fallback).replaceAll('"', '')})`
}
