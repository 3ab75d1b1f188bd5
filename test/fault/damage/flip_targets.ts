/**
 * Locates the contents of an LMDB file (data version 2, as lmdb-js writes it): the bytes of every kind of
 * page and of every part of the rows of every table, found by walking the trees from the newest meta page.
 * For campaigns that flip a bit of each.
 */
import assert from 'node:assert/strict'
import { TRAILER_BYTES } from '../../../src/store/rows/row_checksum.js'

/** Bytes of one kind; the byte to change is drawn from them. */
export interface Place {
  readonly at: number
  readonly length: number
}

export type Targets = ReadonlyMap<string, readonly Place[]>

const PAGE_BYTES = 4096
const HEADER_BYTES = 24
const META_BYTES = 24 + 2 * 48 + 24
const META_PAGES = 2
const NODE_HEADER_BYTES = 8
const TREE_BYTES = 48
const OVERFLOW_ENTRY_BYTES = 24
const NO_ROOT = 0xffffffffffffffffn
const [BIG, TREE] = [1, 2]
const [BRANCH_PAGE, LEAF_PAGE] = [1, 2]

export function targetsOf(file: Buffer): Targets {
  return new Walk(file).targets
}

class Walk {
  readonly targets = new Map<string, Place[]>()
  readonly #file: Buffer

  constructor(file: Buffer) {
    this.#file = file
    const metas = Array.from({ length: META_PAGES }, (_, index) => index * PAGE_BYTES + HEADER_BYTES)
    for (const meta of metas) {
      this.#add('meta header', meta - HEADER_BYTES, HEADER_BYTES)
      this.#add('meta', meta, META_BYTES)
    }
    const newest = metas.reduce((one, other) => (file.readBigUInt64LE(one + 128) >= file.readBigUInt64LE(other + 128) ? one : other))
    this.#tree('free list', newest + 24)
    this.#tree('main', newest + 72)
  }

  #add(kind: string, at: number, length: number): void {
    if (length <= 0) return
    const ranges = this.targets.get(kind) ?? []
    ranges.push({ at, length })
    this.targets.set(kind, ranges)
  }

  #tree(name: string, record: number): void {
    const root = this.#file.readBigUInt64LE(record + 40)
    if (root !== NO_ROOT) this.#page(name, Number(root))
  }

  #page(table: string, number: number): void {
    const at = number * PAGE_BYTES
    assert.equal(this.#file.readBigUInt64LE(at), BigInt(number), 'a page with its own number')
    const isLeaf = (this.#file.readUInt16LE(at + 18) & LEAF_PAGE) !== 0
    assert.ok(isLeaf || (this.#file.readUInt16LE(at + 18) & BRANCH_PAGE) !== 0)
    const nodes = this.#file.readUInt16LE(at + 20) / 2
    this.#add(isLeaf ? 'leaf header' : 'branch header', at, HEADER_BYTES)
    this.#add(isLeaf ? 'leaf pointers' : 'branch pointers', at + HEADER_BYTES, nodes * 2)
    for (let node = 0; node < nodes; node++) {
      const begin = at + HEADER_BYTES + this.#file.readUInt16LE(at + HEADER_BYTES + node * 2)
      if (isLeaf) this.#row(table, begin)
      else this.#branch(table, begin)
    }
  }

  #branch(table: string, node: number): void {
    this.#add('branch page number', node, 6)
    this.#add('branch key length', node + 6, 2)
    this.#add('branch key', node + NODE_HEADER_BYTES, this.#file.readUInt16LE(node + 6))
    this.#page(table, this.#file.readUInt32LE(node) + this.#file.readUInt16LE(node + 4) * 2 ** 32)
  }

  #row(table: string, node: number): void {
    const length = this.#file.readUInt32LE(node)
    const flags = this.#file.readUInt16LE(node + 4)
    const keyBytes = this.#file.readUInt16LE(node + 6)
    const value = node + NODE_HEADER_BYTES + keyBytes
    this.#add('leaf node header', node, NODE_HEADER_BYTES)
    this.#add(`${table}: key`, node + NODE_HEADER_BYTES, keyBytes)
    if ((flags & TREE) !== 0) {
      this.#add('record of a table', value, TREE_BYTES)
      this.#tree(this.#file.toString('latin1', node + NODE_HEADER_BYTES, value).replace(/\0$/, ''), value)
    } else if ((flags & BIG) !== 0) {
      const page = Number(this.#file.readBigUInt64LE(value)) * PAGE_BYTES
      this.#add('entry of an overflow page', value, OVERFLOW_ENTRY_BYTES)
      this.#add('overflow header', page, HEADER_BYTES)
      this.#value(table, page + HEADER_BYTES, length)
    } else this.#value(table, value, length)
  }

  #value(table: string, at: number, length: number): void {
    const isChecked = table !== 'free list' && table !== 'main' && length >= TRAILER_BYTES
    this.#add(`${table}: value`, at, isChecked ? length - TRAILER_BYTES : length)
    if (isChecked) this.#add(`${table}: trailer`, at + length - TRAILER_BYTES, TRAILER_BYTES)
  }
}
