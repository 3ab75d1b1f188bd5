/** Profiles of the threads of a server: /debug/pprof with SVC_PPROF_ENABLED. http.md, section 8. */
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { gunzipSync } from 'node:zlib'
import { Profile } from 'pprof-format'
import { betweenPolls, untilAsked } from '../../harness/process/until.js'
import { type Server, startServer, type TestResponse } from '../../harness/server/server.js'
import { sharedServer } from '../../harness/server/shared_server.js'

const TYPES = { cpu: ['samples/count', 'cpu/nanoseconds'], heap: ['inuse_space/bytes'] } as const

function decode({ body }: TestResponse): Profile {
  return Profile.decode(gunzipSync(body))
}

function typesOf({ sampleType, stringTable }: Profile): string[] {
  return sampleType.map(({ type, unit }) => `${stringTable.strings[Number(type)]}/${stringTable.strings[Number(unit)]}`)
}

function namesOf({ function: functions, stringTable }: Profile): string[] {
  return functions.map(({ name }) => stringTable.strings[Number(name)] ?? '')
}

function sumOf({ sample }: Profile, at: number): number {
  return sample.reduce((sum, { value }) => sum + Number(value[at]), 0)
}

describe('profiles of threads', () => {
  let server: Server
  before(async () => {
    server = await startServer({ env: { SVC_PPROF_ENABLED: 'true', SVC_HTTP_LOOPS: '2', SVC_READ_LANES: '2' } })
    await server.post('/v1/add', { collection: 'blog', key: 'a', lang: 'en', contentMd: 'searchable words' })
  })
  after(() => server.stop())

  it('pprof: the index lists the main loop, every further HTTP loop and every lane', async () => {
    for (const path of ['/debug/pprof/', '/debug/pprof']) {
      const { threads, profiles } = (await server.get(path)).json<{ threads: string[]; profiles: { path: string }[] }>()
      assert.deepEqual(threads, ['http-1', 'main', 'read-1', 'read-2', 'write'])
      assert.deepEqual(profiles.map((each) => each.path), ['/debug/pprof/profile', '/debug/pprof/heap']) // prettier-ignore
    }
  })

  it('pprof: a CPU profile of each thread is a compressed profile.proto with the functions that ran', async () => {
    for (const thread of ['main', 'http-1', 'read-1', 'write']) {
      let isDone = false
      const profiled = server.get(`/debug/pprof/profile?seconds=1&thread=${thread}`).finally(() => (isDone = true))
      for (let rounds = 1; !isDone; rounds++) {
        const word = { collection: 'blog', query: 'words' }
        await Promise.all(Array.from({ length: 8 }, (_, i) => server.post(i === 0 ? '/v1/add' : '/v1/fts', i === 0 ? ADDED : word)))
        await betweenPolls(rounds)
      }
      const answer = await profiled
      assert.equal(answer.status, 200, answer.text)
      assert.equal(answer.headers['content-disposition'], `attachment; filename="cpu-${thread}.pb.gz"`)
      const profile = decode(answer)
      assert.deepEqual(typesOf(profile), TYPES.cpu)
      assert.ok(sumOf(profile, 1) > 0 && sumOf(profile, 1) < 2e9, `${thread}: ${sumOf(profile, 1)} ns`)
      assert.ok(Number(profile.durationNanos) >= 1e9, `${thread} took ${profile.durationNanos}`)
      // What a lane does under load, by the names of its code.
      if (thread === 'read-1') assert.ok(namesOf(profile).includes('#runReads'), namesOf(profile).join())
      const known = new Set(profile.location.map(({ id }) => Number(id)))
      for (const { locationId } of profile.sample) for (const id of locationId) assert.ok(known.has(Number(id)))
    }
  })

  it('pprof: a heap profile shows what each thread has in use, and format=v8 gives the JSON of V8', async () => {
    const searches = Array.from({ length: 500 }, () => server.post('/v1/fts', { collection: 'blog', query: 'words' }))
    await Promise.all(searches)
    let used = 0
    for (const thread of ['main', 'http-1', 'read-2', 'write']) {
      const profile = decode(await server.get(`/debug/pprof/heap?thread=${thread}`))
      assert.deepEqual(typesOf(profile), TYPES.heap)
      used += sumOf(profile, 0)
      const v8 = await server.get(`/debug/pprof/heap?thread=${thread}&format=v8`)
      assert.equal(v8.headers['content-type'], 'application/json; charset=utf-8')
      assert.ok('head' in v8.json())
    }
    assert.ok(used > 100_000, `${used} bytes`)
    const cpu = (await server.get('/debug/pprof/profile?seconds=1&format=v8')).json<{ nodes: unknown[]; samples: number[] }>()
    assert.ok(cpu.nodes.length > 0 && cpu.samples.length > 100)
  })

  it('pprof: one profile at a time; a second one is answered 503, and the first is complete', async () => {
    const both = await Promise.all([
      server.get('/debug/pprof/profile?seconds=1'),
      server.get('/debug/pprof/profile?seconds=1&thread=write'),
    ])
    const [made, refused] = both.sort((one, other) => one.status - other.status)
    assert.equal(made?.status, 200)
    assert.equal(`${refused?.status} ${refused?.text}`, '503 {"error":"a profile is under way, please retry"}')
    assert.equal((await server.get('/debug/pprof/heap')).status, 200)
  })

  it('pprof: a thread that is not there is 404; a duration or format out of bounds is 400', async () => {
    const cases = [
      ['heap?thread=none', 404, 'no such thread'],
      ['profile?seconds=0', 400, 'invalid seconds: must be from 1 to 60'],
      ['profile?seconds=61', 400, 'invalid seconds: must be from 1 to 60'],
      ['profile?seconds=1&format=svg', 400, 'invalid format'],
    ] as const
    for (const [path, status, text] of cases) {
      const answer = await server.get(`/debug/pprof/${path}`)
      assert.equal(answer.status, status, path)
      assert.ok(answer.text.includes(text), answer.text)
    }
  })

  it('pprof: without SVC_PPROF_ENABLED there is no route', async () => {
    const other = await sharedServer()
    for (const path of ['/debug/pprof/', '/debug/pprof/profile', '/debug/pprof/heap']) assert.equal((await other.get(path)).status, 404)
    assert.ok(!(await other.get('/v1/endpoints')).text.includes('pprof'))
    await other.stop()
  })

  it('pprof: a shutdown does not wait for a profile', async () => {
    const other = await startServer({ env: { SVC_PPROF_ENABLED: 'true' } })
    const begin = (): Promise<TestResponse | Error> => {
      isRefused = false
      return other.get('/debug/pprof/profile?seconds=60').then(
        (answer) => {
          isRefused = true
          return answer
        },
        (error: unknown) => error as Error,
      )
    }
    let isRefused = false
    let profiled = begin()
    // A heap profile is refused while the other one is under way. It may have come first, and refused that.
    await untilAsked(
      () => {
        if (isRefused) profiled = begin()
        return other.get('/debug/pprof/heap')
      },
      ({ status }) => status === 503,
    )
    const begunAt = performance.now()
    assert.equal(await other.stop(), 0)
    assert.ok(performance.now() - begunAt < 10_000)
    const answer = await profiled
    if (!(answer instanceof Error)) assert.equal(answer.status, 503)
  })
})

const ADDED = { collection: 'blog', key: 'b', lang: 'en', contentMd: 'more words' }
