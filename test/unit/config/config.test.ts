/** Configuration: the sources of values, refused values, and warnings. */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, it } from 'node:test'
import { ConfigError, helpText, loadConfig } from '../../../src/config/config.js'
import { OPTIONS } from '../../../src/config/options/options.js'
import { HTTP_LOOPS_MAX } from '../../../src/limits/surfaces.js'

const AUTH_SECRETS = { SVC_AUTH_JWT_SECRET: 'of a test', SVC_AUTH_ADMIN_PASSWORD: 'of a test, too' }

const directory = mkdtempSync(join(tmpdir(), 'mds-config-'))
after(() => rmSync(directory, { recursive: true }))

function yamlFile(text: string): string {
  const path = join(directory, `${Math.random().toString(36).slice(2)}.yaml`)
  writeFileSync(path, text)
  return path
}

function refused(argv: readonly string[], env: NodeJS.ProcessEnv, pattern: RegExp): void {
  assert.throws(
    () => loadConfig(argv, env),
    (error) => error instanceof ConfigError && pattern.test(error.message) && !error.message.includes('\n'),
  )
}

describe('where a configuration value comes from', () => {
  it('configuration: without any source the defaults of the contract hold', () => {
    const config = loadConfig([], {})
    assert.equal(config.path, 'mddb.db')
    assert.equal(config.mode, 'wr')
    assert.equal(config.httpMode, 'wr')
    assert.deepEqual(config.httpAddr, { kind: 'tcp', host: '', port: 11023 })
    assert.equal(config.ftsStemming, true)
    assert.equal(config.ftsDefaultLang, 'en')
    assert.equal(config.ftsSynonyms, true)
    assert.equal(config.compressionEnabled, true)
    assert.equal(config.compressionSmallBytes, 1024)
    assert.equal(config.compressionMediumBytes, 10_240)
    assert.equal(config.metrics, true)
    assert.equal(config.bodyBytesMax, 33_554_432)
    assert.deepEqual(config.corsOrigins, ['*'])
    assert.deepEqual([config.spell, config.temporal, config.production, config.outboundAllowPrivate], [false, false, false, false])
    assert.deepEqual([config.searchCacheSize, config.searchesMax, config.searchQueueMsMax, config.shutdownSecondsMax], [500, 0, 2000, 15])
    assert.deepEqual([config.embedding, config.embeddingQueueSize, config.embeddingQueueWaitMs], [null, 1000, 5000])
    assert.deepEqual([config.embeddingChunkEnabled, config.embeddingChunkMode, config.embeddingChunkSize], [true, undefined, 1500])
    assert.deepEqual([config.embeddingCacheSize, config.embeddingCacheMsMax], [1024, 3_600_000])
    assert.equal(config.vectorDefaultAlgorithm, 'flat')
    assert.equal(config.encryption, null)
    assert.deepEqual(config.warnings, [])
  })

  it('configuration: a flag wins over the environment, the environment over YAML, YAML over the default', () => {
    const file = yamlFile('database:\n  path: from-yaml\n  mode: read\nfts:\n  stemmingEnabled: false\n')
    const env = { SVC_CONFIG: file, SVC_MODE: 'write' }
    const config = loadConfig(['--mode', 'wr'], env)
    assert.equal(config.mode, 'wr')
    assert.equal(loadConfig([], env).mode, 'write')
    assert.equal(loadConfig([], { SVC_CONFIG: file }).mode, 'read')
    assert.equal(config.path, 'from-yaml')
    assert.equal(config.ftsStemming, false)
    assert.equal(config.ftsSynonyms, true)
  })

  it('configuration: an alias in the file has the value of its anchor; one within its own anchor is refused', () => {
    const file = yamlFile('x-shared: &mode read\nx-all: &all { path: by-alias, mode: *mode }\ndatabase: *all\nhttp: { addr: ":1" }\n')
    const { path, mode, warnings } = loadConfig(['-c', file], {})
    assert.deepEqual([path, mode, warnings], ['by-alias', 'read', []])
    refused(['-c', yamlFile('database: &a { path: x, b: *a }')], {}, /database\.b in the configuration file contains itself/)
  })

  it('configuration: the file named by --config wins over SVC_CONFIG', () => {
    const named = yamlFile('path: named-by-flag')
    assert.equal(loadConfig(['--config', named], { SVC_CONFIG: join(directory, 'absent.yaml') }).path, 'named-by-flag')
    assert.equal(loadConfig(['-c', named], {}).path, 'named-by-flag')
    assert.equal(loadConfig([`--config=${named}`], {}).path, 'named-by-flag')
  })

  it('configuration: every variable of every option is read', () => {
    const samples: Readonly<Record<string, string>> = {
      path: 'some-directory', mode: 'read', httpModeOverride: 'read', httpEnabled: 'true', httpAddr: '127.0.0.1:7', corsOrigins: 'https://a.example', allowedHosts: 'a.example', trustedProxies: '10.0.0.1', bodyBytesMax: '64KB', ftsStemming: 'false',
      ftsDefaultLang: 'de', ftsSynonyms: 'false', spell: 'true', temporal: 'true', searchQueueMsMax: '77', searchCacheSize: '7', searchesMax: '7', compressionEnabled: 'false', compressionSmallBytes: '7', compressionMediumBytes: '2000',
      durability: 'async', backupDirectory: 'some-backups', binlogBytesMax: '7MB', metrics: 'false', readLanes: '7', httpLoops: '7', shutdownSecondsMax: '7', drainMs: '7', supervisor: 'false', supervisorRestartsMax: '7', diskReserveBytes: '7MB',
      panelMode: 'external', metricsPublic: 'false', metricsDetail: 'true', searchStats: 'false', memoryShared: 'true', pprofEnabled: 'true', updateUrl: 'https://a.example', updateCheck: '0', configLenient: 'true',
      production: 'false', loadtestConstantBytes: '7', outboundAllowlist: 'a.internal:7', outboundAllowPrivate: 'true', httpPoolIdleMax: '7', httpPoolPerHost: '7', httpPoolIdleMs: '7', webhookBacklogMax: '7', objectRetentionSeconds: '60',
      rateLimitEnabled: 'true', rateLimitRequests: '7', rateLimitBurst: '7', rateLimitWindowMs: '7', rateLimitBy: 'user', connectionsOfAddressMax: '7', sseEnabled: 'false', sseClientsMax: '7', sseClientsOfAddressMax: '7', wikiPagesMax: '7', wikiBytesMax: '2048', incidentAuthThreshold: '7', incidentAuthWindowSeconds: '7', incidentAuthCooldownSeconds: '7',
      embeddingProvider: 'ollama', embeddingModel: 'a-model', embeddingDimensions: '7', embeddingApiUrl: 'https://a.example', embeddingAutodetect: '0', embeddingQueueSize: '7',
      embeddingQueueWaitMs: '1m30s', embeddingChunkMode: 'code', embeddingChunkEnabled: 'false', embeddingChunkSize: '700', embeddingCacheSize: '7', embeddingCacheMsMax: '7m',
      auditEnabled: 'true', auditDirectory: '/log', auditRingSize: '7', auditFileBytesMax: '7MB', auditRetentionDays: '7', auditBytesMax: '7MB', auditStrict: 'true', auditWebhookUrl: 'http://a/b',
      auditWebhookInsecureTls: 'true', auditSyslogAddr: 'tcp://a:7', auditSyslogFacility: 'local7', auditExportQueueMax: '7',
      logFormat: 'json', logLevel: 'debug', accessLog: 'true', logSlowMs: '7', vectorDefaultAlgorithm: 'hnsw', vectorBqRerankFactor: '7', vectorParallelWorkers: '7', vectorParallelMinSize: '7',
      tlsEnabled: 'true', tlsCert: 'a.pem', tlsKey: 'a.key', tlsClientCa: 'ca.pem', tlsClientAuth: 'request', tlsInsecureOk: 'true',
      authEnabled: 'true', authJwtExpiryMs: '7h', authAdminUsername: 'root',
      grpcEnabled: 'false', grpcAddrGiven: '127.0.0.1:7', grpcModeOverride: 'read', graphqlEnabled: 'false', graphqlPlaygroundGiven: 'false',
      mcpEnabled: 'false', mcpAddrGiven: 'unix:/run/mcp', mcpModeOverride: 'write', mcpStdio: 'false', mcpDomain: 'a.example', mcpConfigFile: 'tools.yaml', mcpBuiltinTools: 'false',
      mcpServerName: 'a', mcpServerDescription: 'b', mcpServerVendor: 'c', mcpServerHomepage: 'https://a.example', mcpInstructions: 'd', mcpApiKeyEnabled: 'true', mcpApiKeyCacheMs: '7s',
      mcpRateLimitEnabled: 'true', mcpRateLimitRequests: '7', mcpRateLimitWindowMs: '7', mcpRateLimitBurst: '7', mcpRateLimitBy: 'session', mcpLoggingEnabled: 'true', mcpLoggingLevel: 'warn',
      mcpProtocolVersion: '2025-11-25',
    } // prettier-ignore
    assert.deepEqual(Object.keys(samples).sort(), Object.keys(OPTIONS).sort(), 'every option has a sample')
    for (const [name, option] of Object.entries(OPTIONS)) {
      const sample = samples[name] ?? ''
      const field = name.replace(/(Mode)Override$|(Addr|Playground)Given$/, '$1$2') as 'path'
      const expected: unknown = option.parse(sample)
      for (const variable of option.variables)
        assert.deepEqual(loadConfig([], { ...AUTH_SECRETS, [variable]: sample })[field], expected, variable)
      for (const key of option.yaml) {
        const yaml = key.split('.').reduceRight<string>((inner, part) => `{ ${JSON.stringify(part)}: ${inner} }`, JSON.stringify(sample))
        // The file has certificates only beside a switch that is on.
        const env = { ...AUTH_SECRETS, ...(name === 'tlsEnabled' ? {} : { SVC_TLS_ENABLED: 'true' }) }
        assert.deepEqual(loadConfig(['--config', yamlFile(yaml)], env)[field], expected, key)
      }
      assert.deepEqual(loadConfig([`--${option.flag}=${sample}`], AUTH_SECRETS)[field], expected, option.flag)
    }
  })

  it('configuration: the number of HTTP loops is that of the option, or half of the cores; a unix socket has one', () => {
    const byCores = Math.max(1, Math.min(HTTP_LOOPS_MAX, Math.floor(availableParallelism() / 2)))
    assert.equal(loadConfig([], {}).httpLoops, byCores)
    assert.equal(loadConfig(['--http-loops', '0'], {}).httpLoops, byCores)
    assert.equal(loadConfig(['--http-loops', '3'], {}).httpLoops, 3)
    assert.equal(loadConfig(['--http-addr', 'unix:/tmp/a-socket', '--http-loops', '3'], {}).httpLoops, 1)
    for (const value of ['17', '-1', 'two', '1.5'])
      assert.throws(() => loadConfig([], { SVC_HTTP_LOOPS: value }), new RegExp(`SVC_HTTP_LOOPS.*${value}|${value}.*SVC_HTTP_LOOPS`), value)
  })

  it('configuration: an empty variable counts as unset', () => {
    assert.equal(loadConfig([], { SVC_MODE: '', SVC_PATH: '', SVC_CONFIG: '' }).mode, 'wr')
  })

  it('configuration: the mode of HTTP inherits SVC_MODE unless SVC_API_MODE or SVC_HTTP_MODE says otherwise', () => {
    assert.equal(loadConfig([], { SVC_MODE: 'read' }).httpMode, 'read')
    assert.equal(loadConfig([], { SVC_MODE: 'read', SVC_API_MODE: 'wr' }).httpMode, 'wr')
    assert.equal(loadConfig([], { SVC_HTTP_MODE: 'read' }).httpMode, 'read')
  })

  it('configuration: an address may be :port, port, host:port, [v6]:port or unix:/path', () => {
    const parsed = (text: string): unknown => loadConfig([], { SVC_ADDR: text }).httpAddr
    assert.deepEqual(parsed(':8080'), { kind: 'tcp', host: '', port: 8080 })
    assert.deepEqual(parsed('8080'), { kind: 'tcp', host: '', port: 8080 })
    assert.deepEqual(parsed('127.0.0.1:0'), { kind: 'tcp', host: '127.0.0.1', port: 0 })
    assert.deepEqual(parsed('[::1]:8080'), { kind: 'tcp', host: '::1', port: 8080 })
    assert.deepEqual(parsed('unix:/run/mds.sock'), { kind: 'unix', path: '/run/mds.sock' })
    for (const wrong of ['8080:', ':65536', '::1:80', 'a b:1', 'unix:relative', 'http://x:1', ':-1'])
      refused([], { SVC_ADDR: wrong }, /^SVC_ADDR: /)
  })

  it('configuration: flags take their value after a space or an equals sign, and boolean ones none', () => {
    assert.equal(loadConfig(['--db=a'], {}).path, 'a')
    assert.equal(loadConfig(['--db', 'a', '--db', 'b'], {}).path, 'b')
    assert.equal(loadConfig(['--no-supervisor'], {}).supervisor, false)
    assert.equal(loadConfig(['--supervisor', '--db', 'x'], { SVC_SUPERVISOR: 'false' }).supervisor, true)
    assert.equal(loadConfig(['--metrics', 'false', '--db', 'x'], {}).metrics, false)
  })

  it('configuration: sizes take units in powers of 1 024', () => {
    assert.equal(loadConfig([], { SVC_BINLOG_MAX_SIZE: '256MB' }).binlogBytesMax, 268_435_456)
    assert.equal(loadConfig([], { SVC_BINLOG_MAX_SIZE: '1GiB' }).binlogBytesMax, 1_073_741_824)
    assert.equal(loadConfig([], { SVC_BINLOG_MAX_SIZE: '2097152' }).binlogBytesMax, 2_097_152)
  })
})

describe('what is refused', () => {
  it('configuration: SVC_OUTBOUND_ALLOWLIST is a list of destinations, SVC_OUTBOUND_ALLOW_PRIVATE is off', () => {
    const config = loadConfig([], { SVC_OUTBOUND_ALLOWLIST: 'a.internal:7, 10.0.0.0/8' })
    assert.deepEqual(config.outboundAllowlist, [
      { kind: 'name', name: 'a.internal', below: false, port: 7 },
      { kind: 'network', network: '10.0.0.0', bits: 8, port: null },
    ])
    assert.deepEqual([loadConfig([], {}).outboundAllowlist, loadConfig([], {}).outboundAllowPrivate], [[], false])
    refused([], { SVC_OUTBOUND_ALLOWLIST: 'http://a.internal' }, /^SVC_OUTBOUND_ALLOWLIST: names, /)
    refused([], { SVC_OUTBOUND_ALLOWLIST: Array.from({ length: 257 }, (_, i) => `h${i}`).join(',') }, /at most 256 destinations/)
  })

  it('configuration: a bad value is refused in one line that names option and source', () => {
    refused(['--mode', 'rw'], {}, /^--mode: one of read, write, wr expected, got "rw"$/)
    refused([], { SVC_MODE: 'rw' }, /^SVC_MODE: /)
    refused(['-c', yamlFile('database: { mode: rw }')], {}, /^database\.mode in the configuration file: /)
    refused([], { SVC_FTS_STEMMING: 'maybe' }, /^SVC_FTS_STEMMING: true or false expected/)
    refused([], { SVC_FTS_DEFAULT_LANG: 'tlh' }, /^SVC_FTS_DEFAULT_LANG: a language code such as en, /)
    refused([], { SVC_MAX_BODY_BYTES: '-1' }, /^SVC_MAX_BODY_BYTES: /)
    refused([], { SVC_MAX_BODY_BYTES: '10 bananas' }, /^SVC_MAX_BODY_BYTES: /)
    refused([], { SVC_SHUTDOWN_TIMEOUT_SEC: '1e3' }, /^SVC_SHUTDOWN_TIMEOUT_SEC: /)
    refused([], { SVC_COMPRESSION_SMALL_THRESHOLD: '20000' }, /SVC_COMPRESSION_MEDIUM_THRESHOLD/)
  })

  it('configuration: an unknown flag, a missing value and a stray word are refused', () => {
    refused(['--databse', 'x'], {}, /^unknown option --databse/)
    refused(['--db'], {}, /^--db needs a value$/)
    refused(['serve'], {}, /^unexpected argument "serve"/)
  })

  it('configuration: a file that is absent, too large, not YAML or an alias bomb is refused', () => {
    refused(['-c', join(directory, 'none.yaml')], {}, /none\.yaml can't be read: ENOENT/)
    refused(['-c', yamlFile('#'.repeat(300_000))], {}, /at most 262144 bytes/)
    refused(['-c', yamlFile('a: [')], {}, /\.yaml: /)
    const bomb = [
      'a: &a [x, x, x, x, x, x, x, x, x]',
      ...'bcdefgh'.split('').map(
        (name, at) =>
          `${name}: &${name} [${Array(9)
            .fill(`*${'abcdefg'[at] ?? 'a'}`)
            .join(', ')}]`,
      ),
    ]
    refused(['-c', yamlFile(bomb.join('\n'))], {}, /alias/i)
  })

  it('configuration: protection that was asked for and is not there stops the start', () => {
    refused([], { SVC_REPLICATION_ROLE: 'follower' }, /replication/)
    assert.equal(loadConfig([], { SVC_TLS_ENABLED: 'false' }).mode, 'wr')
  })

  it('configuration: access control needs a secret for tokens and a password for its administrator, which are not shown', () => {
    refused([], { SVC_AUTH_ENABLED: 'true' }, /^SVC_AUTH_ENABLED needs SVC_AUTH_JWT_SECRET and SVC_AUTH_ADMIN_PASSWORD$/)
    refused(['-c', yamlFile('auth: { enabled: true, jwtSecret: x }')], {}, /^SVC_AUTH_ENABLED needs SVC_AUTH_ADMIN_PASSWORD$/)
    const on = { SVC_AUTH_ENABLED: 'true', ...AUTH_SECRETS }
    refused([], { ...on, SVC_AUTH_ADMIN_PASSWORD: 'p'.repeat(73) }, /^SVC_AUTH_ADMIN_PASSWORD: at most 72 bytes/)
    refused([], { ...on, SVC_AUTH_ADMIN_USERNAME: 'a\nb' }, /^SVC_AUTH_ADMIN_USERNAME: /)
    assert.deepEqual(loadConfig([], on).auth, {
      jwtSecret: AUTH_SECRETS.SVC_AUTH_JWT_SECRET,
      adminPassword: AUTH_SECRETS.SVC_AUTH_ADMIN_PASSWORD,
    })
    const file = yamlFile('a secret in a file\n')
    assert.equal(loadConfig([], { ...on, SVC_AUTH_JWT_SECRET: '', SVC_AUTH_JWT_SECRET_FILE: file }).auth?.jwtSecret, 'a secret in a file')
    refused([], { ...on, SVC_AUTH_JWT_SECRET: '', SVC_AUTH_JWT_SECRET_FILE: '/does/not/exist' }, /^SVC_AUTH_JWT_SECRET_FILE: .* ENOENT$/)
    assert.match(loadConfig([], on).warnings.join(), /SVC_AUTH_JWT_SECRET is short/)
    assert.deepEqual(loadConfig([], { ...on, SVC_AUTH_JWT_SECRET: 'x'.repeat(32) }).warnings, [])
    assert.match(loadConfig([], { ...on, SVC_AUTH_JWT_SECRET: ' '.repeat(64) }).warnings.join(), /SVC_AUTH_JWT_SECRET is short/)
    assert.equal(loadConfig([], AUTH_SECRETS).auth, null)
  })

  it('configuration: an invalid encryption key stops the start and is not shown', () => {
    const key = Buffer.alloc(32, 7).toString('base64')
    const withoutKey = (env: Record<string, string>, text: RegExp): void => {
      refused([], env, text)
      assert.throws(
        () => loadConfig([], env),
        (error: Error) => Object.values(env).every((value) => value.length < 8 || !error.message.includes(value)),
      )
    }
    withoutKey({ SVC_ENCRYPTION_KEY: 'QUFBQUFBQUFBQUFBQUFB' }, /^SVC_ENCRYPTION_KEY: base64 of 32 bytes expected, and this is of 15$/)
    withoutKey({ SVC_ENCRYPTION_KEY: 'secret: no base64' }, /^SVC_ENCRYPTION_KEY: base64 of 32 bytes expected, and this is not base64$/)
    withoutKey({ SVC_ENCRYPTION_KEY: key, SVC_ENCRYPTION_KEY_ID: '0' }, /^SVC_ENCRYPTION_KEY_ID: a whole number from 1 to 255 expected$/)
    withoutKey({ SVC_ENCRYPTION_KEY: key, SVC_ENCRYPTION_KEYS_PREVIOUS: `[{"id":1,"key":"${key}"}]` }, /key id 1 is named twice/)
    withoutKey(
      { SVC_ENCRYPTION_KEY: key, SVC_ENCRYPTION_KEYS_PREVIOUS: 'not even JSON' },
      /^SVC_ENCRYPTION_KEYS_PREVIOUS: a JSON list such as/,
    )
    withoutKey({ SVC_ENCRYPTION_KEY_ID: '2' }, /need SVC_ENCRYPTION_KEY$/)
    refused(['--encryption-key', key], {}, /unknown option/)
    const { encryption } = loadConfig([], {
      SVC_ENCRYPTION_KEY: key,
      SVC_ENCRYPTION_KEY_ID: '9',
      SVC_ENCRYPTION_KEYS_PREVIOUS: `[{"id":3,"key":"${key}"}]`,
    })
    assert.deepEqual([encryption?.primary.id, encryption?.primary.bytes.length, encryption?.previous.map(({ id }) => id)], [9, 32, [3]])
  })

  it('configuration: an embedding provider is refused where it is unknown, has no key, or could not work; the key is not shown', () => {
    const key = 'a-very-secret-key'
    const withKey = { SVC_EMBEDDING_API_KEY: key }
    refused([], { SVC_EMBEDDING_PROVIDER: 'acme' }, /^SVC_EMBEDDING_PROVIDER: one of none, openai, ollama, voyage, cohere, local expected/)
    for (const name of ['openai', 'voyage', 'cohere'])
      refused([], { SVC_EMBEDDING_PROVIDER: name }, new RegExp(`^SVC_EMBEDDING_PROVIDER=${name} needs SVC_EMBEDDING_API_KEY$`))
    const openai = { ...withKey, SVC_EMBEDDING_PROVIDER: 'openai' }
    refused([], { ...openai, SVC_EMBEDDING_API_URL: 'ftp://a.example' }, /^SVC_EMBEDDING_API_URL: must begin with http/)
    refused([], { ...openai, SVC_EMBEDDING_API_URL: 'https://user:word@a.example' }, /^SVC_EMBEDDING_API_URL: must not hold credentials$/)
    refused([], { SVC_EMBEDDING_API_URL: 'no address' }, /^SVC_EMBEDDING_API_URL: must be an address/)
    refused([], { ...openai, SVC_EMBEDDING_MODEL: 'two words' }, /^SVC_EMBEDDING_MODEL: must be a name/)
    refused([], { ...openai, SVC_EMBEDDING_DIMENSIONS: '100000' }, /^SVC_EMBEDDING_DIMENSIONS: a whole number/)
    refused([], { SVC_EMBEDDING_PROVIDER: 'local', SVC_EMBEDDING_MODEL: 'other' }, /^SVC_EMBEDDING_MODEL: must be static or minilm$/)
    refused([], { SVC_EMBEDDING_PROVIDER: 'local', SVC_EMBEDDING_DIMENSIONS: '3' }, /^SVC_EMBEDDING_DIMENSIONS: must be 256/)
    refused(['--embedding-api-key', key], {}, /unknown option/)
    assert.throws(
      () => loadConfig([], { ...openai, SVC_EMBEDDING_API_KEY: `${key}\r\nx` }),
      (error: Error) => /^SVC_EMBEDDING_API_KEY: must be at most/.test(error.message) && !error.message.includes(key),
    )
  })

  it('configuration: a provider has the defaults of its model, and its key from the environment or the file', () => {
    const of = (env: Record<string, string>): unknown => loadConfig([], env).embedding
    const key = { SVC_EMBEDDING_API_KEY: 'k' }
    const names = ['openai', 'ollama', 'voyage', 'cohere'] as const
    assert.deepEqual(names.map((name) => of({ ...key, SVC_EMBEDDING_PROVIDER: name })), [
      { provider: 'openai', model: 'text-embedding-3-small', dimensions: 1536, apiKey: 'k', apiUrl: 'https://api.openai.com/v1' },
      { provider: 'ollama', model: 'nomic-embed-text', dimensions: 768, apiKey: 'k', apiUrl: 'http://localhost:11434' },
      { provider: 'voyage', model: 'voyage-3', dimensions: 1024, apiKey: 'k', apiUrl: 'https://api.voyageai.com/v1' },
      { provider: 'cohere', model: 'embed-english-v3.0', dimensions: 1024, apiKey: 'k', apiUrl: 'https://api.cohere.ai/v1' },
    ]) // prettier-ignore
    assert.deepEqual([of({}), of({ SVC_EMBEDDING_PROVIDER: 'none', ...key })], [null, null])
    const small = of({ SVC_EMBEDDING_PROVIDER: 'ollama', SVC_EMBEDDING_MODEL: 'all-minilm', SVC_EMBEDDING_API_URL: 'http://10.1.2.3:9/' })
    assert.deepEqual(small, { provider: 'ollama', model: 'all-minilm', dimensions: 384, apiKey: '', apiUrl: 'http://10.1.2.3:9' })
    const file = yamlFile('embedding:\n  provider: openai\n  apiKey: from-file\n  dimensions: 256\n')
    const fromFile = loadConfig(['-c', file], {})
    assert.deepEqual([fromFile.embedding?.apiKey, fromFile.embedding?.dimensions, fromFile.warnings], ['from-file', 256, []])
    // A self-hosted server that speaks the protocol may not require a key.
    assert.ok(of({ SVC_EMBEDDING_PROVIDER: 'openai', SVC_EMBEDDING_API_URL: 'http://localhost:1234/v1' }))
  })

  it('configuration: the options of embeddings and vectors have the defaults of the contract, durations their units', () => {
    const config = loadConfig([], {})
    assert.deepEqual(
      [
        config.embeddingProvider,
        config.embeddingAutodetect,
        config.embeddingQueueSize,
        config.embeddingQueueWaitMs,
        config.embeddingChunkMode,
      ],
      [undefined, true, 1000, 5000, undefined],
    )
    assert.deepEqual(
      [config.embeddingChunkEnabled, config.embeddingChunkSize, config.embeddingCacheSize, config.embeddingCacheMsMax],
      [true, 1500, 1024, 3_600_000],
    )
    assert.deepEqual([config.vectorDefaultAlgorithm, config.vectorBqRerankFactor, config.vectorParallelMinSize], ['flat', 10, 2048])
    assert.equal(config.vectorParallelWorkers, Math.min(availableParallelism(), 16))
    const set = loadConfig([], {
      SVC_VECTOR_BQ_RERANK_FACTOR: '20',
      SVC_VECTOR_PARALLEL_MIN_SIZE: '100',
      SVC_VECTOR_PARALLEL_WORKERS: '1',
      SVC_EMBEDDING_CHUNK_MODE: 'code',
    })
    assert.deepEqual(
      [set.vectorBqRerankFactor, set.vectorParallelMinSize, set.vectorParallelWorkers, set.embeddingChunkMode],
      [20, 100, 1, 'code'],
    )
    const wait = (text: string): number => loadConfig([], { SVC_EMBEDDING_QUEUE_WAIT: text }).embeddingQueueWaitMs
    assert.deepEqual(['0', '0s', '250ms', '5s', '1.5s', '1m30s'].map(wait), [0, 0, 250, 5000, 1500, 90_000])
    for (const text of ['5', '-1s', 's', '1s1', '3h', '5 s'])
      refused([], { SVC_EMBEDDING_QUEUE_WAIT: text }, /^SVC_EMBEDDING_QUEUE_WAIT: a duration/)
    refused([], { SVC_EMBEDDING_CHUNK_MODE: 'both' }, /^SVC_EMBEDDING_CHUNK_MODE: one of code, prose expected/)
  })

  it('configuration: SVC_PRODUCTION=true does not start while a guard is missing, and names each', () => {
    refused(
      [],
      { SVC_PRODUCTION: 'true' },
      /SVC_AUTH_ENABLED.*SVC_AUTH_JWT_SECRET.*SVC_TLS_ENABLED.*SVC_CORS_ORIGINS.*SVC_AUDIT_ENABLED.*SVC_RATE_LIMIT_ENABLED/,
    )
  })

  it('configuration: other protocols take the host of HTTP and ports of their own', () => {
    const addresses = (env: NodeJS.ProcessEnv): unknown => {
      const { grpcAddr, mcpAddr } = loadConfig([], env)
      return [grpcAddr, mcpAddr]
    }
    const tcp = (host: string, port: number): object => ({ kind: 'tcp', host, port })
    assert.deepEqual(addresses({}), [tcp('', 11_024), tcp('', 9_000)])
    assert.deepEqual(addresses({ SVC_ADDR: '127.0.0.1:7' }), [tcp('127.0.0.1', 11_024), tcp('127.0.0.1', 9_000)])
    assert.deepEqual(addresses({ SVC_ADDR: '127.0.0.1:0' }), [tcp('127.0.0.1', 0), tcp('127.0.0.1', 0)])
    assert.deepEqual(addresses({ SVC_ADDR: 'unix:/run/mds' }), [tcp('127.0.0.1', 11_024), tcp('127.0.0.1', 9_000)])
    const given = loadConfig(['-c', yamlFile('grpc:\n  enabled: false\n  addr: 127.0.0.1:7\n')], {})
    assert.deepEqual([given.grpcEnabled, given.grpcAddr], [false, tcp('127.0.0.1', 7)])
    assert.deepEqual(addresses({ SVC_GRPC_PORT: '7', SVC_MCP_ADDR: 'unix:/run/mcp' }), [tcp('', 7), { kind: 'unix', path: '/run/mcp' }])
  })

  it('configuration: HTTP can not be switched off while nothing else is served', () => {
    const off = { SVC_HTTP_ENABLED: 'false', SVC_GRPC_ENABLED: 'false' }
    refused([], { ...off, SVC_MCP_ENABLED: 'false' }, /there is nothing to serve/)
    assert.equal(loadConfig([], off).httpEnabled, false)
  })
})

describe('what is warned of', () => {
  it('configuration: options of features to come give one warning line each', () => {
    const file = yamlFile('http3: { enabled: false }\nautomation: { logsTtl: 7d }\n')
    const { warnings } = loadConfig(['--http3-addr', ':1', '-c', file], { SVC_HTTP3_ADDR: ':1', OTHER: 'x' })
    assert.deepEqual(warnings, [
      '--http3-addr has no effect: its feature is not in this version',
      'SVC_HTTP3_ADDR has no effect: its feature is not in this version',
      'http3.enabled in the configuration file has no effect: its feature is not in this version',
      'automation.logsTtl in the configuration file has no effect: its feature is not in this version',
    ])
  })

  it('configuration: async durability is warned of', () => {
    assert.match(loadConfig([], { SVC_DURABILITY: 'async' }).warnings.join('\n'), /lose writes/)
  })
})

describe('what crosses threads', () => {
  it('configuration: a configuration is plain data that survives a structured clone', () => {
    const config = loadConfig(['--db', 'x'], {})
    assert.deepEqual(structuredClone(config), config)
  })

  it('configuration: a bound may be lowered by SVC_LIMIT_<NAME>, and never raised', () => {
    assert.equal(loadConfig([], { SVC_LIMIT_QUEUE_POINT_REQUESTS_MAX: '2' }).limits.QUEUE_POINT_REQUESTS_MAX, 2)
    refused([], { SVC_LIMIT_QUEUE_POINT_REQUESTS_MAX: '999999999' }, /^SVC_LIMIT_QUEUE_POINT_REQUESTS_MAX: /)
    assert.match(loadConfig([], { SVC_LIMIT_NONE: '2' }).warnings.join(''), /SVC_LIMIT_NONE is not a known variable/)
  })

  it('configuration: a lower cost of password hashes is a warning, and refused in production and below 4', () => {
    const env = { SVC_AUTH_ENABLED: 'true', ...AUTH_SECRETS, SVC_LIMIT_BCRYPT_COST: '4' }
    assert.match(loadConfig([], env).warnings.join(''), /SVC_LIMIT_BCRYPT_COST is lowered/)
    refused([], { ...env, SVC_LIMIT_BCRYPT_COST: '3' }, /^SVC_LIMIT_BCRYPT_COST: /)
    const production = {
      ...env, SVC_PRODUCTION: 'true', SVC_AUTH_JWT_SECRET: 'x'.repeat(32), SVC_TLS_INSECURE_OK: 'true', SVC_CORS_ORIGINS: 'https://a.example',
      SVC_AUDIT_ENABLED: 'true', SVC_RATE_LIMIT_ENABLED: 'true', SVC_AUTH_ADMIN_PASSWORD: 'correct horse battery 9',
    } // prettier-ignore
    refused([], production, /^SVC_LIMIT_BCRYPT_COST is for tests: in production it is 12$/)
    assert.deepEqual(loadConfig([], { ...production, SVC_LIMIT_BCRYPT_COST: '12' }).warnings, [])
  })

  it('configuration: --help names every flag and every variable', () => {
    const text = helpText()
    for (const option of Object.values(OPTIONS)) {
      assert.ok(text.includes(option.flag), option.flag)
      for (const variable of option.variables) assert.ok(text.includes(variable), variable)
    }
  })
})
