/** The share of the machine that a container has, from the files in which Linux shows it. */
import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, it } from 'node:test'
import { readShare, usableCpus } from '../../../src/system/cgroup.js'

describe('limits of a container', () => {
  const directory = mkdtempSync(join(tmpdir(), 'mds-cgroup-'))
  after(() => rmSync(directory, { recursive: true }))
  let made = 0

  /** @param files by path below the root of the groups */
  function share(group: string, files: Readonly<Record<string, string>>): ReturnType<typeof readShare> {
    const root = join(directory, String(made++))
    for (const [path, text] of Object.entries(files)) {
      mkdirSync(join(root, path, '..'), { recursive: true })
      writeFileSync(join(root, path), text)
    }
    writeFileSync(join(directory, 'group'), group)
    return readShare(join(directory, 'group'), root)
  }

  it('cgroup: memory and cores are those of the narrowest group above the process', () => {
    const found = share('0::/system.slice/mds.service\n', {
      'memory.max': '8589934592\n',
      'memory.current': '6000\n',
      'system.slice/memory.max': '1073741824\n',
      'system.slice/memory.current': '5000\n',
      'system.slice/mds.service/memory.max': 'max\n',
      'system.slice/mds.service/memory.current': '4000\n',
      'system.slice/mds.service/cpu.max': '150000 100000\n',
      'system.slice/cpu.max': 'max 100000\n',
    })
    assert.deepEqual(found, { memoryMax: 1_073_741_824, memoryUsed: 5000, cpus: 1.5 })
    assert.equal(usableCpus(found), Math.min(2, availableParallelism()))
  })

  it('cgroup: in a container, the group is the root, wherever the process seems to be', () => {
    const found = share('0::/../../outside\n', { 'memory.max': '4096', 'memory.current': '1024', 'cpu.max': '50000 100000' })
    assert.deepEqual(found, { memoryMax: 4096, memoryUsed: 1024, cpus: 0.5 })
    assert.equal(usableCpus(found), 1)
  })

  it('cgroup: without limits, or without version 2, the machine itself counts', () => {
    for (const group of ['0::/\n', '4:memory:/docker/a\n', '']) {
      const found = share(group, { 'cpu.max': 'max 100000', 'memory.max': 'max' })
      assert.deepEqual(found, { memoryMax: Infinity, memoryUsed: 0, cpus: Infinity })
      assert.equal(usableCpus(found), availableParallelism())
    }
  })
})
