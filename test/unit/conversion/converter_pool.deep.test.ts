/** The pool of converters with real processes: files that harm one cost one conversion. */
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { getPriority, tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, it } from 'node:test'
import { deflateSync } from 'node:zlib'
import { AnswerReader, CONVERSION_REASON_BYTES_MAX, encodeAnswer } from '../../../src/conversion/conversion_frames.js'
import { ConversionRefused, type RefusalReason } from '../../../src/conversion/conversion_refused.js'
import { CONVERSION_FILE_BYTES_MAX, ConverterPool } from '../../../src/conversion/converter_pool.js'
import type { ConvertedFormat } from '../../../src/conversion/formats.js'
import { DOCUMENT_BYTES_MAX } from '../../../src/limits/documents.js'
import { docxOf, odtOf, pdfOf } from '../../harness/conversion/office_files.js'
import { spawn } from '../../harness/process/owned_processes.js'

const folder = mkdtempSync(join(tmpdir(), 'mds-pool-'))
const pool = new ConverterPool()
after(() => {
  pool.close()
  rmSync(folder, { recursive: true })
})

let made = 0
function fileOf(content: string | Uint8Array): string {
  const path = join(folder, `${++made}`)
  writeFileSync(path, content)
  return path
}

async function convert(format: ConvertedFormat, content: string | Uint8Array, signal?: AbortSignal): Promise<string> {
  const task = { path: fileOf(content), format, textOnly: false }
  return (await pool.convert(signal === undefined ? task : { ...task, signal })).markdown
}

/** The reason, and the text, of a refusal. */
async function refusalOf(conversion: Promise<unknown>): Promise<[RefusalReason, string]> {
  const error = await conversion.then(
    () => assert.fail('converted'),
    (cause: unknown) => cause,
  )
  assert.ok(error instanceof ConversionRefused, String(error))
  return [error.reason, error.message]
}

/** Fifteen million elements in less than 1 MB, which grows less than 100 times: half a minute of work. */
const LONG = odtOf({
  text: Array.from({ length: 62_000 }, (_, at) => {
    const digits = createHash('sha256').update(String(at)).digest('hex').slice(0, 16)
    return digits + '<b/>'.repeat(250)
  }).join(''),
})

/** A page whose content unpacks to 600 MB, in a file so large that there is time for it on a busy machine. */
function largePdf(): Buffer {
  const packed = deflateSync(Buffer.alloc(600 * 1024 * 1024, 'q'))
  const [head = '', tail = ''] = pdfOf([[12, 'x']])
    .toString('latin1')
    .split(/(?<=stream\n)[^]*(?=\nendstream)/)
  return Buffer.concat([
    Buffer.from(head.replace('/Length', '/Filter/FlateDecode/Length')),
    packed,
    Buffer.from(tail),
    Buffer.alloc(12 * 1024 * 1024, ' '),
  ])
}

describe('pool of converters', () => {
  it('every thread of a process yields to those of the server', async () => {
    await convert('html', '<p>x')
    const [pid] = pool.pids()
    const threads = readdirSync(`/proc/${pid}/task`).map(Number)
    const wanted = Math.max(getPriority(), 5)
    assert.ok(threads.length > 2)
    assert.deepEqual(
      threads.filter((thread) => getPriority(thread) !== wanted),
      [],
    )
  })

  it('converts files of every format', async () => {
    assert.equal(await convert('html', '<h1>a'), '# a\n')
    assert.equal(await convert('docx', docxOf({ body: '<w:p><w:r><w:t>a</w:t></w:r></w:p>' })), 'a\n')
    assert.equal(await convert('odt', odtOf({ text: '<text:p>a</text:p>' })), 'a\n')
    assert.equal(await convert('rtf', '{\\rtf1 a}'), 'a\n')
    assert.equal(await convert('tex', '\\emph{a}'), '*a*\n')
    assert.equal(await convert('pdf', pdfOf([[12, 'a']])), 'a\n')
    assert.equal((await pool.convert({ path: fileOf('<h1>a'), format: 'html', textOnly: true })).markdown, 'a\n')
  })

  it('a file that can not be read as its format is refused as failed, with the reason and without its path', async () => {
    const [reason, text] = await refusalOf(convert('docx', 'no zip'))
    assert.deepEqual([reason, text.startsWith('no readable docx: '), text.includes(folder)], ['failed', true, false])
    const missing = await refusalOf(pool.convert({ path: join(folder, 'none'), format: 'html', textOnly: false }))
    assert.deepEqual(missing, ['failed', "the file can't be read: ENOENT"])
  })

  it('a conversion without end is refused as tooLong after 5 s, while another one goes on and the next one finds a process', async () => {
    const begun = performance.now()
    const long = refusalOf(convert('odt', LONG))
    assert.equal(await convert('html', 'beside'), 'beside\n')
    assert.deepEqual(await long, ['tooLong', 'the conversion took longer than 5 s'])
    const tookMs = performance.now() - begun
    assert.ok(tookMs >= 4900 && tookMs < 8000, `${tookMs}`)
    assert.equal(await convert('html', 'after'), 'after\n')
  })

  it('a conversion that takes all memory is refused as tooMuchMemory, and the next one is converted', async () => {
    assert.deepEqual(await refusalOf(convert('pdf', largePdf())), ['tooMuchMemory', 'the conversion needed more than 512 MB of memory'])
    assert.equal(await convert('html', 'after'), 'after\n')
  })

  it('a converter that dies costs its conversion alone: failed, with the signal, or tooMuchMemory where V8 aborts', async () => {
    const own = new ConverterPool()
    for (const [signal, refusal] of [
      ['SIGSEGV', ['failed', 'the converter ended by SIGSEGV']],
      ['SIGABRT', ['tooMuchMemory', 'the conversion needed more than 512 MB of memory']],
    ] as const) {
      const dying = refusalOf(own.convert({ path: fileOf(LONG), format: 'odt', textOnly: false }))
      while (own.pids().length === 0) await new Promise(setImmediate)
      const [pid = 0] = own.pids()
      process.kill(pid, signal)
      assert.deepEqual(await dying, refusal)
      assert.ok(!own.pids().includes(pid))
    }
    assert.equal((await own.convert({ path: fileOf('after'), format: 'html', textOnly: false })).markdown, 'after\n')
    own.close()
  })

  it('a text above the bound of a document is refused as tooLarge, and so is a file above that of uploads', async () => {
    assert.deepEqual(await refusalOf(convert('html', 'x'.repeat(DOCUMENT_BYTES_MAX))), [
      'tooLarge',
      `the text of the file has more than ${DOCUMENT_BYTES_MAX} bytes`,
    ])
    assert.equal((await convert('html', 'x'.repeat(DOCUMENT_BYTES_MAX - 1))).length, DOCUMENT_BYTES_MAX)
    const [reason, text] = await refusalOf(convert('html', Buffer.alloc(CONVERSION_FILE_BYTES_MAX + 1)))
    assert.equal(reason, 'tooLarge')
    assert.match(text, new RegExp(`more than ${CONVERSION_FILE_BYTES_MAX}$`))
  })

  it('more conversions than the queue holds are refused as busy, and those in it are converted', async () => {
    const all = await Promise.allSettled(Array.from({ length: 30 }, (_, at) => convert('html', `n${at}`)))
    const refused = all.filter((each) => each.status === 'rejected').map(({ reason }) => (reason as ConversionRefused).reason)
    assert.deepEqual([...new Set(refused)], ['busy'])
    assert.equal(all.length - refused.length, 18)
    assert.ok(pool.pids().length <= 2)
  })

  it('an abort ends a conversion under way and one that waits', async () => {
    const own = new ConverterPool()
    const abort = new AbortController()
    const reason = new Error('gone')
    const task = { path: fileOf(LONG), format: 'odt', textOnly: false, signal: abort.signal } as const
    const long = [1, 2, 3].map(() => own.convert(task).catch((error: unknown) => error))
    while (own.pids().length < 2) await new Promise(setImmediate)
    abort.abort(reason)
    assert.deepEqual(await Promise.all(long), [reason, reason, reason])
    assert.deepEqual(own.pids(), [])
    own.close()
  })

  it('a converter sees no variable of its parent but PATH', async () => {
    process.env['SVC_SECRET_OF_TEST'] = 'x'
    await convert('html', 'x')
    const own = pool
      .pids()
      .map((pid) => `/proc/${pid}/environ`)
      .filter((path) => existsSync(path))
    for (const path of own)
      assert.deepEqual(
        readFileSync(path, 'utf8')
          .split('\0')
          .flatMap((line) => line.split('=')[0] || []),
        ['PATH'],
      )
    delete process.env['SVC_SECRET_OF_TEST']
  })

  it('a converter ends with its parent, even in the midst of a file', async () => {
    const code = `
      import { ConverterPool } from ${JSON.stringify(new URL('../../../src/conversion/converter_pool.js', import.meta.url).href)}
      const pool = new ConverterPool()
      void pool.convert({ path: ${JSON.stringify(fileOf(LONG))}, format: 'odt', textOnly: false }).catch(() => undefined)
      const look = setInterval(() => { if (pool.pids().length > 0) { clearInterval(look); console.log(pool.pids()[0]) } }, 5)`
    const parent = spawn(process.execPath, ['--input-type=module', '-e', code], { stdio: ['ignore', 'pipe', 'inherit'] })
    const [line] = (await once(parent.stdout, 'data')) as [Buffer]
    const pid = Number(line.toString())
    parent.kill('SIGKILL')
    await once(parent, 'exit')
    const isGone = (): boolean => {
      try {
        process.kill(pid, 0)
        return false
      } catch {
        return true
      }
    }
    const until = performance.now() + 4000
    while (!isGone() && performance.now() < until) await new Promise(setImmediate)
    assert.ok(isGone(), `process ${pid} is still there`)
  })
})

describe('answers of a converter', () => {
  it('come whole from any pieces', () => {
    const frame = encodeAnswer({ kind: 'text', text: 'grün\u20ac', isLast: true })
    for (let size = 1; size <= frame.length; size++) {
      const reader = new AnswerReader()
      const answers = []
      for (let at = 0; at < frame.length; at += size) answers.push(reader.push(frame.subarray(at, at + size)))
      assert.deepEqual(
        answers.filter((answer) => answer !== undefined),
        [{ kind: 'text', text: 'grün\u20ac', isLast: true }],
      )
    }
  })

  it('that are no frame, or longer than a document, are refused before they are kept', () => {
    const head = (kind: number, last: number, length: number): Buffer => {
      const bytes = Buffer.from([kind, last, 0, 0, 0, 0])
      bytes.writeUInt32LE(length, 2)
      return bytes
    }
    for (const bytes of [
      head(3, 0, 0),
      head(0, 2, 0),
      head(0, 0, DOCUMENT_BYTES_MAX + 1),
      head(1, 0, CONVERSION_REASON_BYTES_MAX + 1),
      Buffer.concat([head(0, 0, 1), Buffer.from('ab')]),
    ])
      assert.throws(() => new AnswerReader().push(bytes), /no valid answer/)
    assert.equal(new AnswerReader().push(head(0, 0, DOCUMENT_BYTES_MAX)), undefined)
  })
})
