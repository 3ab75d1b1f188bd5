/**
 * Backup files: a compacted copy of a truth env as it was at one moment, followed by a seal with its
 * description and the checksum of its bytes. Layout: docs/formats/backup.md. Files are read and written in
 * pieces, so that they neither fill the memory nor block the thread. Long lane.
 */
import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import { MIB } from '../../limits/units.js'
import { writeWhole } from '../files/write_whole.js'
import { crc32c } from '../rows/packages.js'

/** Bytes of a backup that are read at once. Their checksum takes 0.2 ms. */
const BACKUP_PIECE_BYTES = MIB

const MAGIC = Buffer.from('MDSBKUP\n')
const VERSION = 1
const SEAL_BYTES = 64

/** The reason why a backup can't be used, in words for the requester. */
export class BackupError extends Error {}

export interface BackupSeal {
  /** Bytes of the env before the seal. */
  readonly dataBytes: number
  readonly dataCrc: number
  /** Epoch of the copied store, 16 bytes. */
  readonly epoch: Buffer
  /** Last LSN when the copy began. The copy contains at least this entry. */
  readonly lastLsn: bigint
  /** Unix seconds. */
  readonly createdAt: number
}

/** Appends the seal to the copied env and flushes the file. */
export async function sealBackup(path: string, about: Pick<BackupSeal, 'epoch' | 'lastLsn' | 'createdAt'>): Promise<void> {
  const file = await open(path, constants.O_RDWR | constants.O_NOFOLLOW)
  try {
    await file.chmod(0o600)
    const { size } = await file.stat()
    const dataCrc = await forEachPiece(file, size, () => Promise.resolve())
    const seal = encodeSeal({ ...about, dataBytes: size, dataCrc })
    await writeWhole(file, seal, size)
    await file.sync()
  } finally {
    await file.close()
  }
}

/**
 * Copies the env in the backup to `target`, checks it while copying, and flushes the copy.
 * @throws BackupError if the file is not a complete backup
 */
export async function unpackBackup(path: string, target: string): Promise<BackupSeal> {
  const file = await openBackup(path)
  try {
    const seal = await readSeal(file)
    const copy = await open(target, 'wx', 0o600)
    try {
      const crc = await forEachPiece(file, seal.dataBytes, (piece, at) => writeWhole(copy, piece, at))
      if (crc !== seal.dataCrc) throw new BackupError(`damaged: checksum ${crc.toString(16)}, ${seal.dataCrc.toString(16)} expected`)
      await copy.sync()
    } finally {
      await copy.close()
    }
    return seal
  } finally {
    await file.close()
  }
}

async function openBackup(path: string): Promise<FileHandle> {
  try {
    const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
    if ((await file.stat()).isFile()) return file
    await file.close()
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException
    if (code !== 'ENOENT' && code !== 'ELOOP') throw cause
  }
  throw new BackupError('not there')
}

/** Reads only the seal, for a list. Undefined if the file has no seal of this version or can't be read. */
export function peekSeal(path: string): BackupSeal | undefined {
  try {
    const file = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
    try {
      const { size } = fstatSync(file)
      const seal = Buffer.alloc(SEAL_BYTES)
      readSync(file, seal, 0, SEAL_BYTES, Math.max(0, size - SEAL_BYTES))
      return decodeSeal(seal, size)
    } finally {
      closeSync(file)
    }
  } catch {
    // Whatever the error, the file is listed as not sealed. A restore reports the reason.
    return undefined
  }
}

async function readSeal(file: FileHandle): Promise<BackupSeal> {
  const { size } = await file.stat()
  const seal = Buffer.alloc(SEAL_BYTES)
  if (size >= SEAL_BYTES) await file.read(seal, 0, SEAL_BYTES, size - SEAL_BYTES)
  return decodeSeal(seal, size)
}

/** @param size of the file that ends with the seal @throws BackupError */
function decodeSeal(seal: Buffer, size: number): BackupSeal {
  if (size < SEAL_BYTES) throw new BackupError(`not a backup: ${size} bytes`)
  if (!seal.subarray(0, MAGIC.length).equals(MAGIC)) throw new BackupError('not a backup, or cut off: its seal is missing')
  if (seal.readUInt32LE(8) !== crc32c(seal.subarray(12))) throw new BackupError('damaged: checksum of the seal')
  const version = seal.readUInt32LE(12)
  if (version !== VERSION) throw new BackupError(`of version ${version}; this server reads version ${VERSION}`)
  const dataBytes = Number(seal.readBigUInt64LE(16))
  if (dataBytes !== size - SEAL_BYTES) throw new BackupError(`damaged: ${size - SEAL_BYTES} bytes, ${dataBytes} expected`)
  return {
    dataBytes,
    dataCrc: seal.readUInt32LE(24),
    epoch: seal.subarray(32, 48),
    lastLsn: seal.readBigUInt64LE(48),
    createdAt: seal.readDoubleLE(56),
  }
}

function encodeSeal({ dataBytes, dataCrc, epoch, lastLsn, createdAt }: BackupSeal): Buffer {
  const seal = Buffer.alloc(SEAL_BYTES)
  MAGIC.copy(seal)
  seal.writeUInt32LE(VERSION, 12)
  seal.writeBigUInt64LE(BigInt(dataBytes), 16)
  seal.writeUInt32LE(dataCrc, 24)
  epoch.copy(seal, 32, 0, 16)
  seal.writeBigUInt64LE(lastLsn, 48)
  seal.writeDoubleLE(createdAt, 56)
  seal.writeUInt32LE(crc32c(seal.subarray(12)), 8)
  return seal
}

/** @returns CRC32C over all pieces */
async function forEachPiece(file: FileHandle, bytes: number, take: (piece: Buffer, at: number) => Promise<void>): Promise<number> {
  const space = Buffer.allocUnsafe(Math.min(BACKUP_PIECE_BYTES, bytes))
  let crc = 0
  for (let at = 0; at < bytes;) {
    const { bytesRead } = await file.read(space, 0, Math.min(space.length, bytes - at), at)
    if (bytesRead === 0) throw new BackupError(`damaged: ends at ${at} of ${bytes} bytes`)
    const piece = space.subarray(0, bytesRead)
    crc = crc32c(piece, crc)
    await take(piece, at)
    at += bytesRead
  }
  return crc
}
