/** Forms with files, as browsers and curl send them. */
import type { TestResponse } from '../server/server.js'

export interface FormFile {
  readonly name: string
  readonly content: string | Uint8Array
  /** Name of the part. Default: `file`. */
  readonly part?: string
}

export type FormParts = readonly (FormFile | readonly [name: string, value: string])[]

export interface EncodedForm {
  readonly body: Uint8Array
  readonly headers: Readonly<Record<string, string>>
}

/** @param parts in their order */
export async function encodedForm(parts: FormParts): Promise<EncodedForm> {
  const form = new FormData()
  for (const part of parts) {
    if (!('content' in part)) form.append(part[0], part[1])
    else form.append(part.part ?? 'file', new Blob([new Uint8Array(Buffer.from(part.content))]), part.name)
  }
  const request = new Request('http://localhost', { method: 'POST', body: form })
  return { body: new Uint8Array(await request.arrayBuffer()), headers: { 'content-type': request.headers.get('content-type') ?? '' } }
}

type Post = (path: string, body: unknown, headers: Readonly<Record<string, string>>) => Promise<TestResponse>

export async function upload(
  server: { readonly post: Post },
  parts: FormParts,
  headers: Readonly<Record<string, string>> = {},
): Promise<TestResponse> {
  const form = await encodedForm(parts)
  return server.post('/v1/upload', form.body, { ...form.headers, ...headers })
}
