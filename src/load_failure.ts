/**
 * Whether a start failed because code can't be loaded: a package or a binary is missing, or is made for
 * another Node or another system. Another attempt fails in the same way.
 */

const CODES: readonly unknown[] = ['MODULE_NOT_FOUND', 'ERR_MODULE_NOT_FOUND', 'ERR_DLOPEN_FAILED']
/** dlopen has one code for everything. These pass with the load of the machine. */
const PASSING = /Too many open files|Cannot allocate memory|failed to map segment|Input\/output error/

/** @returns the reason in one line; undefined for any other error */
export function loadFailure(error: unknown): string | undefined {
  if (!(error instanceof Error) || !('code' in error)) return undefined
  const { code, message } = error
  if (!CODES.includes(code) || PASSING.test(message)) return undefined
  return message.split('\n', 1)[0]
}
