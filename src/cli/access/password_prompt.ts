/**
 * Passwords come from a variable, else from lines of standard input, else from the terminal, which does not
 * show them. They are never arguments, because every process on the machine can read those.
 */
import { createInterface } from 'node:readline'
import { Writable } from 'node:stream'
import { KIB } from '../../limits/units.js'
import { CommandError } from '../terminal.js'

/** Bytes of standard input that contains passwords: two lines of at most 72 bytes, and space. */
const PASSWORD_INPUT_BYTES_MAX = 4 * KIB

export type AskPassword = (question: string, variable: 'MDS_PASSWORD' | 'MDS_NEW_PASSWORD') => Promise<string>

/** Each question that a variable does not answer takes the next line of standard input. */
export function passwordSource(env: NodeJS.ProcessEnv): AskPassword {
  let lines: string[] | undefined
  return async (question, variable) => {
    const given = env[variable] || (process.stdin.isTTY ? await askTwiceIfNew(question, variable) : (lines ??= await readLines()).shift())
    if (!given) throw new CommandError(`a password is needed: from the terminal, a line of standard input, or ${variable}`)
    return given
  }
}

/** A slip in a new password would lock its user out. */
async function askTwiceIfNew(question: string, variable: string): Promise<string> {
  const first = await askHidden(`${question}: `)
  if (variable === 'MDS_NEW_PASSWORD' && (await askHidden(`${question}, again: `)) !== first)
    throw new CommandError('the two passwords differ')
  return first
}

/** The terminal is in raw mode meanwhile, and what readline would show goes nowhere. */
async function askHidden(question: string): Promise<string> {
  process.stderr.write(question)
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() })
  const terminal = createInterface({ input: process.stdin, output: nowhere, terminal: true, historySize: 0 })
  try {
    return await new Promise((resolve, reject) => {
      terminal.once('SIGINT', () => reject(new CommandError('cancelled')))
      terminal.once('close', () => reject(new CommandError('cancelled')))
      terminal.question('', resolve)
    })
  } finally {
    terminal.close()
    process.stderr.write('\n')
  }
}

async function readLines(): Promise<string[]> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of process.stdin as AsyncIterable<Buffer>) {
    bytes += chunk.length
    if (bytes > PASSWORD_INPUT_BYTES_MAX)
      throw new CommandError(`standard input is larger than ${PASSWORD_INPUT_BYTES_MAX} bytes: no password`)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8').split(/\r?\n/)
}
