/** An operation as a request over HTTP: its input in path, query, JSON body or form. */
import type { FilesForm } from '../../../src/operations/row/http_form.js'
import type { Operation } from '../../../src/operations/row/operation.js'
import type { ReceivedFile } from '../../../src/operations/row/received_files.js'
import { encodedForm } from '../clients/upload_form.js'
import type { Fields } from './outcome.js'

export interface OperationRequest {
  readonly method: string
  readonly path: string
  readonly body: unknown
  readonly headers: Readonly<Record<string, string>>
}

export async function httpRequestOf({ http }: Operation, input: Fields, routeIndex = 0): Promise<OperationRequest> {
  const { method, path: pattern } = http?.routes[routeIndex] ?? { method: 'GET', path: '' }
  const path = pattern.replaceAll(/:(\w+)/g, (_, field: string) => encodeURIComponent(textOf(input[field])))
  if (http?.files !== undefined) return { method, path, ...(await formOf(http.files, input)) }
  if (method !== 'GET') return { method, path, body: input, headers: {} }
  const query = new URLSearchParams(Object.entries(input).map(([field, value]): [string, string] => [field, textOf(value)])).toString()
  return { method, path: query === '' ? path : `${path}?${query}`, body: undefined, headers: {} }
}

/** Every file comes as a part of the first name. */
function formOf({ parts: [part] }: FilesForm, { files, ...fields }: Fields): ReturnType<typeof encodedForm> {
  const texts = Object.entries(fields).filter(([, value]) => value !== null)
  return encodedForm([
    ...texts.map(([name, value]): [string, string] => [name, textOf(value)]),
    ...((files ?? []) as readonly ReceivedFile[]).map(({ name, content = '' }) => {
      return { name, content: Buffer.from(content, 'base64'), ...(part === undefined ? {} : { part }) }
    }),
  ])
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}
