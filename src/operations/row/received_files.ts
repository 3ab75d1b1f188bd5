/**
 * The files of a request: received by a surface into the data directory before the operation runs, or part of
 * the request. Pure data.
 */
import { Type } from './json_schema.js'

export interface ReceivedFile {
  /** As its client named it: never a path. */
  readonly name: string
  /** Length, which may be more than was kept. */
  readonly bytes: number
  /** Name of a file in the data directory, which the surface removes. */
  readonly spooled?: string
  /** The file itself, in base64. */
  readonly content?: string
}

/** The field of the input. Only surfaces fill it: no client can name a file of the server. */
export const receivedFiles = Type.Unsafe<readonly ReceivedFile[]>({
  type: 'array',
  description: 'The files, as they were received.',
  examples: [[{ name: 'note.md', bytes: 6, content: 'IyBOb3Rl' }]],
})

/** The name of the field. */
export const RECEIVED = 'files'
