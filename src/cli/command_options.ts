/** What several commands share: the address of the server, numbers, the output of an answer. */
import { type Command, InvalidArgumentError } from 'commander'
import { withCertificates } from './certificates.js'
import { say } from './terminal.js'

export const DEFAULT_URL = 'http://127.0.0.1:11023'

export function withUrl(command: Command): Command {
  const withAddress = command.option('-u, --url <url>', 'address of the server', httpUrl, process.env.MDS_URL ?? DEFAULT_URL)
  return withCertificates(withAddress, process.env)
}

export function print(answer: unknown, asJson: boolean, format: (answer: unknown) => string): void {
  say(asJson ? `${JSON.stringify(answer, null, 2)}\n` : format(answer))
}

function httpUrl(text: string): string {
  if (!URL.canParse(text) || !/^https?:$/.test(new URL(text).protocol))
    throw new InvalidArgumentError('an http:// or https:// address is needed')
  return text
}

export function wholeNumber(min: number, max: number): (text: string) => number {
  return (text) => {
    const value = Number(text)
    if (!/^\d+$/.test(text) || value < min || value > max) throw new InvalidArgumentError(`a whole number from ${min} to ${max} is needed`)
    return value
  }
}

/** Whole numbers from 0, separated by commas. */
export function wholeNumbers(max: number): (text: string) => number[] {
  return (text) => text.split(',').map((part) => wholeNumber(0, max)(part.trim()))
}
