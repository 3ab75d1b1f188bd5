/**
 * The log of the process. Each event is one line, written synchronously by its thread, so that the last lines
 * of a dying lane are not lost. Lines are text (`time level message field=value: reason`), or JSON formatted
 * by pino, which a thread loads with its first JSON line: a start with text saves these 14 ms. Level and
 * switches are in memory shared by all threads, so that SIGHUP changes them everywhere.
 *
 * Fields are a closed list without contents, bodies, headers or credentials. Control characters are escaped,
 * so that a value can neither end a line nor control a terminal. Decision:
 * docs/decisions/operation/observation.md.
 */
import { writeSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { Logger } from 'pino'
import { printable } from '../base/printable.js'

/** Characters of one string in a log line. A stack of 10 frames has 1 000. */
export const LOG_TEXT_CHARS_MAX = 4096
/** How long a log line waits for a slow reader of the log. A longer wait would delay requests. */
const LOG_WAIT_MS_MAX = 50

export const LOG_FORMATS = ['text', 'json'] as const
export type LogFormat = (typeof LOG_FORMATS)[number]
/** In ascending order of severity. */
export const LOG_LEVELS = ['debug', 'info', 'warn', 'error'] as const
export type LogLevel = (typeof LOG_LEVELS)[number]

interface LogSettings {
  readonly logFormat: LogFormat
  readonly logLevel: LogLevel
  /** Log a line for each request. */
  readonly accessLog: boolean
  /** Log a line for each request that takes longer. 0: off. */
  readonly logSlowMs: number
}

/** All field names that a line may contain besides its message. */
type FieldName =
  | 'action' | 'address' | 'backup' | 'bytes' | 'chore' | 'collection' | 'consumer' | 'documents' | 'entries' | 'free' | 'from' | 'job' | 'kept' | 'lane' | 'method' | 'ms' | 'operation' | 'path' | 'peer' | 'phase' | 'pid' | 'requestId' | 'restarts' | 'setting' | 'signal' | 'status' | 'to'
  | 'version' | 'expires' // prettier-ignore

export interface LogFields extends Partial<Readonly<Record<FieldName, string | number | bigint | boolean>>> {
  /** The cause: an error or its text. The last part of a text line. */
  readonly reason?: unknown
  /** An internal error, logged with its stack. */
  readonly fault?: unknown
}

const LEVEL_WORD = 0
const FORMAT_WORD = 1
const ACCESS_WORD = 2
const SLOW_WORD = 3
const CLOCK_WORD = 4
const STDERR_WORD = 5
const WORDS = 6

let words = new Int32Array(new SharedArrayBuffer(WORDS * Int32Array.BYTES_PER_ELEMENT))
words[LEVEL_WORD] = LOG_LEVELS.indexOf('info')
let thread = 'main'
let pino: Logger | undefined
let untaken = 0
/** The last write ended inside a line. */
let isCut = false

export const log = {
  debug: (message: string, fields?: LogFields): void => write('debug', message, fields),
  info: (message: string, fields?: LogFields): void => write('info', message, fields),
  warn: (message: string, fields?: LogFields): void => write('warn', message, fields),
  error: (message: string, fields?: LogFields): void => write('error', message, fields),
}

/** The shared memory, which other threads pass to `joinLog`. */
export function logMemory(): SharedArrayBuffer {
  return words.buffer
}

/**
 * Makes this thread use the shared settings.
 * @param name marks the thread's JSON lines
 */
export function joinLog(memory: SharedArrayBuffer, name: string): void {
  words = new Int32Array(memory)
  thread = name
}

/** Applies to all threads that share the memory, from their next line on. */
export function setLog({ logFormat, logLevel, accessLog, logSlowMs }: LogSettings): void {
  Atomics.store(words, LEVEL_WORD, LOG_LEVELS.indexOf(logLevel))
  Atomics.store(words, FORMAT_WORD, LOG_FORMATS.indexOf(logFormat))
  Atomics.store(words, ACCESS_WORD, accessLog ? 1 : 0)
  Atomics.store(words, SLOW_WORD, logSlowMs)
}

/** Standard output is for a protocol: everything is logged to standard error, by all threads. */
export function logToStderr(): void {
  Atomics.store(words, STDERR_WORD, 1)
}

/** Warnings and errors go to standard error. */
function streamOf(level: LogLevel): 1 | 2 {
  return level === 'warn' || level === 'error' || Atomics.load(words, STDERR_WORD) !== 0 ? 2 : 1
}

/**
 * Every thread detects a wrong clock with every request, but one line is enough.
 * @returns true for the first caller of the process
 */
export function claimClockNote(): boolean {
  return Atomics.exchange(words, CLOCK_WORD, 1) === 0
}

/** Whether lines of this level are logged. */
export function logs(level: LogLevel): boolean {
  return LOG_LEVELS.indexOf(level) >= Atomics.load(words, LEVEL_WORD)
}

export function logsJson(): boolean {
  return Atomics.load(words, FORMAT_WORD) === LOG_FORMATS.indexOf('json')
}

export function logsAccess(): boolean {
  return Atomics.load(words, ACCESS_WORD) !== 0
}

/** Milliseconds above which a request counts as slow. 0: off. */
export function slowMs(): number {
  return Atomics.load(words, SLOW_WORD)
}

function write(level: LogLevel, message: string, fields: LogFields = {}): void {
  if (!logs(level)) return
  const stream = streamOf(level)
  if (logsJson()) {
    pino ??= createJsonLog()
    target = stream
    pino[level]({ thread, ...plainFields(fields) }, shown(message))
  } else {
    send(stream, textLine(level, message, fields))
  }
}

let target: 1 | 2 = 1

/** Loaded with `require`, as in store/rows/packages.ts. */
function createJsonLog(): Logger {
  const create = createRequire(import.meta.url)('pino') as typeof import('pino').pino
  return create(
    {
      base: null,
      level: 'debug',
      timestamp: () => `,"time":"${new Date().toISOString()}"`,
      formatters: { level: (label) => ({ level: label }) },
    },
    { write: (line: string) => send(target, `${printable(line.trimEnd())}\n`) },
  )
}

/** @returns one line, including its line end */
export function textLine(level: LogLevel, message: string, fields: LogFields): string {
  const { reason, ...rest } = plainFields(fields)
  const pairs = Object.entries(rest).map(([name, value]) => ` ${name}=${typeof value === 'string' ? quoted(value) : String(value)}`)
  const why = reason === undefined ? '' : `: ${String(reason)}`
  return `${new Date().toISOString()} ${level} ${printable(shown(message))}${printable(pairs.join(''))}${printable(why)}\n`
}

type PlainFields = Record<string, string | number | boolean>

function plainFields({ reason, fault, ...fields }: LogFields): PlainFields {
  const plain: PlainFields = {}
  for (const [name, value] of Object.entries(fields)) {
    if (value !== undefined) plain[name] = typeof value === 'string' ? shown(value) : typeof value === 'bigint' ? String(value) : value
  }
  if (reason !== undefined) plain.reason = reasonOf(reason)
  else if (fault !== undefined) plain.reason = reasonOf(fault)
  if (fault instanceof Error) plain.stack = stackOf(fault)
  return plain
}

function reasonOf(reason: unknown): string {
  return shown(wordsOf(reason))
}

/** Returns the text of an error, including the texts of its causes. */
function wordsOf(reason: unknown, depth = 0): string {
  if (!(reason instanceof Error)) return String(reason)
  return reason.cause === undefined || depth > 3 ? reason.message : `${reason.message}: ${wordsOf(reason.cause, depth + 1)}`
}

/** Only the stack frames: the text before them is already in the reason. */
function stackOf({ stack = '' }: Error): string {
  const frames = stack.split('\n').filter((line) => /^\s+at /.test(line))
  return shown(frames.map((line) => line.trim()).join(' < '))
}

/**
 * Truncates the text, and removes quotations of bodies and credentials that error texts may contain. V8
 * quotes part of the text that it could not parse, and clients quote the URL with its credentials.
 */
function shown(text: string): string {
  const bounded = text.length > LOG_TEXT_CHARS_MAX ? `${text.slice(0, LOG_TEXT_CHARS_MAX)}...` : text
  return (
    bounded
      .replace(/(?:\.\.\.)?".*"(?:\.\.\.)? is not valid JSON/s, 'it is not valid JSON')
      // Up to the last @ before the path, because a password may contain one.
      .replace(/\b([a-z][a-z0-9+.-]*:\/\/)[^\s/?#]*@/gi, '$1***@')
      .replace(/\b(Bearer|Basic)\s+[\w.~+/=-]+/gi, '$1 ***')
  )
}

function quoted(value: string): string {
  return /^[^\s"=]+$/.test(value) ? value : JSON.stringify(value)
}

/**
 * Prints lines that are not events, such as the text output of a start. As with the log, a closed stream does
 * not end the process.
 */
export function print(level: 'info' | 'warn', lines: readonly string[]): void {
  send(streamOf(level), lines.map((line) => `${line}\n`).join(''))
}

/**
 * Waits briefly for a slow reader, then drops the line and counts it. While lines are being dropped, there is
 * no wait: a log without a reader must not slow down the service.
 */
function send(stream: 1 | 2, line: string): void {
  let bytes = Buffer.from(untaken === 0 ? line : `${isCut ? '\n' : ''}${lostLine(untaken)}${line}`)
  const givenUpAt = performance.now() + (untaken === 0 ? LOG_WAIT_MS_MAX : 0)
  while (bytes.length > 0) {
    try {
      const written = writeSync(stream, bytes)
      bytes = bytes.subarray(written)
      isCut = bytes.length > 0
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException
      if (code === 'EAGAIN' && performance.now() < givenUpAt) {
        Atomics.wait(PAUSE, 0, 0, 1)
        continue
      }
      untaken += 1
      return
    }
  }
  untaken = 0
}

function lostLine(lines: number): string {
  const message = `${lines} lines were lost: the reader of the log was behind`
  return logsJson()
    ? `${JSON.stringify({ level: 'warn', time: new Date().toISOString(), thread, msg: message })}\n`
    : textLine('warn', message, {})
}

const PAUSE = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT))

/** Prints a refused start, in one line. */
export function printRefusal(what: string, reason: string): void {
  if (logsJson()) log.error(what, { reason })
  else print('warn', [`${what}: ${reason}`])
}
