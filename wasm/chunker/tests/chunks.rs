//! Tests of the chunker's public interface: guarantees for arbitrary bytes, and where it cuts.

use mds_chunker::{chunk, Mode};

fn next(state: &mut u64) -> u64 {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    *state
}

/// Pieces that open, close and break constructs of prose and code, mixed with words and invalid UTF-8.
const PIECES: [&[u8]; 58] = [
    b"word ",
    b"A sentence. ",
    b"Another one! ",
    b"and so on ",
    "Wörter ".as_bytes(),
    "今日は。".as_bytes(),
    "😀".as_bytes(),
    b"\n",
    b"\n",
    b"\n\n",
    b"\n\n\n",
    b"\r\n",
    b"# Head\n",
    b"\n## Head\n\n",
    b"Title\n===\n",
    b"---\n",
    b"- item\n",
    b"  - inner\n",
    b"1. one\n",
    b"| a | b |\n",
    b"|---|---|\n",
    b"```\n",
    b"~~~ x\n",
    b"> quote\n",
    b"    code\n",
    b"\t",
    b" ",
    "\u{a0}".as_bytes(),
    "\u{3000}".as_bytes(),
    b"{",
    b"}",
    b"(",
    b")",
    b"[",
    b"]",
    b";",
    b",",
    b"\"",
    b"'",
    b"`",
    b"//",
    b"/*",
    b"*/",
    b"#",
    b" # ",
    b"<!--",
    b"-->",
    b"/",
    b"\\",
    b"=",
    b" -- ",
    b"'''",
    b"\"\"\"",
    b"function f() {\n",
    b"}\n\n",
    b"\xff",
    b"\x80\x80\x80\x80",
    b"\xe2\x82",
];

fn random_text(state: &mut u64) -> Vec<u8> {
    let few = next(state).is_multiple_of(3);
    let kinds: Vec<usize> = (0..if few { 4 } else { 24 }).map(|_| next(state) as usize % PIECES.len()).collect();
    let mut text = Vec::new();
    for _ in 0..next(state) % 400 {
        let piece = PIECES[kinds[next(state) as usize % kinds.len()]];
        let times = if next(state).is_multiple_of(40) { next(state) % 300 } else { 1 };
        (0..times).for_each(|_| text.extend_from_slice(piece));
    }
    text
}

fn characters(text: &[u8]) -> usize {
    text.iter().filter(|&&byte| byte & 0xc0 != 0x80).count()
}

fn is_blank(text: &[u8]) -> bool {
    String::from_utf8_lossy(text).chars().all(char::is_whitespace)
}

/// Checks the guarantees that hold for every mode and budget. For invalid UTF-8 it checks only that nothing
/// is lost.
fn verify(text: &[u8], mode: Mode, budget: u32, overlap: u32, seed: u64) {
    let about = || format!("seed {seed}, {mode:?}, budget {budget}, overlap {overlap}, {:?}", String::from_utf8_lossy(text));
    let chunks = chunk(text, mode, budget, overlap);
    assert_eq!(chunks, chunk(text, mode, budget, overlap), "same text, same chunks: {}", about());
    let mut end = 0;
    let mut begin = None;
    for [first, last] in chunks.iter().map(|chunk| chunk.map(|at| at as usize)) {
        assert!(begin.is_none_or(|begin| begin < first) && first < last && last <= text.len() && last > end, "ascending: {}", about());
        assert!(first >= end || overlap > 0, "without overlap: {}", about());
        assert!(first <= end || is_blank(&text[end..first]), "nothing left out before {first}: {}", about());
        (begin, end) = (Some(first), last);
        if std::str::from_utf8(text).is_err() {
            continue;
        }
        let part = &text[first..last];
        let shown = std::str::from_utf8(part).unwrap_or_else(|_| panic!("whole characters: {}", about()));
        assert!(!shown.is_empty() && shown == shown.trim(), "trimmed: {}", about());
        let has_bracket = mode == Mode::Code && part.iter().any(|byte| b"{([".contains(byte));
        assert!(characters(part) <= budget as usize || has_bracket, "{} characters: {}", characters(part), about());
    }
    assert!(is_blank(&text[end..]), "nothing left out behind {end}: {}", about());
}

#[test]
fn any_bytes_are_cut_into_chunks_that_keep_what_is_promised() {
    for seed in 1..=1500u64 {
        let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let mut text = random_text(&mut state);
        // Half of the texts are valid UTF-8.
        if seed.is_multiple_of(2) {
            text = String::from_utf8_lossy(&text).into_owned().into_bytes();
        }
        let budget = [1, 2, 7, 40, 200, 1500][next(&mut state) as usize % 6];
        let overlap = [0, 0, 3, 50, 5000][next(&mut state) as usize % 5];
        verify(&text, Mode::Prose, budget, overlap, seed);
        verify(&text, Mode::Code, budget, 0, seed);
    }
}

fn cut(text: &str, mode: Mode, budget: u32, overlap: u32) -> Vec<&str> {
    chunk(text.as_bytes(), mode, budget, overlap).iter().map(|&[begin, end]| &text[begin as usize..end as usize]).collect()
}

#[test]
fn prose_by_example() {
    for (text, budget, expected) in [
        ("", 20, &[][..]),
        (" \n\t\n", 20, &[]),
        ("One. Two. Three.", 16, &["One. Two. Three."]),
        ("para one\n\npara two\n\npara three", 20, &["para one\n\npara two", "para three"]),
        ("intro text\n\n# Head\n\nbody of it", 24, &["intro text", "# Head\n\nbody of it"]),
        ("text of ten\n\n## A\n\nyes\n\n# B\n\nno\n\n## C\n\nmore", 34, &["text of ten\n\n## A\n\nyes", "# B\n\nno\n\n## C\n\nmore"]),
        ("# One\n\n## Two\n\ntext that is long", 26, &["# One\n\n## Two\n\ntext that", "is long"]),
        ("Title\n=====\ntext here\n\nnext", 23, &["Title\n=====\ntext here", "next"]),
        ("a para\n\n```\nx = 1\n\ny = 2\n```", 24, &["a para", "```\nx = 1\n\ny = 2\n```"]),
        ("```\nfirst\nsecond\n\nthird\n```", 18, &["```\nfirst\nsecond", "third\n```"]),
        ("go\n\n- one\n- two\n- six", 18, &["go", "- one\n- two\n- six"]),
        ("- one\n  - sub\n- two\n- three", 16, &["- one\n  - sub", "- two\n- three"]),
        ("x\n\n| a | b |\n|---|---|\n| 1 | 2 |\n| 3 | 4 |", 32, &["x\n\n| a | b |\n|---|---|\n| 1 | 2 |", "| 3 | 4 |"]),
        ("First one. Second one. Third one.", 25, &["First one. Second one.", "Third one."]),
        ("several words without an end", 12, &["several", "words", "without an", "end"]),
        ("unbreakable", 4, &["unbr", "eaka", "ble"]),
        ("😀😀😀", 2, &["😀😀", "😀"]),
        ("---\ntitle: x\n\ntags: y\n---\n# H\ntext\n\nmore", 34, &["---\ntitle: x\n\ntags: y\n---\n# H\ntext", "more"]),
        ("今日は良い。明日も良い。", 8, &["今日は良い。", "明日も良い。"]),
    ] {
        assert_eq!(cut(text, Mode::Prose, budget, 0), expected, "{text}");
    }
}

#[test]
fn an_overlap_repeats_whole_sentences_within_the_budget() {
    let text = "Aaa bbb. Ccc ddd. Eee fff. Ggg hhh. Iii.";
    assert_eq!(
        cut(text, Mode::Prose, 27, 10),
        ["Aaa bbb.", "Ccc ddd.", "Eee fff.", "Ggg hhh. Iii."].map(String::from).to_vec().iter().map(String::as_str).collect::<Vec<_>>()
    );
    assert_eq!(cut("aaaa bbbb cccc dddd", Mode::Prose, 10, 5), ["aaaa", "bbbb", "cccc", "dddd"]);
}

#[test]
fn code_by_example() {
    let whole = "function big() {\n  one()\n\n  two()\n}";
    for (text, budget, expected) in [
        ("", 20, &[][..]),
        ("a()\nb()", 20, &["a()\nb()"]),
        ("let a = 1\nlet b = 2\n\nlet c = 3\nlet d = 4\n", 32, &["let a = 1\nlet b = 2", "let c = 3\nlet d = 4"]),
        ("f(1)\ng(2)\nh(3)\n", 10, &["f(1)\ng(2)", "h(3)"]),
        (whole, 18, &[whole]),
        ("x = '{'\ny = 2 // }\nz = 3\n", 12, &["x = '{'", "y = 2 // }", "z = 3"]),
        ("a{b}c{d;e}f{gh}", 11, &["a{b}c{d;e}", "f{gh}"]),
        ("a{b};c{d:e};f{gh}", 12, &["a{b};c{d:e};", "f{gh}"]),
        ("a{long construct};c{d}", 6, &["a{long construct};", "c{d}"]),
        ("def f():\n    a = 1\n\n    b = 2\n\ndef g():\n    c\n", 34, &["def f():\n    a = 1\n\n    b = 2", "def g():\n    c"]),
        ("((((\na\nb\nc", 5, &["((((", "a\nb\nc"]),
        ("}}}}\na\nb\nc", 5, &["}}}}", "a\nb\nc"]),
        ("// one two three four", 12, &["// one two", "three four"]),
        ("/* one\n * two\n * three\n */", 14, &["/* one\n * two", "* three\n */"]),
    ] {
        assert_eq!(cut(text, Mode::Code, budget, 0), expected, "{text}");
    }
}
