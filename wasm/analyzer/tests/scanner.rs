//! Tests of the whole analyzer's public interface: which terms are produced, where windows may be cut, and
//! how the work grows with the text.

use mds_analyzer::{Analyzer, Options, Purpose, Status, Text, CODES, LOOKAHEAD, WINDOW_BYTES_MAX};

const ENGLISH: Options = Options { language: 0, stem: true, text: Text::Markdown, folds: false, asks: false, purpose: Purpose::List };

/// Returns all records of a text, read in windows of at most `window` bytes.
fn analyse(analyzer: &mut Analyzer, text: &[u8], options: Options, window: usize) -> Vec<Vec<u32>> {
    let mut records = Vec::new();
    let mut at = 0;
    analyzer.begin(options);
    loop {
        let end = text.len().min(at + window);
        analyzer.window_mut()[..end - at].copy_from_slice(&text[at..end]);
        analyzer.load(end - at, end == text.len());
        loop {
            match analyzer.run() {
                Status::NeedsWindow => break,
                Status::NeedsFinish => records.push(analyzer.finish().to_vec()),
                Status::NeedsWords => analyzer.place_words(&[[0, 3, 0]]),
            }
        }
        if end == text.len() {
            records.push(analyzer.finish().to_vec());
            return records;
        }
        at += analyzer.cursor();
    }
}

fn terms(text: &str, options: Options) -> String {
    let records = analyse(&mut Analyzer::new(1), text.as_bytes(), options, WINDOW_BYTES_MAX);
    let words = &records[0];
    let count = words[0] as usize;
    let bytes: Vec<u8> = words[1 + 5 * count..].iter().flat_map(|word| word.to_le_bytes()).collect();
    let token = |token: &[u32]| {
        let term = &bytes[token[3] as usize..(token[3] + token[4]) as usize];
        format!("{}@{}", String::from_utf8(term.to_vec()).expect("terms are UTF-8"), token[2])
    };
    words[1..1 + 5 * count].chunks(5).map(token).collect::<Vec<_>>().join(" ")
}

#[test]
fn markup_is_no_term_and_text_is() {
    for (text, expected) in [
        ("# Big *bold* __line__", "big@0 bold@1 line@2"),
        ("[text](http://host.example/path \"title\") end", "text@0 titl@1 end@2"),
        ("![alt words](data:image/png;base64,AAAA) end", "alt@0 word@1 end@2"),
        ("<span id=\"x y\" class=z>inner</span> <br/>", "inner@0"),
        ("<https://host.example> <me@host.example> vector<int>", "vector@0"),
        ("[label]: http://host.example 'title'\nnext", "label@0 titl@1 next@2"),
        ("[label]: this is prose", "label@0 prose@3"),
        ("[^1]: footnote", "1@0 footnot@1"),
        ("GL\\_PIXEL_MAP", "gl@0 pixel@1 map@2"),
        ("a\\<b> x", "b@1 x@2"),
        ("x&nbsp;y &amp; R&D caf&eacute;", "x@0 y@1 r@2 d@3 café@4"),
        ("1. one\n2) two\n1984. three", "one@0 two@1 1984@2 three@3"),
        ("```rust ignored\nlet v: Vec<u8> = [a](b);\n```\n<b>text</b>", "let@0 v@1 vec@2 u8@3 b@5 text@6"),
        ("use `Vec<u8>` and <i>that</i>", "use@0 vec@1 u8@2"),
        ("a lone ` mark\n\n<b>bold</b>", "lone@1 mark@2 bold@3"),
        ("<!-- hidden\n\n words --> shown <!-- again --> too <!-- open", "shown@0 too@1 open@2"),
        ("<script>\nvar hidden\n</script> shown", "shown@0"),
        ("| a1 | b2 |\n|----|----|\n| c3 | d4 |", "a1@0 b2@1 c3@2 d4@3"),
        ("user's don’t o'clock rock'n'roll", "user@0 don@2 o@4 clock@5 rock@6 n@7 roll@8"),
        ("C R2 7 x", "c@0 r2@1 7@2 x@3"),
    ] {
        assert_eq!(terms(text, ENGLISH), expected, "{text}");
    }
}

#[test]
fn without_markdown_marks_only_separate() {
    let plain = Options { text: Text::Plain, ..ENGLISH };
    assert_eq!(terms("<b>x</b> [y](z.md) 1. `q`", plain), "b@0 x@1 b@2 y@3 z@4 md@5 1@6 q@7");
}

#[test]
fn a_long_run_of_letters_is_several_terms_and_loses_nothing() {
    let text = "k".repeat(600);
    let stemless = Options { stem: false, ..ENGLISH };
    let expected = format!("{0}@0 {0}@1 {1}@2", "k".repeat(255), "k".repeat(90));
    assert_eq!(terms(&text, stemless), expected);
}

#[test]
fn characters_of_unspaced_scripts_come_alone_and_in_pairs() {
    let japanese = Options { language: 19, ..ENGLISH };
    assert_eq!(terms("東京x 中", japanese), "東@0 東京@0 京@1 x@2 中@3");
    assert_eq!(terms("\u{1112}\u{1161}\u{11ab}국", japanese), "한@0 한국@0 국@1");
}

#[test]
fn code_has_identifiers_and_their_parts_at_one_position() {
    let code = Options { text: Text::Code, ..ENGLISH };
    for (text, expected) in [
        ("function parseHTTPResponse(x)", "function@0 parsehttpresponse@1 parse@1 http@1 response@1 x@2"),
        ("user_name = 7; // the Users", "user_name@0 user@0 name@0 7@1 the@2 users@3"),
        ("<div class=\"btn-primary\">it's</div>", "div@0 class@1 btn-primary@2 btn@2 primary@2 it@3 s@4 div@5"),
        (
            "--main-color: a->b; i--; x-1; __init__ _ - foo_foo",
            "main-color@0 main@0 color@0 a@1 b@2 i@3 x-1@4 x@4 1@4 __init__@5 init@5 foo_foo@6 foo@6",
        ),
        ("/* 東京 naïveName */", "東@0 東京@0 京@1 naïvename@2 naïve@2 name@2"),
    ] {
        assert_eq!(terms(text, code), expected, "{text}");
    }
}

#[test]
fn documents_have_words_without_accents_beside_those_with_them() {
    let document = Options { folds: true, ..ENGLISH };
    assert_eq!(terms("A café in München, naïve", document), "cafe@1 café@1 munchen@3 münchen@3 naiv@4 naïv@4");
    assert_eq!(terms("Die Häfen von Köln", Options { language: 2, ..document }), "haef@1 haf@1 koeln@3 koln@3");
    assert_eq!(terms("Ёлка и за\u{301}мок", Options { language: 8, ..document }), "елк@0 ёлка@0 замок@2 за\u{301}мок@2");
    let query = Options { asks: true, ..ENGLISH };
    assert_eq!(terms("café", query), "café@0");
    assert_eq!(terms("ёлка", Options { language: 8, ..query }), "елк@0");
}

#[test]
fn queries_have_pairs_and_single_characters_only_where_they_are_alone() {
    let query = Options { language: 19, asks: true, text: Text::Plain, ..ENGLISH };
    assert_eq!(terms("東京都 東 x語", query), "東京@0 京都@1 東@3 x@4 語@5");
}

fn next(state: &mut u64) -> usize {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    usize::try_from(*state >> 33).unwrap_or(0)
}

/// Pieces that open, close and break every construct, so that random sequences of them reach rare states.
const PIECES: [&str; 44] = [
    "word ",
    "Wörter ",
    "e\u{301}",
    "中文",
    "ไทย",
    "\n",
    "\n\n",
    "<b>",
    "</b",
    "<!--",
    "-->",
    "<script>",
    "</script>",
    "`",
    "```\n",
    "~~~ x\n",
    "[",
    "](",
    "](<",
    "]:",
    ")",
    ">",
    "\"",
    "' ",
    "'s",
    "&amp;",
    "&eacute;",
    "&#x",
    "\\",
    "\\_",
    "| ",
    "- ",
    "12. ",
    "[a]: ",
    "data:",
    "x=\"",
    " ",
    "\t",
    "\r\n",
    "\u{ad}",
    "’t ",
    "\u{0}",
    "https://a.b/",
    "z",
];

fn random_text(state: &mut u64, bytes: usize) -> Vec<u8> {
    let mut text = Vec::new();
    while text.len() < bytes {
        match next(state) % 40 {
            0 => text.push((next(state) & 0xff) as u8),
            1 => text.extend(PIECES[next(state) % PIECES.len()].repeat(next(state) % 900).bytes()),
            _ => text.extend(PIECES[next(state) % PIECES.len()].bytes()),
        }
    }
    text
}

#[test]
fn where_windows_are_cut_changes_no_token() {
    let mut analyzer = Analyzer::new(3);
    for seed in 1..=60u64 {
        let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let text = random_text(&mut state, 30_000);
        let language = (next(&mut state) % CODES.len()) as u32;
        for read in [Text::Plain, Text::Markdown, Text::Code] {
            let options = Options { language, text: read, folds: true, asks: seed % 2 == 0, ..ENGLISH };
            let whole = analyse(&mut analyzer, &text, options, WINDOW_BYTES_MAX);
            for _ in 0..3 {
                let window = LOOKAHEAD + 1 + next(&mut state) % 3000;
                assert_eq!(analyse(&mut analyzer, &text, options, window), whole, "seed {seed}, window {window}, {read:?}");
            }
        }
    }
}

#[test]
fn what_an_instance_saw_before_changes_no_token() {
    let mut used = Analyzer::new(5);
    let mut state = 77;
    for round in 0..20 {
        let text = random_text(&mut state, 5_000);
        let options = Options { language: (round % 21) as u32, ..ENGLISH };
        let fresh = analyse(&mut Analyzer::new(9), &text, options, WINDOW_BYTES_MAX);
        assert_eq!(analyse(&mut used, &text, options, WINDOW_BYTES_MAX), fresh, "round {round}");
    }
}

#[test]
fn a_text_of_very_many_words_comes_in_records_with_running_positions() {
    let text: String = (0..700_000).map(|i| format!("w{} ", i % 90_000)).collect();
    let records = analyse(&mut Analyzer::new(1), text.as_bytes(), Options { purpose: Purpose::Index, ..ENGLISH }, WINDOW_BYTES_MAX);
    assert!(records.len() > 1);
    assert_eq!(records.iter().map(|words| words[2]).sum::<u32>(), 700_000);
    assert_eq!(records.last().expect("one at least")[1], 700_000);
}

/// Positions of the `wanted` terms in the text: begin and end of each.
fn found(analyzer: &mut Analyzer, text: &[u8], options: Options, wanted: &[&str]) -> Vec<(u32, u32, u32)> {
    let mut at = 0;
    analyzer.begin(Options { purpose: Purpose::Find, ..options });
    let mark = |analyzer: &mut Analyzer| analyzer.look_for(wanted.iter().enumerate().map(|(index, term)| (index as u32, term.as_bytes())));
    mark(analyzer);
    loop {
        let end = text.len().min(at + WINDOW_BYTES_MAX);
        analyzer.window_mut()[..end - at].copy_from_slice(&text[at..end]);
        analyzer.load(end - at, end == text.len());
        loop {
            match analyzer.run() {
                Status::NeedsWindow => break,
                Status::NeedsWords => analyzer.place_words(&[[0, 3, 0]]),
                Status::NeedsFinish => {
                    analyzer.empty();
                    mark(analyzer);
                }
            }
        }
        if end == text.len() {
            return analyzer.found().iter().map(|found| (found.begin, found.end, found.term)).collect();
        }
        at += analyzer.cursor();
    }
}

/// The same, computed from the list of all tokens.
fn listed(analyzer: &mut Analyzer, text: &[u8], options: Options, wanted: &[&str]) -> Vec<(u32, u32, u32)> {
    let records = analyse(analyzer, text, Options { purpose: Purpose::List, ..options }, WINDOW_BYTES_MAX);
    let mut positions = Vec::new();
    for words in &records {
        let count = words[0] as usize;
        let bytes: Vec<u8> = words[1 + 5 * count..].iter().flat_map(|word| word.to_le_bytes()).collect();
        for token in words[1..1 + 5 * count].chunks(5) {
            let term = &bytes[token[3] as usize..(token[3] + token[4]) as usize];
            if let Some(index) = wanted.iter().position(|wanted| wanted.as_bytes() == term) {
                positions.push((token[0], token[1], index as u32));
            }
        }
    }
    positions
}

#[test]
fn places_of_terms_are_those_of_the_token_list() {
    let mut analyzer = Analyzer::new(11);
    for seed in 1..=120u64 {
        let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let text = random_text(&mut state, 90_000);
        let language = (next(&mut state) % CODES.len()) as u32;
        for read in [Text::Plain, Text::Markdown, Text::Code] {
            let options = Options { language, text: read, folds: true, ..ENGLISH };
            for wanted in
                [&["word", "wörter", "中"][..], &["worter", "é", "s", "eacut"], &["ไท", "b", "x", "z", "script"], &["t", "wort", "hidden"]]
            {
                let expected = listed(&mut analyzer, &text, options, wanted);
                let positions = found(&mut analyzer, &text, options, wanted);
                assert_eq!(positions.len(), expected.len(), "seed {seed}, {language}, {read:?}, {wanted:?}");
                assert_eq!(positions, expected, "seed {seed}, {language}, {read:?}, {wanted:?}");
            }
        }
    }
}
