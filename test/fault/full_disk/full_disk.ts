/**
 * What the tests of a full disk share: a server on a separate small file system that another process fills to
 * the last byte, and the requests that are repeated until they are answered as wanted.
 */
import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { SmallDisk } from '../../harness/process/small_disk.js'
import { untilAsked } from '../../harness/process/until.js'
import type { Random } from '../../harness/random.js'
import { type Server, type ServerOptions, startServer, type TestResponse } from '../../harness/server/server.js'

export const REFUSED = '{"error":"disk full, writes are refused until there is space"}'
export const document = (key: string, collection = 'full'): Record<string, string> => ({
  collection,
  key,
  lang: 'en',
  contentMd: `text of ${key} `.repeat(200),
})

/** Returns about the given number of bytes of incompressible words. */
export function wordsOf(random: Random, bytes: number): string {
  return Array.from({ length: bytes / 12 }, () => random.next().toString(36).slice(2)).join(' ')
}

/** Repeats the request until the answer is as wanted. */
export function until(ask: () => Promise<TestResponse>, isWanted: (answer: TestResponse) => boolean): Promise<TestResponse> {
  const asked = (): Promise<TestResponse | undefined> => ask().catch(() => undefined)
  return untilAsked(asked, (answer) => answer !== undefined && isWanted(answer)) as Promise<TestResponse>
}

export const isStatus =
  (status: number) =>
  (answer: TestResponse): boolean =>
    answer.status === status

/**
 * Waits until a quarter of the floor is written to RESERVE, half a second after the start. A disk that is
 * filled before that has no space for deletes.
 */
export async function untilReserved(disk: SmallDisk, floorBytes: number): Promise<void> {
  await untilAsked(
    () => stat(join(disk.path, 'db', 'RESERVE')).catch(() => undefined),
    (reserve) => reserve?.size === floorBytes / 4,
  )
}

export const NOT_MOUNTED = 'NOT TESTED: a file system of its own takes the right to mount'

/**
 * A server on a separate small file system; both are removed after the test. Undefined without the privilege
 * to mount; the test is then skipped.
 */
export async function startOnDisk(
  test: TestContext,
  megabytes: number,
  options: Omit<ServerOptions, 'directory'> | ((path: string) => Omit<ServerOptions, 'directory'>),
): Promise<{ readonly disk: SmallDisk; readonly server: Server } | undefined> {
  const disk = SmallDisk.mount(megabytes)
  if (disk === undefined) {
    test.skip(NOT_MOUNTED)
    return undefined
  }
  try {
    const server = await startServer({
      ...(typeof options === 'function' ? options(disk.path) : options),
      directory: join(disk.path, 'db'),
    })
    test.after(async () => {
      await server.kill()
      disk.unmount()
    })
    return { disk, server }
  } catch (error) {
    disk.unmount()
    throw error
  }
}
