"""Writes vectors.json: tokens and vectors of some 200 texts by the Python packages wordllama 0.4.0.post1 and tokenizers, which our reader must match.

  pip install wordllama==0.4.0.post1 tokenizers numpy safetensors && python3 test/golden/static_model/compute.py

Vectors are the mean of the published rows (half floats), normalised, stored as half floats in base64.
"""
import base64
import json
import logging
import random
from pathlib import Path

import numpy as np
import wordllama
from safetensors.numpy import load_file
from tokenizers import Tokenizer
from wordllama import WordLlamaInference

SENTENCES = [
    'Hello, world!', ' leading space', 'trailing space ', '  two  spaces   three', 'a', 'A', ' ', '\n', '\t', '.', '42', '3.14159 and 1,000,000 or 0x7fff',
    'The quick brown fox jumps over the lazy dog.', "Don't stop: it's the users' choice, isn't it?", 'ALL CAPITALS AND camelCaseWords with snake_case_names',
    'Größe, Straße, Übermut, naïve café, Ærøskøbing, Łódź, İstanbul, Țară', 'Ça alors ! « Où est-il ? » demanda-t-elle.', '¿Dónde está el niño? ¡Aquí!',
    'Съешь же ещё этих мягких французских булок, да выпей чаю.', 'Ελληνική γλώσσα, με τόνους και ς.', 'שלום עולם, מה שלומך?', 'مرحبا بالعالم، كيف حالك؟',
    'हिन्दी में एक वाक्य।', 'বাংলা ভাষা', 'தமிழ் மொழி', 'తెలుగు', 'ภาษาไทยไม่มีช่องว่าง', '今天天气很好，我们去公园吧。', '東京は日本の首都です。ひらがなとカタカナ。', '한국어 문장입니다.',
    'ქართული ენა', 'Հայերեն', 'አማርኛ', 'ភាសាខ្មែរ', 'ᚠᚢᚦᚨᚱᚲ', '𝔘𝔫𝔦𝔠𝔬𝔡𝔢 𝒕𝒆𝒙𝒕', '😀 👨‍👩‍👧 🇩🇪 👍🏽 ❤️', 'e\u0301 and é, ﬁ ligature, ½ of ², № 5, ™', 'zero\u200bwidth\u00adsoft\u00a0hard\u2003em',
    '▁ a lone mark ▁▁ of the tokenizer ▁', '<s> begins and </s> ends and <unk> is not known', '<s><s></s>', 'x<s>', '<0x0A> is no byte', '\u0001\u0002\u007f control', '\r\nwindows\r\nlines\r\n',
    '# Heading\n\n## Sub heading\n\n- item one\n- item *two*\n  1. nested `code`\n\n> quote\n\n[link](https://host.example/path?q=1#frag) ![image](a.png "title")\n',
    '| a | b |\n|---|:-:|\n| 1 | 2 |\n', '```ts\nexport function first<T>(items: readonly T[]): T | undefined {\n  return items[0] ?? undefined\n}\n```\n',
    'def f(x):\n\treturn {"a": x ** 2, \'b\': [1, 2, 3]}  # comment\n', 'SELECT * FROM t WHERE a <> 1 AND b LIKE \'%x%\' -- why\n', '#include <vector>\nint main() { std::vector<int> v{1,2}; return v[0] && !v.empty(); }\n',
    '---\ntitle: Front matter\ntags: [a, b]\n---\n', 'user@host.example +49 (30) 123-456 2024-02-29T12:34:56Z 192.168.0.1 ::1', 'GET /v1/search?collection=docs&limit=10 HTTP/1.1',
    'a' * 100, 'ab' * 200, ' ' * 100, '-' * 77, '=' * 300, '中' * 50, '\n' * 20, 'word ' * 60, 'Loremipsumdolorsitametconsecteturadipiscingelit' * 8, '…' * 9, '....', '?!?!', '((()))', '/* */ // <!-- -->',
]


def texts():
    """The sentences, and combinations of their pieces."""
    source = random.Random(20)
    yield from SENTENCES
    pieces = [piece for sentence in SENTENCES for piece in sentence.split(' ') if 0 < len(piece) < 30]
    marks = [' ', ' ', ' ', '  ', '\n', '', ', ', '. ', '▁', '\t']
    while True:
        yield ''.join(source.choice(pieces) + source.choice(marks) for _ in range(source.randrange(1, 40)))


def main():
    logging.disable(logging.CRITICAL)
    package = Path(wordllama.__file__).parent
    table = load_file(package / 'weights/l2_supercat_256.safetensors')['embedding.weight']
    model = WordLlamaInference(table, Tokenizer.from_file(str(package / 'tokenizers/l2_supercat_tokenizer_config.json')))
    cases = []
    for text, _ in zip(texts(), range(200)):
        tokens = model.tokenizer.encode(text, add_special_tokens=False).ids
        vector = model.embed([text], norm=True)[0]
        cases.append({'text': text, 'tokens': tokens, 'vector': base64.b64encode(vector.astype('<f2').tobytes()).decode()})
    Path(__file__).with_name('vectors.json').write_text(json.dumps(cases, ensure_ascii=True, indent=0) + '\n')
    print(len(cases), 'texts', np.mean([len(case['tokens']) for case in cases]), 'tokens')


main()
