/**
 * Converts profiles of V8 to the format of pprof (profile.proto, compressed). Pure. Runs in the profiled
 * thread, after the profile.
 */
import type { HeapProfiler, Profiler, Runtime } from 'node:inspector'
import { gzipSync } from 'node:zlib'
import { Function as NamedFunction, Line, Location, Profile, Sample, StringTable, ValueType } from 'pprof-format'
import { PROFILE_HEAP_SAMPLE_BYTES, PROFILE_SAMPLE_US } from '../limits/process.js'

/** Frames that V8 adds: they are no work of the thread. */
const ROOT = '(root)'
const IDLE = '(idle)'

/** @param timeMs wall clock of the start */
export function cpuToPprof(profile: Profiler.Profile, timeMs: number): Uint8Array {
  const builder = new ProfileBuilder()
  const sums = new Map<number, { samples: number; microseconds: number }>()
  for (const [at, id] of (profile.samples ?? []).entries()) {
    const sum = sums.get(id) ?? { samples: 0, microseconds: 0 }
    sum.samples += 1
    sum.microseconds += Math.max(0, profile.timeDeltas?.[at] ?? 0)
    sums.set(id, sum)
  }
  const nodes = new Map(profile.nodes.map((node) => [node.id, node]))
  const parents = new Map(profile.nodes.flatMap(({ id, children = [] }) => children.map((child) => [child, id] as const)))
  for (const [id, { samples, microseconds }] of sums) {
    const stack: Runtime.CallFrame[] = []
    for (let at: number | undefined = id; at !== undefined; at = parents.get(at)) {
      const node = nodes.get(at)
      if (node !== undefined) stack.push(node.callFrame)
    }
    builder.add(stack, [samples, microseconds * 1000])
  }
  return builder.finish({
    types: [['samples', 'count'], ['cpu', 'nanoseconds']],
    period: [['cpu', 'nanoseconds'], PROFILE_SAMPLE_US * 1000],
    timeMs,
    durationMs: (profile.endTime - profile.startTime) / 1000,
  }) // prettier-ignore
}

/** @param timeMs wall clock */
export function heapToPprof({ head }: HeapProfiler.SamplingHeapProfile, timeMs: number): Uint8Array {
  const builder = new ProfileBuilder()
  const open: { readonly node: HeapProfiler.SamplingHeapProfileNode; readonly stack: readonly Runtime.CallFrame[] }[] = [
    { node: head, stack: [head.callFrame] },
  ]
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { node, stack } = next
    if (node.selfSize > 0) builder.add(stack, [node.selfSize])
    for (const child of node.children) open.push({ node: child, stack: [child.callFrame, ...stack] })
  }
  return builder.finish({
    types: [['inuse_space', 'bytes']],
    period: [['space', 'bytes'], PROFILE_HEAP_SAMPLE_BYTES],
    timeMs,
    durationMs: 0,
  })
}

type TypeAndUnit = readonly [type: string, unit: string]

interface ProfileFacts {
  readonly types: readonly TypeAndUnit[]
  readonly period: readonly [TypeAndUnit, number]
  readonly timeMs: number
  readonly durationMs: number
}

class ProfileBuilder {
  readonly #strings = new StringTable()
  readonly #functions = new Map<string, NamedFunction>()
  readonly #locations = new Map<string, Location>()
  readonly #samples: Sample[] = []

  /** @param stack the running function first */
  add(stack: readonly Runtime.CallFrame[], value: readonly number[]): void {
    const frames = stack.filter(({ functionName }) => functionName !== ROOT)
    if (frames.length === 0 || frames[0]?.functionName === IDLE) return
    this.#samples.push(new Sample({ locationId: frames.map((frame) => this.#locationOf(frame)), value: [...value] }))
  }

  finish({ types, period: [periodType, period], timeMs, durationMs }: ProfileFacts): Uint8Array {
    const typeOf = ([type, unit]: TypeAndUnit): ValueType =>
      new ValueType({ type: this.#strings.dedup(type), unit: this.#strings.dedup(unit) })
    const profile = new Profile({
      sampleType: types.map(typeOf),
      sample: this.#samples,
      location: [...this.#locations.values()],
      function: [...this.#functions.values()],
      stringTable: this.#strings,
      timeNanos: BigInt(Math.round(timeMs)) * 1_000_000n,
      durationNanos: Math.round(durationMs * 1e6),
      periodType: typeOf(periodType),
      period,
    })
    return gzipSync(profile.encode())
  }

  #locationOf(frame: Runtime.CallFrame): number {
    const line = frame.lineNumber + 1
    const functionId = this.#functionOf(frame)
    const key = `${functionId} ${line}`
    let location = this.#locations.get(key)
    if (location === undefined) {
      location = new Location({ id: this.#locations.size + 1, line: [new Line({ functionId, line })] })
      this.#locations.set(key, location)
    }
    return Number(location.id)
  }

  #functionOf({ functionName, scriptId, url }: Runtime.CallFrame): number {
    const key = `${functionName} ${scriptId} ${url}`
    let found = this.#functions.get(key)
    if (found === undefined) {
      const name = this.#strings.dedup(functionName === '' ? '(anonymous)' : functionName)
      found = new NamedFunction({ id: this.#functions.size + 1, name, systemName: name, filename: this.#strings.dedup(url) })
      this.#functions.set(key, found)
    }
    return Number(found.id)
  }
}
