/** What a start prints: warnings, where the server listens, and first requests to try. Main thread, at start. The `ready` line is what scripts wait for. */
import type { Config } from './config.js'
import { isExposed } from './dispatch/loop_answers.js'

export function printWarnings(config: Config): void {
  for (const warning of config.warnings) console.warn(`warning: ${warning}`)
  if (!isExposed(config)) return
  console.warn('warning: ************************************************************************')
  console.warn('warning: access control is off and the server listens beyond this machine:')
  console.warn('warning: whoever reaches the port reads and writes everything.')
  console.warn('warning: To keep it to this machine: --http-addr 127.0.0.1:11023')
  console.warn('warning: ************************************************************************')
}

export function printListening(address: string): void {
  console.log(`listening on ${address}; opening the store`)
}

export function printReady(address: string, startMs: number): void {
  console.log(`ready on ${address} after ${startMs} ms. Try:`)
  const { option, base } = curlTarget(address)
  const add = JSON.stringify({ collection: 'notes', key: 'first', lang: 'en', contentMd: '# Hello\n\nMarkdown, versioned and searchable.' })
  console.log(`  curl ${option}-X POST ${base}/v1/add -d '${add}'`)
  console.log(`  curl ${option}-X POST ${base}/v1/fts -d '${JSON.stringify({ collection: 'notes', query: 'searchable' })}'`)
  console.log(`  API reference: ${base}/docs`)
}

function curlTarget(address: string): { readonly option: string; readonly base: string } {
  if (address.startsWith('unix:')) return { option: `--unix-socket ${address.slice('unix:'.length)} `, base: 'http://localhost' }
  return { option: '', base: `http://${address.startsWith(':') ? `127.0.0.1${address}` : address}` }
}
