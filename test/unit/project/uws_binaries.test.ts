/**
 * Which Nodes have a binary of uWebSockets.js, as the setup sees it (scripts/lib/uws.mjs), and what README,
 * package.json and the lock files say about it.
 */
import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { before, describe, it, type TestContext } from 'node:test'
import { pathToFileURL } from 'node:url'
import { projectFolder } from '../../../src/base/installation.js'

interface System {
  readonly platform: string
  readonly arch: string
  readonly node: string
  readonly abi: number
  readonly glibc: string | undefined
}

interface Uws {
  provideUws(root: string, install: () => Promise<void>, system?: System): Promise<string | null>
}

const ROOT = projectFolder()
const NODE_24: System = { platform: 'linux', arch: 'x64', node: '24.9.0', abi: 137, glibc: '2.41' }
const PACKED = ['node_modules', 'uWebSockets.js', 'dist', 'bin']
const BESIDE = ['build', 'uws', 'node_modules', '@btc-vision', 'uwebsockets.js']

describe('setup: binaries of uWebSockets.js', () => {
  let uws: Uws
  before(async () => (uws = (await import(pathToFileURL(join(ROOT, 'scripts', 'lib', 'uws.mjs')).href)) as Uws))

  /** A checkout with a package that has binaries for Node 18, 20 and 22 on two platforms. */
  function checkout(t: TestContext): string {
    const root = mkdtempSync(join(tmpdir(), 'mds-uws-'))
    t.after(() => rmSync(root, { recursive: true, force: true }))
    mkdirSync(join(root, ...PACKED), { recursive: true })
    for (const name of ['linux_x64_108', 'linux_x64_115', 'linux_x64_127', 'darwin_arm64_137'])
      writeFileSync(join(root, ...PACKED, `uws_${name}.node`), 'no binary')
    return root
  }

  const installing = (root: string, ...abis: readonly number[]): (() => Promise<void>) => {
    return async () => {
      mkdirSync(join(root, ...BESIDE), { recursive: true })
      for (const abi of abis) writeFileSync(join(root, ...BESIDE, `uws_linux_x64_${abi}.node`), 'no binary')
      await Promise.resolve()
    }
  }
  const never = (): Promise<void> => assert.fail('the second package was installed')

  it('this Node has one', async () => {
    assert.equal(await uws.provideUws(ROOT, never), null)
  })

  it('a Node that the first package has a binary for needs no second one', async (t) => {
    const root = checkout(t)
    assert.equal(await uws.provideUws(root, never, { ...NODE_24, node: '22.1.0', abi: 127, glibc: '2.31' }), null)
    assert.equal(await uws.provideUws(root, never, { ...NODE_24, platform: 'darwin', arch: 'arm64', glibc: undefined }), null)
  })

  it('a Node without any is refused in one line, with those that work by the names of the files', async (t) => {
    const root = checkout(t)
    const refused = await uws.provideUws(root, installing(root, 115, 127, 137, 141), { ...NODE_24, node: '26.1.0', abi: 147 })
    assert.equal(refused, 'Node 26.1.0 does not work here (linux-x64, glibc 2.41): uWebSockets.js has binaries for Node 20, 22, 24, 25.')
  })

  it('where the second package cannot load, it is not installed, and the refusal says what it needs', async (t) => {
    const root = checkout(t)
    assert.equal(
      await uws.provideUws(root, never, { ...NODE_24, glibc: '2.36' }),
      'Node 24.9.0 does not work here (linux-x64, glibc 2.36): uWebSockets.js has binaries for Node 20, 22; for some newer ones from glibc 2.38 on.',
    )
    assert.equal(
      await uws.provideUws(root, never, { ...NODE_24, glibc: undefined }),
      'Node 24.9.0 does not work here (linux-x64, no glibc): uWebSockets.js has binaries for Node 20, 22.',
    )
    assert.match((await uws.provideUws(root, never, { ...NODE_24, arch: 'riscv64', glibc: '2.3' })) ?? '', /has binaries for no Node/)
  })

  it('a binary that does not load is refused with the reason of the system', async (t) => {
    const root = checkout(t)
    const refused = (await uws.provideUws(root, installing(root, 137), NODE_24)) ?? ''
    assert.match(refused, /^Node 24\.9\.0 does not work here: \S+uws_linux_x64_137\.node does not load: .+$/)
  })

  it('the second package is locked: an exact version with its integrity, and no address', () => {
    const manifest = JSON.parse(readFileSync(join(ROOT, 'scripts', 'uws', 'package.json'), 'utf8')) as {
      dependencies: Record<string, string>
    }
    const lock = readFileSync(join(ROOT, 'scripts', 'uws', 'package-lock.json'), 'utf8')
    const { packages } = JSON.parse(lock) as { packages: Record<string, { version?: string; integrity?: string }> }
    const locked = packages['node_modules/@btc-vision/uwebsockets.js']
    assert.deepEqual([Object.keys(packages).length, locked?.version], [2, manifest.dependencies['@btc-vision/uwebsockets.js']])
    assert.match(locked?.version ?? '', /^\d+\.\d+\.\d+$/)
    assert.match(locked?.integrity ?? '', /^sha512-[A-Za-z0-9+/]{86}==$/)
    assert.ok(!lock.includes('://'))
  })

  it('package.json names the Nodes that work: those of the first package, and those that the second one adds', () => {
    const { engines } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { engines: { node: string } }
    assert.equal(engines.node, '>=20.15 <21 || 22 || 24 || 25')
  })
})
