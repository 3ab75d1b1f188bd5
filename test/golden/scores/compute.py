#!/usr/bin/env python3
"""Computes scores.json from collection.json, from the formulas alone and with nothing of the service.

    python3 test/golden/scores/compute.py > test/golden/scores/scores.json

Formulas (contract, algorithms section 2; N documents, df documents with the term, dl and avgdl in tokens):
  tfidf  weight * (1 + ln tf) * ln(1 + N/df) / (1 - 0.2 + 0.2 * dl/avgdl)
  bm25   weight * ln((N - df + 0.5)/(df + 0.5) + 1) * tf * (k1 + 1) / (tf + k1 * (1 - b + b * dl/avgdl)),  k1 1.2, b 0.75
  bm25f  weight * idf * tf~ / (k1 + tf~),  tf~ = sum over fields of w * tf / (1 - b + b * dl_f/avgdl_f),
         idf as bm25 with df = the largest df of the term in a scored field, avgdl_f over the documents that have the field
  phrase number of occurrences
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


def bm25(named, term, _weights):
    tf, df = named["content"].count(term), document_frequency(term, ["content"])
    if tf == 0:
        return None
    return idf(df) * tf * (K1 + 1) / (tf + K1 * (1 - B + B * len(named["content"]) / average_length("content")))


def bm25f(named, term, weights):
    total = 0.0
    for field, weight in weights.items():
        tf = named.get(field, []).count(term)
        if tf > 0:
            total += weight * tf / (1 - B + B * len(named[field]) / average_length(field))
    return idf(document_frequency(term, weights)) * total / (K1 + total) if total > 0 else None


def occurrences(named, phrase):
    words = named["content"]
    return sum(words[at : at + len(phrase)] == phrase for at in range(len(words) - len(phrase) + 1))


ALGORITHMS = {"tfidf": tfidf, "bm25": bm25, "bm25f": bm25f}


def simple(terms):
    """Any of the terms; a term said twice weighs twice."""
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
    print(json.dumps(cases, indent=1))


main()
