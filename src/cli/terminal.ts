/**
 * What the commands say to people, on a terminal or not: everything but the content of documents and streams
 * for programs. Escaped, because names and texts that a server sends are data. JSON stays the same JSON.
 */
import { printableLines } from '../base/printable.js'

/** Ends a command. Its text, in one line, is what the user reads on standard error. */
export class CommandError extends Error {}

export function say(text: string): void {
  process.stdout.write(printableLines(text))
}

/** On standard error. */
export function sayError(text: string): void {
  process.stderr.write(printableLines(text))
}
