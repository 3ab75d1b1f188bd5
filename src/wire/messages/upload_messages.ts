/** An upload, from the lane that has checked it to the front end that converts its files. Pure types. */
import type { FileFormat } from '../../conversion/formats.js'

/** Flags of the documents of an upload, with those of its profile. */
export interface UploadFlags {
  readonly skipDuplicates: boolean
  readonly skipEmbeddings: boolean
  readonly skipFts: boolean
  readonly skipWebhooks: boolean
  readonly saveRevision: boolean
  readonly textOnly: boolean
}

export interface UploadedFile {
  /** As its client named it: never a path. */
  readonly name: string
  readonly key: string
  readonly format: FileFormat
  /** Name of a file in the data directory that the surface has received and removes. */
  readonly spooled?: string
  /** The bytes themselves. */
  readonly content?: Uint8Array
}

export interface RefusedFile {
  readonly name: string
  readonly code: 'invalid' | 'fileTooLarge' | 'unsupportedFormat'
  readonly text: string
}

export interface Upload {
  readonly collection: string
  readonly lang: string
  /** Checked. */
  readonly meta: Readonly<Record<string, readonly string[]>>
  readonly ttl: number
  /** Null: the request named none. */
  readonly profile: string | null
  readonly flags: UploadFlags
  /** At least one. */
  readonly files: readonly (UploadedFile | RefusedFile)[]
}
