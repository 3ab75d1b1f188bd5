/**
 * Templates, links and external links that are open while markup is removed, over the list of pieces that
 * the text has become so far. A construct that is never closed stays as it was written, because its opening
 * characters are a piece like others. Closing costs time linear to the pieces that it removes; links are kept
 * to LINK_DEPTH_MAX, because a link replaces pieces of those that it contains.
 */
import { PROTECTED_PIPE } from './protected_text.js'

/** Links within links: captions of files have links, and these nothing. The oldest open one is forgotten. */
const LINK_DEPTH_MAX = 16

export interface OpenLink {
  /** Index of the piece `[[`. */
  readonly piece: number
  /** Index in the text behind `[[`. */
  readonly begin: number
  /** Templates that are open where the link begins. */
  readonly depth: number
  /** Index in the text of the first `|`, or -1, and of the piece behind it. */
  pipe: number
  label: number
}

interface OpenUrl {
  readonly piece: number
  readonly url: string
}

export class OpenConstructs {
  readonly pieces: string[] = []
  url: OpenUrl | undefined = undefined
  readonly #links: OpenLink[] = []
  /** Of each open template: how many braces are left, and the index of their piece. */
  readonly #braces: number[] = []
  readonly #bracePieces: number[] = []

  /** @param count of braces, at least 2 */
  openBraces(count: number): void {
    this.#braces.push(count)
    this.#bracePieces.push(this.pieces.length)
    this.pieces.push('{'.repeat(count))
  }

  get hasBraces(): boolean {
    return this.#braces.length > 0
  }

  /**
   * Drops the templates that a run of closing braces ends.
   * @returns how many braces of the run are left
   */
  closeBraces(count: number): number {
    let left = count
    while (left >= 2 && this.#braces.length > 0) {
      const braces = this.#braces.pop() ?? 0
      const matched = Math.min(braces, left)
      left -= matched
      this.#cut(this.#bracePieces.pop() ?? 0)
      if (braces - matched >= 2) this.openBraces(braces - matched)
      else if (braces - matched === 1) this.pieces.push('{')
    }
    return left
  }

  /** @param begin index in the text behind `[[` */
  openLink(begin: number): void {
    if (this.#links.length === LINK_DEPTH_MAX) this.#links.shift()
    this.#links.push({ piece: this.pieces.length, begin, depth: this.#braces.length, pipe: -1, label: -1 })
    this.pieces.push('[[')
  }

  /** The innermost link, if no template has been opened in it. */
  link(): OpenLink | undefined {
    const link = this.#links.at(-1)
    return link !== undefined && link.depth === this.#braces.length ? link : undefined
  }

  /** @param at index in the text of the pipe */
  addPipe(link: OpenLink, at: number): void {
    if (link.pipe >= 0) this.pieces.push(PROTECTED_PIPE)
    else {
      this.pieces.push('|')
      link.pipe = at
      link.label = this.pieces.length
    }
  }

  /** Removes the innermost link, or leaves its label: the text behind the first pipe, if there is any. */
  closeLink(link: OpenLink, keeps: 'nothing' | 'target' | 'label'): void {
    this.#links.pop()
    if (keeps === 'nothing') return this.#cut(link.piece)
    this.pieces[link.piece] = ''
    if (keeps === 'label') this.pieces.fill('', link.piece, link.label)
    else if (link.label >= 0) this.pieces[link.label - 1] = ''
  }

  dropLink(): void {
    this.#links.pop()
  }

  /** The name of a page has no newline, and a label no empty line. */
  endLine(isLastOfParagraph: boolean): void {
    this.url = undefined
    if (isLastOfParagraph) this.#links.length = 0
    while ((this.#links.at(-1)?.pipe ?? 0) < 0) this.#links.pop()
  }

  openUrl(url: string, written: string): void {
    this.url = { piece: this.pieces.length, url }
    this.pieces.push(written)
  }

  /** Makes the external link one of markdown; a link without a text becomes its address. */
  closeUrl({ piece, url }: OpenUrl): void {
    this.url = undefined
    if (this.pieces.length === piece + 1) this.pieces[piece] = url
    else {
      this.pieces[piece] = '['
      this.pieces.push(`](${url})`)
    }
  }

  #cut(piece: number): void {
    this.pieces.length = piece
    while ((this.#links.at(-1)?.piece ?? -1) >= piece) this.#links.pop()
    if (this.url !== undefined && this.url.piece >= piece) this.url = undefined
  }
}
