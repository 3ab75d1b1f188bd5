/** The errors of reading a dump of a wiki, each with where it was met. Pure data. */

/**
 * - `not-a-dump`: another kind of XML, or none;
 * - `malformed`: XML or text that is not well-formed, or cut off;
 * - `compression`: a compressed file that is damaged or cut off;
 * - `too-many-bytes`: more bytes, decompressed, than the caller permits;
 * - `too-large`: a part without an end.
 */
export const DUMP_FAULTS = ['not-a-dump', 'malformed', 'compression', 'too-many-bytes', 'too-large'] as const
export type DumpFault = (typeof DUMP_FAULTS)[number]

/** Pages before the fault were given. */
export class DumpError extends Error {
  readonly fault: DumpFault

  constructor(fault: DumpFault, message: string) {
    super(message)
    this.fault = fault
  }
}
