/**
 * The source of a LaTeX document as tokens, with the macros that it defines itself expanded. Arguments are
 * read as source. Reading is linear: what macros add is bounded. Runs in a child process.
 */

/** Expansions in each other. A macro that calls itself ends here. */
const TEX_EXPANSIONS_DEEP_MAX = 64
/** Characters that all expansions of a document add: twice a long book. */
const TEX_EXPANDED_CHARACTERS_MAX = 4_000_000
/** Characters of one argument. A chapter in a footnote has fewer. */
const TEX_ARGUMENT_CHARACTERS_MAX = 100_000
/**
 * Characters of one argument in brackets, which are also signs of the text: a bracket that is alone costs
 * this.
 */
const TEX_OPTION_CHARACTERS_MAX = 2000
/** Macros that a document defines. */
const TEX_MACROS_MAX = 5000

type TexToken =
  | { readonly kind: 'macro'; readonly name: string; readonly isStarred: boolean }
  | { readonly kind: 'open' | 'close' | 'cell' | 'paragraph' | 'end' }
  | { readonly kind: 'math'; readonly isDisplay: boolean; readonly text: string }
  | { readonly kind: 'text'; readonly text: string }

interface Macro {
  readonly parameters: number
  /** Of the first parameter, if that is optional. */
  readonly fallback: string | undefined
  readonly body: string
}
interface Frame {
  readonly text: string
  at: number
}

const TOKEN =
  /%[^\n]*(?:\n[ \t]*)?|\\([a-zA-Z@]+)(\*?)[ \t]*(?:\n(?![ \t]*\n)[ \t]*)?|\\([^a-zA-Z@])|(\n[ \t]*\n\s*)|([{}&])|(\$\$?)|[^\\{}&$%\n]+|\n/y

export class TexSource {
  readonly #frames: Frame[]
  readonly #macros = new Map<string, Macro>()
  #expanded = 0

  constructor(text: string) {
    this.#frames = [{ text: text.replaceAll(/\r\n?/g, '\n'), at: 0 }]
  }

  next(): TexToken {
    for (;;) {
      const frame = this.#frame()
      if (frame === undefined) return { kind: 'end' }
      TOKEN.lastIndex = frame.at
      const match = TOKEN.exec(frame.text)
      if (match === null) {
        frame.at++ // A backslash at the end.
        continue
      }
      frame.at = TOKEN.lastIndex
      const [whole, name, star, symbol, blankLine, sign, dollars] = match
      if (name !== undefined) {
        if (this.#expand(name)) continue
        return { kind: 'macro', name, isStarred: star === '*' }
      }
      if (symbol !== undefined) return { kind: 'macro', name: symbol, isStarred: false }
      if (blankLine !== undefined) return { kind: 'paragraph' }
      if (sign !== undefined) return { kind: sign === '{' ? 'open' : sign === '}' ? 'close' : 'cell' }
      if (dollars !== undefined) return { kind: 'math', isDisplay: dollars === '$$', text: this.until(dollars) }
      if (!whole.startsWith('%')) return { kind: 'text', text: whole }
    }
  }

  define(name: string, macro: Macro): void {
    if (this.#macros.size < TEX_MACROS_MAX) this.#macros.set(name, macro)
  }

  /** The source up to `end`, which is passed; all of it if there is no such end. */
  until(end: string): string {
    const frame = this.#frame()
    if (frame === undefined) return ''
    let found = frame.text.indexOf(end, frame.at)
    while (end.startsWith('$') && found > 0 && frame.text[found - 1] === '\\') found = frame.text.indexOf(end, found + 1)
    const text = frame.text.slice(frame.at, found === -1 ? undefined : found)
    frame.at = found === -1 ? frame.text.length : found + end.length
    return text
  }

  /** The characters in front, which stay. */
  ahead(count: number): string {
    const frame = this.#frame()
    return frame === undefined ? '' : frame.text.slice(frame.at, frame.at + count)
  }

  /** One character, which is passed. */
  character(): string {
    const frame = this.#frame()
    return frame === undefined ? '' : (frame.text[frame.at++] ?? '')
  }

  has(text: string): boolean {
    const frame = this.#frame()
    return frame !== undefined && frame.text.includes(text, frame.at)
  }

  /** Passes blanks and one brace. False, and nothing passed, if another character is next. */
  passBrace(): boolean {
    const frame = this.#frame()
    if (frame === undefined) return false
    const at = afterBlanks(frame.text, frame.at)
    if (frame.text[at] !== '{') return false
    frame.at = at + 1
    return true
  }

  /** A group as source, or one token without braces. */
  argument(): string {
    const frame = this.#frame()
    if (frame === undefined) return ''
    frame.at = afterBlanks(frame.text, frame.at)
    const first = frame.text[frame.at]
    if (first === '{') return this.#balanced(frame, '{', '}')
    const match = /\\(?:[a-zA-Z@]+|[^])|[^}]/y
    match.lastIndex = frame.at
    const token = match.exec(frame.text)?.[0] ?? ''
    frame.at += token.length
    return token
  }

  /** The text in brackets, if brackets are next. */
  optional(): string | undefined {
    const frame = this.#frame()
    if (frame === undefined) return undefined
    const at = afterBlanks(frame.text, frame.at)
    if (frame.text[at] !== '[') return undefined
    frame.at = at
    return this.#balanced(frame, '[', ']')
  }

  /** Brackets count where no brace is open. */
  #balanced(frame: Frame, open: string, close: string): string {
    const begin = frame.at + 1
    let depth = 0
    let braces = 0
    for (let at = frame.at; at < frame.text.length; at++) {
      const sign = frame.text[at]
      if (sign === '\\') at++
      else if (sign === open && braces === 0) depth++
      else if (sign === close && braces === 0 && --depth === 0) {
        frame.at = at + 1
        return frame.text.slice(begin, at)
      } else if (open === '[' && sign === '{') braces++
      else if (open === '[' && sign === '}') braces--
      // An end that is missing costs one character, not the rest of the document, nor time for each opening.
      if (braces < 0 || at - begin > (open === '[' ? TEX_OPTION_CHARACTERS_MAX : TEX_ARGUMENT_CHARACTERS_MAX)) break
    }
    frame.at = begin
    return ''
  }

  #frame(): Frame | undefined {
    while (this.#frames.length > 1 && this.#frames.at(-1)!.at >= this.#frames.at(-1)!.text.length) this.#frames.pop()
    const frame = this.#frames.at(-1)
    return frame === undefined || frame.at >= frame.text.length ? undefined : frame
  }

  #expand(name: string): boolean {
    const macro = this.#macros.get(name)
    if (macro === undefined || this.#frames.length > TEX_EXPANSIONS_DEEP_MAX) return false
    const values: string[] = []
    if (macro.fallback !== undefined) values.push(this.optional() ?? macro.fallback)
    while (values.length < macro.parameters) values.push(this.argument())
    const text = macro.body.replaceAll(/#([1-9])/g, (_, number: string) => values[Number(number) - 1] ?? '')
    this.#expanded += text.length + 1
    if (this.#expanded > TEX_EXPANDED_CHARACTERS_MAX)
      throw new Error(`its macros expand to more than ${TEX_EXPANDED_CHARACTERS_MAX} characters`)
    this.#frames.push({ text, at: 0 })
    return true
  }
}

function afterBlanks(text: string, from: number): number {
  let at = from
  while (at < text.length && /\s/.test(text[at]!)) at++
  return at
}
