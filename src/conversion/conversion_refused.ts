/** Why a file was not converted. Pure; any thread. */

/**
 * - `failed`: the file can't be read as what it claims to be, or its converter died of it.
 * - `tooLong`, `tooMuchMemory`: the bound of time or of memory was reached.
 * - `tooLarge`: the file or its text is above a bound, which the message names.
 * - `busy`: too many others wait.
 */
export type RefusalReason = 'failed' | 'tooLong' | 'tooMuchMemory' | 'tooLarge' | 'busy'

export class ConversionRefused extends Error {
  readonly reason: RefusalReason

  constructor(reason: RefusalReason, message: string) {
    super(message)
    this.reason = reason
  }
}
