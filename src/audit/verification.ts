/**
 * Checks a whole audit log: every line, every seal, and the chain through all files. Names the lines that
 * were removed, changed, added, reordered or cut off, as far as the checksums of the seals tell. Changes
 * nothing.
 * What a chain cannot show: docs/formats/audit-log.md.
 */
import { FORMAT_VERSION, NO_HASH, splitSums } from './chain.js'
import { ChainReader, type ReadBatch } from './chain_reader.js'
import { filesIn, type LogFile, readFile } from './log_files.js'

/** Findings that `mds audit verify` lists; it counts the others. */
const AUDIT_FINDINGS_MAX = 100

interface Verification {
  readonly files: number
  readonly batches: number
  readonly events: number
  /** Events that the log itself says were lost before they reached it. */
  readonly dropped: number
  /** The last batch: whoever knows an earlier value of it can tell that the end was cut off. */
  readonly head: { readonly batch: number; readonly hash: string }
  /** Whether the last process has ended by a shutdown. */
  readonly isEnded: boolean
  /** One line each, with file and line. */
  readonly findings: readonly string[]
  /** Including those that are not listed. */
  readonly total: number
}

/** A batch that the log must contain, as a previous verification has shown it. */
export interface KnownHead {
  readonly batch: number
  readonly hash: string
}

/** The place of a batch, for findings about it that a later batch shows. */
interface Place {
  readonly path: string
  readonly batch: ReadBatch
  /** Its lines do not fit its seal, which was reported already. */
  readonly isReported: boolean
}

/**
 * @param known a batch that the log must contain
 * @throws Error of the system
 */
export function verifyLog(folder: string, known?: KnownHead): Verification {
  const log = new CheckedLog(known)
  const files = filesIn(folder)
  files.forEach((file, at) => log.check(file, at === files.length - 1))
  return log.result(files.length)
}

class CheckedLog {
  readonly #known: KnownHead | undefined
  readonly #findings: string[] = []
  #total = 0
  #batches = 0
  #events = 0
  #dropped = 0
  #droppedBefore = 0
  #last: Place | undefined
  #firstBatch: number | undefined
  #hasKnown = false

  constructor(known: KnownHead | undefined) {
    this.#known = known
  }

  check(file: LogFile, isLastFile: boolean): void {
    const { path, number } = file
    const reader = new ChainReader({ onBatch: (batch) => this.#batch(path, batch) })
    readFile(path, reader)
    const { header, lines, tailLine } = reader
    if (header === undefined) this.#found(path, 1, 'the header of the file is missing or changed')
    else if (header.audit !== FORMAT_VERSION) this.#found(path, 1, `version ${header.audit} of the format is not known`)
    else if (header.file !== number) this.#found(path, 1, `the file was renamed: it is number ${header.file}`)
    if (reader.tailBytes === 0) return
    const where = tailLine === lines ? `line ${tailLine}` : `lines ${tailLine} to ${lines}`
    const reason = isLastFile
      ? 'the end was cut off there, or the server ended there without a shutdown, or is writing; its next start cuts this off'
      : 'the end of the file was cut off'
    this.#found(path, tailLine, `${where} have no seal: ${reason}`)
  }

  result(files: number): Verification {
    const { seal, hash } = this.#last?.batch ?? { seal: undefined, hash: NO_HASH }
    const { batch, hash: wanted } = this.#known ?? { batch: 0, hash: '' }
    if (seal !== undefined && this.#firstBatch !== undefined && this.#firstBatch > seal.first)
      this.#add(`the beginning is missing: retention has kept batch ${seal.first}, and the first one there is ${this.#firstBatch}`)
    if (batch > 0 && !this.#hasKnown)
      this.#add(`batch ${batch} with hash ${wanted} is not there: the end was cut off, or the log was replaced`)
    return {
      files,
      batches: this.#batches,
      events: this.#events,
      dropped: this.#dropped + this.#droppedBefore,
      head: { batch: seal?.seal ?? 0, hash },
      isEnded: seal?.mark === 'stop',
      findings: this.#findings,
      total: this.#total,
    }
  }

  #batch(path: string, batch: ReadBatch): void {
    const { seal, hash } = batch
    this.#firstBatch ??= seal.seal
    this.#follow(path, batch)
    const isWhole = this.#compare(path, batch)
    // Each process counts from zero.
    if (seal.mark === 'start') {
      this.#droppedBefore += this.#dropped
      this.#dropped = 0
    }
    this.#dropped = Math.max(this.#dropped, seal.dropped)
    this.#batches += 1
    this.#events += batch.sums.length
    if (seal.seal === this.#known?.batch && hash === this.#known.hash) this.#hasKnown = true
    this.#last = { path, batch, isReported: !isWhole }
  }

  /** Compares the batch with the one before it. */
  #follow(path: string, { seal, sealLine, firstLine }: ReadBatch): void {
    const before = this.#last
    if (before === undefined) {
      if (seal.seal === 1 && seal.prev !== NO_HASH) this.#found(path, sealLine, 'the seal of the first batch was changed')
      return
    }
    const expected = before.batch.seal.seal + 1
    if (seal.seal > expected) {
      const missing = seal.seal - 1 === expected ? `batch ${expected} is` : `batches ${expected} to ${seal.seal - 1} are`
      this.#found(path, firstLine, `${missing} missing before this line`)
    } else if (seal.seal < expected) {
      this.#found(path, firstLine, `batch ${seal.seal} comes after batch ${expected - 1}: lines were reordered or added`)
    } else if (seal.prev !== before.batch.hash && !before.isReported) {
      const { firstLine: first, sealLine: last } = before.batch
      this.#found(
        before.path,
        first,
        `batch ${expected - 1} (lines ${first} to ${last}) was changed after it was sealed, or the seal behind it was`,
      )
    }
  }

  /** @returns whether the lines of the batch are those that were sealed */
  #compare(path: string, { seal, sums, firstLine, sealLine }: ReadBatch): boolean {
    const sealed = splitSums(seal.sums)
    const at = sums.findIndex((sum, index) => sum !== sealed[index])
    if (at < 0 && sums.length === sealed.length) return true
    const line = firstLine + (at < 0 ? sums.length : at)
    const missing = sealed.length - sums.length
    if (missing > 0)
      this.#found(path, Math.min(line, sealLine), `${counted(missing, 'line')} before this one ${missing === 1 ? 'was' : 'were'} removed`)
    else if (missing < 0) this.#found(path, line, `${counted(-missing, 'line')} ${missing === -1 ? 'was' : 'were'} added from here on`)
    else if ([...sums].sort().join('') === [...sealed].sort().join('')) this.#found(path, line, 'lines were reordered from here on')
    else this.#changed(path, firstLine, sums, sealed)
    return false
  }

  #changed(path: string, firstLine: number, sums: readonly string[], sealed: readonly string[]): void {
    for (const [index, sum] of sums.entries()) if (sum !== sealed[index]) this.#found(path, firstLine + index, 'the line was changed')
  }

  #found(path: string, line: number, text: string): void {
    this.#add(`${path}:${line}: ${text}`)
  }

  #add(finding: string): void {
    this.#total += 1
    if (this.#findings.length < AUDIT_FINDINGS_MAX) this.#findings.push(finding)
  }
}

function counted(count: number, what: string): string {
  return count === 1 ? `1 ${what}` : `${count} ${what}s`
}
