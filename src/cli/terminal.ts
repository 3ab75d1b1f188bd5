/**
 * What the commands say to people, on a terminal or not: everything but the content of documents and streams
 * for programs. Escaped, because names and texts that a server sends are data. JSON stays the same JSON.
 */
import { printableLines } from '../base/printable.js'

/** The reason why a command failed, in one line. */
export class CommandError extends Error {}

export function say(text: string): void {
  process.stdout.write(printableLines(text))
}

/** On standard error. */
export function sayError(text: string): void {
  process.stderr.write(printableLines(text))
}
