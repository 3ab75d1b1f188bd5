#!/usr/bin/env python3
"""Computes scores.json from collection.json, by the formulas alone, without code of the service.

    python3 test/golden/scores/compute.py > test/golden/scores/scores.json

Formulas (contract, algorithms section 2; N documents, df documents with the term, dl and avgdl in tokens):
  tfidf  weight * (1 + ln tf) * ln(1 + N/df) / (1 - 0.2 + 0.2 * dl/avgdl)
  bm25   weight * ln((N - df + 0.5)/(df + 0.5) + 1) * tf * (k1 + 1) / (tf + k1 * (1 - b + b * dl/avgdl)),  k1 1.2, b 0.75
  bm25f  weight * idf * tf~ / (k1 + tf~),  tf~ = sum over fields of w * tf / (1 - b + b * dl_f/avgdl_f),
         idf as bm25 with df = the largest df of the term in a scored field, avgdl_f over the documents that have the field
  phrase number of occurrences
  pmisparse  bm25 with k1 1.5, and of each word the 5 terms u of the highest ln(n(t,u) N / (df(t) df(u))) above 0, n: documents in which u stands at most 5 words from t, at least 2;
         each counts 0.35 min(that, 5) / 5
  fuzzy  each term within the edits (optimal string alignment) counts 0.8^edits, its idf at most that of any closer one; wildcard: each matching term counts 1
  proximity  of the narrowest place: max(0.1, (N + 1 - span) / (N + 1))
The words of the collection are not stop words, and the server that is compared does not stem.
"""
import json
import math
import pathlib
import re

K1, B, SLOPE = 1.2, 0.75, 0.2
WEIGHTS = {"content": 1, "meta.title": 3, "meta.tags": 2, "meta.category": 2, "meta.description": 1.5}


def tokens(text):
    return re.findall(r"[a-z0-9]+", text.lower())


def fields(document):
    named = {"content": tokens(document["contentMd"])}
    for key, values in document["meta"].items():
        named["meta." + key] = tokens(" ".join(values))
    return named


DOCUMENTS = json.loads((pathlib.Path(__file__).parent / "collection.json").read_text())
FIELDS = {document["key"]: fields(document) for document in DOCUMENTS}
N = len(FIELDS)


def average_length(field):
    lengths = [len(named[field]) for named in FIELDS.values() if named.get(field)]
    return sum(lengths) / len(lengths)


def document_frequency(term, scored):
    return max(sum(term in named.get(field, ()) for named in FIELDS.values()) for field in scored)


def idf(df):
    return math.log((N - df + 0.5) / (df + 0.5) + 1)


def tfidf(named, term, _weights):
    tf, df = named["content"].count(term), document_frequency(term, ["content"])
    if tf == 0:
        return None
    return (1 + math.log(tf)) * math.log(1 + N / df) / (1 - SLOPE + SLOPE * len(named["content"]) / average_length("content"))


def bm25(named, term, _weights, k1=K1, cap=math.inf):
    tf, df = named["content"].count(term), document_frequency(term, ["content"])
    if tf == 0:
        return None
    return min(idf(df), cap) * tf * (k1 + 1) / (tf + k1 * (1 - B + B * len(named["content"]) / average_length("content")))


def bm25f(named, term, weights):
    total = 0.0
    for field, weight in weights.items():
        tf = named.get(field, []).count(term)
        if tf > 0:
            total += weight * tf / (1 - B + B * len(named[field]) / average_length(field))
    return idf(document_frequency(term, weights)) * total / (K1 + total) if total > 0 else None


def related(term):
    """The terms that occur near a term, with their weights."""
    beside = {}
    for named in FIELDS.values():
        words = named["content"]
        near = {words[i] for at, word in enumerate(words) if word == term for i in range(max(0, at - 5), min(len(words), at + 6))}
        for other in near - {term}:
            beside[other] = beside.get(other, 0) + 1
    df = {t: document_frequency(t, ["content"]) for t in list(beside) + [term]}
    pmi = {u: math.log(n * N / (df[term] * df[u])) for u, n in beside.items() if n >= 2}
    best = sorted((-value, u) for u, value in pmi.items() if value > 0)[:5]
    return {u: 0.35 * min(-value, 5) / 5 for value, u in best}


def pmisparse(named, words):
    weights = {}
    for word in words:
        for other, weight in related(word).items():
            if other not in words:
                weights[other] = weights.get(other, 0) + weight
    parts = [(word, 1) for word in words] + list(weights.items())
    found = [weight * s for word, weight in parts if (s := bm25(named, word, None, k1=1.5)) is not None]
    return sum(found) if found else None


def edits(a, b):
    rows = [[max(i, j) if min(i, j) == 0 else 0 for j in range(len(b) + 1)] for i in range(len(a) + 1)]
    for i in range(1, len(a) + 1):
        for j in range(1, len(b) + 1):
            rows[i][j] = min(rows[i - 1][j] + 1, rows[i][j - 1] + 1, rows[i - 1][j - 1] + (a[i - 1] != b[j - 1]))
            if i > 1 and j > 1 and a[i - 1] == b[j - 2] and a[i - 2] == b[j - 1]:
                rows[i][j] = min(rows[i][j], rows[i - 2][j - 2] + 1)
    return rows[-1][-1]


VOCABULARY = sorted({word for named in FIELDS.values() for word in named["content"]})


def fuzzy(named, word, most):
    distances = {term: d for term in VOCABULARY if (d := edits(word, term)) <= most}
    idfs = {term: idf(document_frequency(term, ["content"])) for term in distances}
    total = []
    for term, distance in distances.items():
        cap = min((idfs[other] for other, d in distances.items() if d < distance), default=math.inf)
        score = bm25(named, term, None, cap=cap)
        if score is not None:
            total.append(0.8**distance * score)
    return sum(total) if total else None


def wildcard(named, pattern):
    expression = re.compile(pattern.replace("*", ".*").replace("?", "."))
    found = [s for term in VOCABULARY if expression.fullmatch(term) and (s := bm25(named, term, None)) is not None]
    return sum(found) if found else None


def proximity(named, first, last, distance):
    places = {word: [at for at, each in enumerate(named["content"]) if each == word] for word in (first, last)}
    spans = [abs(a - b) for a in places[first] for b in places[last]]
    span = min(spans, default=math.inf)
    return max(0.1, (distance + 1 - span) / (distance + 1)) if span <= distance else None


def occurrences(named, phrase):
    words = named["content"]
    return sum(words[at : at + len(phrase)] == phrase for at in range(len(words) - len(phrase) + 1))


ALGORITHMS = {"tfidf": tfidf, "bm25": bm25, "bm25f": bm25f}


def simple(terms):
    """Any of the terms; a term that occurs twice in the query counts twice."""
    return lambda score: sum(found) if (found := [s for t in terms if (s := score(t)) is not None]) else None


def boolean(required, optional, excluded):
    def evaluate(score):
        if any(score(term) is not None for term in excluded) or any(score(term) is None for term in required):
            return None
        found = [s for term in required + optional if (s := score(term)) is not None]
        return sum(found) if found else None

    return evaluate


QUERIES = [
    ("simple", "wal", simple(["wal"])),
    ("simple", "rust quorum", simple(["rust", "quorum"])),
    ("simple", "wal wal rust segment", simple(["wal", "wal", "rust", "segment"])),
    ("simple", "vector absent", simple(["vector", "absent"])),
    ("simple", "heap norm stemmer geohash shard", simple(["heap", "norm", "stemmer", "geohash", "shard"])),
    ("boolean", "rust AND quorum", boolean(["rust", "quorum"], [], [])),
    ("boolean", "rust OR quorum", boolean([], ["rust", "quorum"], [])),
    ("boolean", "rust -quorum", boolean([], ["rust"], ["quorum"])),
    ("boolean", "+rust quorum wal", boolean(["rust"], ["quorum", "wal"], [])),
    ("boolean", "shard AND rust NOT wal", boolean(["shard", "rust"], [], ["wal"])),
]


def ranked(scores):
    """Best first; ties by key."""
    return [[key, round(score, 9)] for key, score in sorted(scores.items(), key=lambda item: (-item[1], item[0]))]


def main():
    cases = []
    variants = [("tfidf", None), ("bm25", None), ("bm25f", None), ("bm25f", {"content": 2, "meta.title": 5, "meta.tags": 0})]
    for mode, query, evaluate in QUERIES:
        for name, custom in variants:
            weights = {field: w for field, w in (custom or WEIGHTS).items() if w > 0}
            found = {}
            for key, named in FIELDS.items():
                score = evaluate(lambda term: ALGORITHMS[name](named, term, weights))
                if score is not None:
                    found[key] = score
            case = {"mode": mode, "query": query, "algorithm": name, "results": ranked(found)}
            cases.append(case | ({"fieldWeights": custom} if custom else {}))
    pairs = sorted({tuple(named["content"][at : at + 2]) for named in FIELDS.values() for at in range(len(named["content"]) - 1)})
    for pair in pairs[::17]:
        found = {key: count for key, named in FIELDS.items() if (count := occurrences(named, list(pair))) > 0}
        cases.append({"mode": "phrase", "query": f'"{" ".join(pair)}"', "algorithm": "tfidf", "results": ranked(found)})

    def add(mode, query, algorithm, score, **more):
        found = {key: s for key, named in FIELDS.items() if (s := score(named)) is not None}
        cases.append({"mode": mode, "query": query, "algorithm": algorithm, "results": ranked(found)} | more)

    for words in (["wal"], ["rust", "quorum"], ["heap", "norm", "stemmer"], ["vector", "absent"]):
        add("simple", " ".join(words), "pmisparse", lambda named: pmisparse(named, words))
    for word, most in (("wall", 1), ("rsut", 1), ("heep", 2), ("storm", 2), ("shard", 1), ("geohsah", 1)):
        add("simple", word, "bm25", lambda named: fuzzy(named, word, most), fuzzy=most)
        add("expression", f"{word}~{most}", "bm25", lambda named: fuzzy(named, word, most))
    for pattern in ("re*", "*er", "?eap", "s*r?", "*o*"):
        add("wildcard", pattern, "bm25", lambda named: wildcard(named, pattern))
        add("expression", f"({pattern})", "bm25", lambda named: wildcard(named, pattern))
    for first, last, distance in (("rust", "norm", 5), ("wal", "vector", 2), ("heap", "replica", 12)):
        add("proximity", f"{first} {last}", "bm25", lambda named: proximity(named, first, last, distance), distance=distance)
        add("expression", f'"{last} {first}"~{distance}', "bm25", lambda named: proximity(named, first, last, distance))
    print(json.dumps(cases, indent=1))


main()
