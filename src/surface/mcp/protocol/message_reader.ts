/**
 * Reads the text of a message: UTF-8, and JSON within the bounds of what the parser may build, which native
 * code has counted before. One object a thread.
 */
import { isUtf8 } from 'node:buffer'
import type { JsonScan } from '../../../wire/json_bounds.js'
import { PARSE_ERROR, type Refusal, refusal } from './codes.js'

export class MessageReader {
  readonly #scan: JsonScan

  constructor(scan: JsonScan) {
    this.#scan = scan
  }

  read(text: Buffer): { readonly value: unknown } | Refusal {
    if (!isUtf8(text)) return refusal(400, PARSE_ERROR, 'Parse error: the text is not UTF-8')
    const verdict = this.#scan(text)
    if (verdict !== 'good' && verdict !== 'invalid') return refusal(400, PARSE_ERROR, `Parse error: the JSON has too many ${verdict}`)
    try {
      return { value: JSON.parse(text.toString('utf8')) as unknown }
    } catch {
      return refusal(400, PARSE_ERROR, 'Parse error: the text is not JSON')
    }
  }
}
