/**
 * Names of the files in a ZIP export: `{key}.{lang}.md`. Every character other than ASCII letters, digits,
 * `-` and `_` is replaced by `-`, so that no name leaves the target folder or is special to a file system.
 * Names are unique: if a document's name was used before, its docid is appended to the key. Used names are
 * kept in a Bloom filter of fixed size; a false positive only adds a docid to a name.
 */
import { crc32, crc32c } from '../../store/rows/packages.js'

/** UTF-8 bytes of a file name: what the common file systems accept. */
export const EXPORT_NAME_BYTES_MAX = 255
/**
 * Bits of the Bloom filter, and hashes of a name, with which a ZIP export remembers used names: 4 MiB. Of
 * 1 000 000 names 2 in 10 000 are falsely reported as used, of 100 000 none.
 */
const EXPORT_NAME_BITS = 2 ** 25
const EXPORT_NAME_HASHES = 4
/** Names tried for one document. The second one contains its docid already. */
const EXPORT_NAME_TRIES_MAX = 8

const EXTENSION = '.md'

export class EntryNames {
  readonly #bits = new Uint8Array(EXPORT_NAME_BITS / 8)

  of(key: string, lang: string, docid: number): string {
    let name = nameOf(key, lang, '')
    for (let tries = 0; this.#wasGiven(name) && tries < EXPORT_NAME_TRIES_MAX; tries++) {
      name = nameOf(key, lang, tries === 0 ? `-${docid}` : `-${docid}-${tries}`)
    }
    this.#give(name)
    return name
  }

  #wasGiven(name: string): boolean {
    return bitsOf(name).every((bit) => ((this.#bits[bit >>> 3] as number) & (1 << (bit & 7))) !== 0)
  }

  #give(name: string): void {
    for (const bit of bitsOf(name)) this.#bits[bit >>> 3] = (this.#bits[bit >>> 3] as number) | (1 << (bit & 7))
  }
}

/** Folds case, so that files do not overwrite each other on case-insensitive file systems. */
function bitsOf(name: string): number[] {
  const folded = name.toLowerCase()
  const first = crc32(folded)
  const step = crc32c(folded) | 1
  return Array.from({ length: EXPORT_NAME_HASHES }, (_, index) => ((first + index * step) >>> 0) % EXPORT_NAME_BITS)
}

function nameOf(key: string, lang: string, suffix: string): string {
  const end = `${suffix}.${plain(lang)}${EXTENSION}`
  return plain(key).slice(0, EXPORT_NAME_BYTES_MAX - end.length) + end
}

function plain(text: string): string {
  return text.replace(/[^A-Za-z0-9_-]/gu, '-')
}
