//! Tests of the model's public interface: tokens compared with a slow tokenizer without pieces, vectors
//! compared with a slow mean, and files of arbitrary bytes.

use mds_static_model::StaticModel;

const DIMENSIONS: usize = 8;
const FIRST_BYTE_TOKEN: u16 = 3;
/// Tokens that are characters. `MERGES` lists, by rank, the merges that produce the other tokens.
const CHARACTERS: &str = "▁abcdexyz.,<é中";
const MERGES: [(&str, &str); 14] = [
    ("▁", "a"),
    ("b", "c"),
    ("a", "b"),
    ("▁", "▁"),
    ("ab", "c"),
    ("▁a", "bc"),
    ("é", "中"),
    ("x", "y"),
    ("y", "x"),
    ("x", "x"),
    (".", "."),
    ("é", "a"),
    ("xy", "xy"),
    ("▁▁", "▁▁"),
];

/// Texts of the tokens, by number. Those of byte tokens are empty.
fn vocabulary() -> Vec<String> {
    let mut tokens = vec![String::new(); usize::from(FIRST_BYTE_TOKEN) + 256];
    tokens.extend(CHARACTERS.chars().map(String::from));
    for (left, right) in MERGES {
        let merged = format!("{left}{right}");
        if !tokens.contains(&merged) {
            tokens.push(merged);
        }
    }
    tokens
}

fn token_of(vocabulary: &[String], text: &str) -> u16 {
    vocabulary.iter().position(|token| token == text).expect("a token") as u16
}

fn padded(mut bytes: Vec<u8>) -> Vec<u8> {
    bytes.resize(bytes.len().next_multiple_of(4), 0);
    bytes
}

fn number(row: usize, column: usize) -> i8 {
    ((row * 37 + column * 11) % 251) as u8 as i8
}

fn scale(row: usize) -> f32 {
    0.01 + (row % 7) as f32
}

fn model_bytes() -> Vec<u8> {
    let vocabulary = vocabulary();
    let mut characters: Vec<(u32, u16)> = CHARACTERS.chars().map(|one| (one as u32, token_of(&vocabulary, &one.to_string()))).collect();
    characters.sort_unstable();
    let merges = MERGES
        .map(|(left, right)| [left.to_string(), right.to_string(), format!("{left}{right}")].map(|text| token_of(&vocabulary, &text)));
    let mut bytes = b"MDSSTAT\x01\0\0\0\0".to_vec();
    for length in [vocabulary.len(), DIMENSIONS, characters.len(), merges.len(), usize::from(FIRST_BYTE_TOKEN)] {
        bytes.extend((length as u32).to_le_bytes());
    }
    bytes.extend(characters.iter().flat_map(|(character, _)| character.to_le_bytes()));
    bytes.extend(padded(characters.iter().flat_map(|(_, token)| token.to_le_bytes()).collect()));
    for part in 0..3 {
        bytes.extend(padded(merges.iter().flat_map(|merge| merge[part].to_le_bytes()).collect()));
    }
    bytes.extend((0..vocabulary.len()).flat_map(|row| scale(row).to_le_bytes()));
    bytes.extend((0..vocabulary.len()).flat_map(|row| (0..DIMENSIONS).map(move |column| number(row, column) as u8)));
    bytes
}

/// The definition: repeatedly merges the first of the pairs with the lowest rank.
fn slow_tokens(vocabulary: &[String], text: &str) -> Vec<u16> {
    if text.is_empty() {
        return Vec::new();
    }
    let mut symbols: Vec<(String, u16)> = Vec::new();
    for one in format!("▁{}", text.replace(' ', "▁")).chars() {
        if CHARACTERS.contains(one) {
            symbols.push((one.to_string(), token_of(vocabulary, &one.to_string())));
        } else {
            let mut bytes = [0; 4];
            let bytes = one.encode_utf8(&mut bytes).bytes();
            symbols.extend(bytes.map(|byte| ("\0".to_string(), FIRST_BYTE_TOKEN + u16::from(byte))));
        }
    }
    loop {
        let rank = |pair: &[(String, u16)]| MERGES.iter().position(|&(left, right)| pair[0].0 == left && pair[1].0 == right);
        let Some((_, at)) = symbols.windows(2).enumerate().filter_map(|(at, pair)| rank(pair).map(|rank| (rank, at))).min() else {
            return symbols.iter().map(|(_, token)| *token).collect();
        };
        let merged = format!("{}{}", symbols[at].0, symbols[at + 1].0);
        let token = token_of(vocabulary, &merged);
        symbols.splice(at..at + 2, [(merged, token)]);
    }
}

fn next(state: &mut u64) -> usize {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    *state as usize
}

fn random_text(state: &mut u64, most: usize) -> String {
    const PIECES: [&str; 24] = [
        "a", "b", "c", "ab", "abc", " ", " ", "  ", "x", "y", "xy", "yx", "é", "中", "é中", ".", "..", ",", "<", "q", "\n", "▁", "ß", "😀",
    ];
    (0..next(state) % most).map(|_| PIECES[next(state) % PIECES.len()]).collect()
}

#[test]
fn tokens_and_vectors_are_those_of_the_definition() {
    let vocabulary = vocabulary();
    let mut model = StaticModel::open(model_bytes()).expect("a model");
    assert_eq!(model.dimensions(), DIMENSIONS);
    let mut state = 7;
    for most in [4, 12, 40, 200].into_iter().cycle().take(3000) {
        let text = random_text(&mut state, most);
        let tokens = slow_tokens(&vocabulary, &text);
        assert_eq!(model.tokens(text.as_bytes()), tokens, "{text:?}");
        let sum: Vec<f64> = (0..DIMENSIONS)
            .map(|column| tokens.iter().map(|&token| f64::from(number(token.into(), column)) * f64::from(scale(token.into()))).sum())
            .collect();
        let length = sum.iter().map(|value| value * value).sum::<f64>().sqrt().max(1e-9);
        for (value, expected) in model.embed(text.as_bytes()).iter().zip(&sum) {
            assert!((f64::from(*value) - expected / length).abs() < 1e-4, "{text:?}");
        }
    }
}

#[test]
fn special_tokens_divide_a_text() {
    let vocabulary = vocabulary();
    let mut model = StaticModel::open(model_bytes()).expect("a model");
    for (text, parts, special) in [("ab<s>ab", ["ab", "ab"], 1), ("</s> a", ["", " a"], 2), ("<<unk>", ["<", ""], 0)] {
        let [before, after] = parts.map(|part| slow_tokens(&vocabulary, part));
        assert_eq!(model.tokens(text.as_bytes()), [before, vec![special], after].concat(), "{text}");
    }
}

#[test]
fn a_damaged_model_is_refused_or_reads_any_bytes() {
    let whole = model_bytes();
    let mut state = 99;
    for round in 0..4000 {
        let mut bytes = whole.clone();
        for _ in 0..=next(&mut state) % 4 {
            let at = next(&mut state) % if round % 2 == 0 { 400 } else { bytes.len() };
            bytes[at] = next(&mut state) as u8;
        }
        if round % 3 == 0 {
            bytes.truncate(next(&mut state) % (bytes.len() + 1));
        }
        if let Some(mut model) = StaticModel::open(bytes) {
            let mut text = random_text(&mut state, 60).into_bytes();
            text.extend((0..next(&mut state) % 8).map(|byte| (byte * 37 + 100) as u8));
            model.tokens(&text);
            model.embed(&text);
        }
    }
}
