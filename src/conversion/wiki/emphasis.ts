/**
 * Bold and italic of one line: runs of quotes become `**` and `*`. Which run means what is decided as in
 * MediaWiki (`Parser::doQuotes`): by length, and by the whole line where both numbers are odd. Blanks go out
 * of the marks, because markdown knows no `** a **`; marks around nothing are dropped. Pure, linear.
 */

const QUOTE = 0x27
const SPACE = 0x20

type Mark = '**' | '*'

/** A run of quotes that means something: 2 are italic, 3 bold, 5 both. */
interface Run {
  readonly begin: number
  readonly end: number
  length: number
}

/** @param line without a line break, with `''` somewhere */
export function renderEmphasis(line: string): string {
  const runs = readRuns(line)
  balance(line, runs)
  const writer = new EmphasisWriter()
  let from = 0
  for (const [index, run] of runs.entries()) {
    writer.text(line.slice(from, run.end - run.length))
    from = run.end
    if (run.length === 2) writer.toggle('*')
    else if (run.length === 3) writer.toggle('**')
    else writer.toggleBoth(runs[index + 1]?.length === 3 ? '*' : '**')
  }
  writer.text(line.slice(from))
  return writer.end()
}

/** Of 4 and of more than 5 quotes the first ones are text. */
function readRuns(line: string): Run[] {
  const runs: Run[] = []
  for (let at = line.indexOf("''"); at >= 0; at = line.indexOf("''", at)) {
    const begin = at
    while (line.charCodeAt(at) === QUOTE) at++
    const count = at - begin
    runs.push({ begin, end: at, length: count > 5 ? 5 : count === 4 ? 3 : count })
  }
  return runs
}

/** With an odd number of both, one bold run is an apostrophe and an italic run. */
function balance(line: string, runs: readonly Run[]): void {
  let [italic, bold] = [0, 0]
  for (const { length } of runs) {
    if (length !== 3) italic++
    if (length !== 2) bold++
  }
  if (italic % 2 === 0 || bold % 2 === 0) return
  let [afterLetter, afterWord, afterSpace]: (Run | undefined)[] = []
  for (const run of runs) {
    if (run.length !== 3) continue
    const begin = run.end - run.length
    if (line.charCodeAt(begin - 1) === SPACE) afterSpace ??= run
    else if (begin < 2 || line.charCodeAt(begin - 2) === SPACE) afterLetter ??= run
    else afterWord ??= run
  }
  const chosen = afterLetter ?? afterWord ?? afterSpace
  if (chosen !== undefined) chosen.length = 2
}

class EmphasisWriter {
  readonly #chunks: string[] = []
  /** Marks that are open and written, the outer one first. */
  readonly #open: Mark[] = []
  /** Marks that are open, and written before the next character that is not blank. */
  #pending: Mark[] = []

  text(text: string): void {
    if (text === '') return
    if (this.#pending.length === 0) this.#chunks.push(text)
    else {
      const rest = text.trimStart()
      if (rest.length < text.length) this.#chunks.push(text.slice(0, text.length - rest.length))
      if (rest === '') return
      this.#open.push(...this.#pending)
      this.#chunks.push(...this.#pending, rest)
      this.#pending = []
    }
  }

  toggle(mark: Mark): void {
    if (this.#pending.includes(mark)) this.#pending = this.#pending.filter((each) => each !== mark)
    else if (!this.#open.includes(mark)) this.#pending.push(mark)
    else {
      // The other mark was opened later: it ends too, and begins again.
      const other = this.#open.at(-1) === mark ? undefined : this.#open.pop()
      if (other !== undefined) this.#close(other)
      this.#open.pop()
      this.#close(mark)
      if (other !== undefined) this.#pending.push(other)
    }
  }

  /** @param outer the mark that ends later, if both begin here */
  toggleBoth(outer: Mark): void {
    const first = this.#open.at(-1) ?? outer
    this.toggle(first)
    this.toggle(first === '**' ? '*' : '**')
  }

  /** What is still open ends with the line. */
  end(): string {
    for (let mark = this.#open.pop(); mark !== undefined; mark = this.#open.pop()) this.#close(mark)
    return this.#chunks.join('')
  }

  /** The blanks before the mark go behind it. */
  #close(mark: Mark): void {
    const blanks: string[] = []
    for (let last = this.#chunks.at(-1); last !== undefined; last = this.#chunks.at(-1)) {
      const kept = last.trimEnd()
      if (kept.length === last.length) break
      this.#chunks.pop()
      blanks.push(last.slice(kept.length))
      if (kept !== '') this.#chunks.push(kept)
      if (kept !== '') break
    }
    this.#chunks.push(mark, ...blanks.reverse())
  }
}
