/**
 * `mds doctor`: starts the process that reads the store (src/programs/doctor_check.ts), and prints its
 * findings. Damaged pages can crash that process, which is a finding too.
 */
import { fork } from 'node:child_process'
import { programPath } from '../base/installation.js'
import { printable } from '../base/printable.js'
import type { DoctorMessage, DoctorRequest } from '../programs/doctor_check.js'
import { say, sayError } from './terminal.js'

/**
 * V8 heap of the process in which `mds doctor` reads a store. It keeps the states of one document at a time.
 */
const DOCTOR_HEAP_MB_MAX = 1024

const PROGRAM = programPath('doctor_check')
/** Signals that no page of a store can cause. The kernel sends SIGKILL if memory runs out. */
const FROM_OUTSIDE = ['SIGKILL', 'SIGTERM', 'SIGINT', 'SIGHUP']
const EXIT = { healthy: 0, damaged: 1, refused: 2 } as const

/** @returns the exit code */
export async function doctor(path: string): Promise<number> {
  const { last, how } = await read({ path, readsLeaves: false })
  switch (last?.kind) {
    case 'refused':
      sayError(`mds: ${last.reason}\n`)
      return EXIT.refused
    case 'damaged':
      return end(EXIT.damaged, `damaged: ${last.reason}`)
    case 'stage': {
      if (FROM_OUTSIDE.includes(how)) {
        sayError(`mds: the process that reads the store was ended from outside (${how}, at ${last.stage})\n`)
        return EXIT.refused
      }
      const { last: pages } = await read({ path, readsLeaves: true })
      const reason = pages?.kind === 'damaged' ? `: ${pages.reason}` : ''
      return end(EXIT.damaged, `damaged: the process that read the store was ended by it (${how}, at ${last.stage})${reason}`)
    }
    case 'done':
      return report(last)
    case undefined:
      sayError(`mds: the process that reads the store has ended before it began (${how})\n`)
      return EXIT.refused
  }
}

interface Read {
  /** Its last message. */
  readonly last: DoctorMessage | undefined
  /** How the process ended. */
  readonly how: string
}

async function read(request: DoctorRequest): Promise<Read> {
  const child = fork(PROGRAM, [], {
    execArgv: [`--max-old-space-size=${DOCTOR_HEAP_MB_MAX}`],
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  })
  let last: DoctorMessage | undefined
  child.on('message', (message) => (last = message as DoctorMessage))
  const ended = new Promise<string>((resolve, reject) => {
    child.once('error', reject)
    child.once('exit', (code, signal) => resolve(signal ?? `exit code ${code}`))
  })
  child.send(request)
  const how = await ended
  return { last, how }
}

function report({ rows, total, summary, listed }: DoctorMessage & { readonly kind: 'done' }): number {
  for (const { kind, subject, detail } of listed) say(`${[kind, subject, detail].map(printable).join(': ')}\n`)
  if (total === 0) return end(EXIT.healthy, `healthy: ${rows} rows read, nothing is damaged`)
  const shown = listed.length < total ? ` (${listed.length} shown)` : ''
  return end(EXIT.damaged, `damaged: ${total} findings${shown} in ${rows} rows: ${summary}`)
}

function end(code: number, line: string): number {
  say(`${line}\n`)
  return code
}
