/**
 * The lines of a markdown text under way. Blocks that markdown would join with the line before are set off by
 * an empty line; runs of empty lines become one. Pure.
 */

/**
 * - `container`: an item of a list or a quotation, which a paragraph would continue;
 * - `separate`: a table or a rule, which nothing may touch.
 */
type LineKind = 'text' | 'heading' | 'container' | 'separate'

export class MarkdownLines {
  readonly #lines: string[] = []
  #last: LineKind | 'none' = 'none'

  /** @param line not empty; a table has line breaks */
  add(kind: LineKind, line: string): void {
    const last = this.#last
    if ((last === 'container' && kind === 'text') || last === 'separate' || (last !== 'none' && kind === 'separate')) this.#lines.push('')
    this.#lines.push(line)
    this.#last = kind
  }

  blank(): void {
    if (this.#last !== 'none') this.#lines.push('')
    this.#last = 'none'
  }

  end(): string {
    if (this.#last === 'none') this.#lines.pop()
    return this.#lines.join('\n')
  }
}
