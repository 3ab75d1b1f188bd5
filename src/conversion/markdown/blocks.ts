/** Blocks of markdown: how they follow each other, prefixes of quotes, and lists. Pure. */

export interface Block {
  readonly kind: 'paragraph' | 'heading' | 'code' | 'list' | 'quote' | 'table' | 'rule' | 'note'
  readonly text: string
  /** The sign of a list. A list beside it has another one, or both would be one list. */
  readonly sign?: string
}

export function joinBlocks(blocks: readonly Block[]): string {
  return blocks.map((block) => block.text).join('\n\n')
}

/** Empty lines get the prefix without its blank. */
export function prefixed(text: string, prefix: string): string {
  const bare = prefix.trimEnd()
  return text
    .split('\n')
    .map((line) => (line === '' ? bare : prefix + line))
    .join('\n')
}

interface List {
  readonly isOrdered: boolean
  readonly start: number
  readonly items: readonly (readonly Block[])[]
}

/** @param before the block in front of the list */
export function renderList({ isOrdered, start, items }: List, isPlain: boolean, before: Block | undefined): Block {
  const isTight = items.every((blocks) => blocks.every((block, at) => (at === 0 ? block.kind === 'paragraph' : block.kind === 'list')))
  const signs = isOrdered ? ['.', ')'] : ['-', '*']
  const sign = before?.kind === 'list' && before.sign === signs[0] ? signs[1]! : signs[0]!
  const lines = items.map((blocks, at) => {
    const text = blocks.map((block) => block.text).join(isTight ? '\n' : '\n\n')
    if (isPlain) return text
    const marker = isOrdered ? `${start + at}${sign} ` : `${sign} `
    return marker + prefixed(text, ' '.repeat(marker.length)).trimStart()
  })
  return { kind: 'list', text: lines.join(isTight || isPlain ? '\n' : '\n\n'), sign }
}
