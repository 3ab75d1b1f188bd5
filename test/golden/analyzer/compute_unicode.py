"""Writes unicode.json: forms of words by Python's own Unicode tables (unicodedata), with which the analyzer must agree.

Run: python3 test/golden/analyzer/compute_unicode.py. Words: those of snowball.json and polish.json with letters beyond ASCII, and a list of typeset forms.
Rules: docs/decisions/search/text-analysis.md, implemented independently here.
"""
import json
import unicodedata
from pathlib import Path

HERE = Path(__file__).parent
WORDS_OF_EACH = 40
LETTERS_MIN = 5  # Shorter ones are often stop words.
TYPESET = "ﬁnal eﬃcient ﬂuﬀ Ĳsselmeer ŉ CO₂ x² m³ 1º ½ ⅷ Ⅻ ①② 𝐁old 𝔉raktur Ａｂｃ１２ ſee Straße STRASSE GROẞ µm Ω K Ångström ﻛﺘﺎﺏ ΟΔΟΣ ὈΔΥΣΣΕΎΣ café CAFÉ naïve Łódź İzmir ISPARTA tiếng"
APART = {"ø": "o", "đ": "d", "ð": "d", "ł": "l", "ħ": "h", "ı": "i", "ŧ": "t", "æ": "ae", "œ": "oe", "þ": "th", "ё": "е"}
UMLAUTS = {"ä": "ae", "ö": "oe", "ü": "ue"}


def is_part(character):
    return character.isalnum() or unicodedata.category(character).startswith("M")


def lower(character, language):
    if character == "I" and language == "tr":
        return "ı"
    if character == "İ":
        return "i"
    if character in "ßẞ":
        return "ss"
    return character.lower().replace("ς", "σ")


def term_of(word, language):
    out = ""
    for character in word:
        compatible = unicodedata.normalize("NFKC", character)
        if compatible == character or not all(map(is_part, compatible)):
            compatible = character
        out += "".join(lower(part, language) for part in compatible)
    return unicodedata.normalize("NFC", out.translate({0x640: None, 0x670: None, **{mark: None for mark in range(0x64B, 0x653)}}))


def folded_of(term, language):
    out = ""
    for letter in unicodedata.normalize("NFC", term):
        if language == "de" and letter in UMLAUTS:
            out += UMLAUTS[letter]
        elif letter in APART:
            out += APART[letter]
        elif unicodedata.name(letter, "").startswith(("LATIN", "GREEK", "COMBINING")):
            out += "".join(part for part in unicodedata.normalize("NFD", letter) if not 0x300 <= ord(part) <= 0x36F)
        else:
            out += letter
    return out


def pairs_of(run):
    """Documents: each character, and each pair of neighbours. Queries: the pairs, or the single character."""
    places = [(at, run[at : at + n]) for at in range(len(run)) for n in (1, 2) if at + n <= len(run)]
    asked = [place for place in places if len(place[1]) == 2] or places
    return [" ".join(f"{text}@{at}" for at, text in some) for some in (places, asked)]


def main():
    lists = json.loads((HERE / "snowball.json").read_text())
    words = {language: [pair.split(" ")[0] for pair in pairs] for language, pairs in lists.items() if language != "about"}
    words["pl"] = [form for word in json.loads((HERE / "polish.json").read_text())["words"] for form in word["forms"].split(" ")]
    forms = {}
    for language, some in sorted(words.items()):
        chosen = [word for word in dict.fromkeys(some) if len(word) >= LETTERS_MIN and not word.isascii()][:WORDS_OF_EACH]
        chosen += [word.upper() for word in chosen[:5] if word.upper().lower() == word]
        forms[language] = [f"{word} {term_of(word, language)} {folded_of(term_of(word, language), language)}" for word in chosen]
    for language in ("en", "de", "tr"):
        forms[language] = forms.get(language, []) + [
            f"{word} {term_of(word, language)} {folded_of(term_of(word, language), language)}" for word in TYPESET.split(" ")
        ]
    runs = {run: pairs_of(run) for run in ("東京都", "日本語の文書", "中", "한국어", "カタカナ", "寿司屋")}
    about = "Made by compute_unicode.py. Forms: word, its term unstemmed, the same without accents. Runs: terms of a document, terms of a query."
    text = json.dumps({"about": about, "forms": {k: v for k, v in forms.items() if v}, "runs": runs}, ensure_ascii=False, indent=1)
    (HERE / "unicode.json").write_text(text + "\n")


main()
