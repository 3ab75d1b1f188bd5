//! Converts text to tokens. A space becomes `▁`, and one is inserted before the text. The text is one
//! sequence of characters; a character without a token becomes its bytes. Most pairs of neighbours are never
//! merged across, so the text is cut between them into pieces. The pieces are merged separately and cached.

use crate::layout::Layout;
use crate::merges::{Merger, Merges};
use crate::pieces::Pieces;

const SPACE: u32 = '▁' as u32;
/// In texts these marks stand for their own tokens. The text after them is tokenized as a new text.
const SPECIALS: [(&[u8], u16); 3] = [(b"<unk>", 0), (b"<s>", 1), (b"</s>", 2)];
/// A longer run without a cut position is merged in parts of this length. No word is that long. In a run that
/// is, tokens at the seams may differ.
const RUN_BYTES_MAX: usize = 1 << 16;
const ASCII: usize = 128;
/// Maximum lengths of cached pieces: 16 384 words, 1 MB, and 2 048 longer pieces (spaces and dashes of
/// tables), 0.4 MB.
const SHORT_BYTES_MAX: usize = 31;
const LONG_BYTES_MAX: usize = 127;

pub struct Tokenizer {
    merges: Merges,
    short: Pieces<SHORT_BYTES_MAX, 15>,
    long: Pieces<LONG_BYTES_MAX, 40>,
    merger: Merger,
    /// Tokens of characters, by code point. `NO_TOKEN` if a character has none.
    characters: Vec<u16>,
    first_byte_token: u16,
    /// Whether some token contains this pair of adjacent ASCII characters (space for `▁`).
    joins: Vec<bool>,
    piece: Vec<u8>,
    symbols: Vec<u16>,
}

const NO_TOKEN: u16 = u16::MAX;

impl Tokenizer {
    /// Returns `None` if the model refers to tokens that are not in its table.
    pub fn new(layout: &Layout, bytes: &[u8]) -> Option<Self> {
        let is_row = |&token: &u16| usize::from(token) < layout.rows;
        let last = layout.characters(bytes).map(|(character, _)| character).max()?;
        if last > char::MAX as u32 || layout.rows > usize::from(NO_TOKEN) {
            return None;
        }
        let mut characters = vec![NO_TOKEN; last as usize + 1];
        for (character, token) in layout.characters(bytes) {
            *characters.get_mut(character as usize)? = Some(token).filter(is_row)?;
        }
        if !layout.merges(bytes).all(|merge| merge.iter().all(is_row)) {
            return None;
        }
        Some(Tokenizer {
            joins: joins_of(layout, bytes),
            merges: Merges::new(layout.merges(bytes)),
            short: Pieces::new(1 << 14),
            long: Pieces::new(1 << 11),
            merger: Merger::default(),
            characters,
            first_byte_token: layout.first_byte_token,
            piece: Vec::new(),
            symbols: Vec::new(),
        })
    }

    /// Appends the tokens of a text, in order. Invalid UTF-8 is encoded as bytes.
    pub fn encode(&mut self, text: &[u8], tokens: &mut Vec<u16>) {
        let mut begin = 0;
        while let Some((at, mark, token)) = next_special(text, begin) {
            self.encode_plain(&text[begin..at], tokens);
            tokens.push(token);
            begin = at + mark.len();
        }
        self.encode_plain(&text[begin..], tokens);
    }

    fn encode_plain(&mut self, text: &[u8], tokens: &mut Vec<u16>) {
        if text.is_empty() {
            return;
        }
        // The first piece includes the space before the text.
        let first = self.piece_end(text, 0, self.joins[join(b' ', text[0])] || text[0] >= 0x80);
        let mut piece = std::mem::take(&mut self.piece);
        piece.clear();
        piece.push(b' ');
        piece.extend_from_slice(&text[..first]);
        self.encode_piece(&piece, tokens);
        self.piece = piece;
        let mut begin = first;
        while begin < text.len() {
            let end = self.piece_end(text, begin, true);
            self.encode_piece(&text[begin..end], tokens);
            begin = end;
        }
    }

    /// End of the piece that begins at `begin`: the first pair of neighbours that no token contains.
    /// `joins_first`: whether the piece includes the first character at all.
    fn piece_end(&self, text: &[u8], begin: usize, joins_first: bool) -> usize {
        if !joins_first {
            return begin;
        }
        let limit = text.len().min(begin + RUN_BYTES_MAX);
        let mut end = begin + 1;
        while end < limit && self.are_joined(text, end) {
            end += 1;
        }
        // Does not cut inside a character.
        if end == limit {
            end + text[end..].iter().take(3).take_while(|&&byte| byte & 0xc0 == 0x80).count()
        } else {
            end
        }
    }

    /// Returns whether a token may span the position `at`. Pairs with non-ASCII characters are assumed to be
    /// joined. Exceptions are line breaks, and a space after a non-ASCII character other than `▁`.
    fn are_joined(&self, text: &[u8], at: usize) -> bool {
        let (before, next) = (text[at - 1], text[at]);
        if next >= 0x80 {
            return before != b'\n';
        }
        if before < 0x80 {
            return self.joins[join(before, next)];
        }
        next != b'\n' && (next != b' ' || text[..at].ends_with("▁".as_bytes()))
    }

    fn encode_piece(&mut self, piece: &[u8], tokens: &mut Vec<u16>) {
        let is_short = piece.len() <= SHORT_BYTES_MAX;
        if let Some(known) = if is_short { self.short.find(piece) } else { self.long.find(piece) } {
            tokens.extend_from_slice(known);
            return;
        }
        self.symbols.clear();
        for part in piece.utf8_chunks() {
            for character in part.valid().chars() {
                let code = if character == ' ' { SPACE } else { character as u32 };
                match self.characters.get(code as usize).copied().filter(|&token| token != NO_TOKEN) {
                    Some(token) => self.symbols.push(token),
                    None => self.push_bytes(character.encode_utf8(&mut [0; 4]).as_bytes()),
                }
            }
            self.push_bytes(part.invalid());
        }
        let begin = tokens.len();
        self.merger.merge(&self.merges, &mut self.symbols, tokens);
        if is_short {
            self.short.keep(piece, &tokens[begin..]);
        } else {
            self.long.keep(piece, &tokens[begin..]);
        }
    }

    fn push_bytes(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.symbols.push(self.first_byte_token + u16::from(byte));
        }
    }
}

fn join(before: u8, next: u8) -> usize {
    (usize::from(before) % ASCII) * ASCII + usize::from(next) % ASCII
}

/// For all merges, by pairs of ASCII characters: whether the pair can be adjacent in a token. The first and
/// last characters of tokens are derived from the merges.
fn joins_of(layout: &Layout, bytes: &[u8]) -> Vec<bool> {
    const UNKNOWN: u8 = 0xff;
    /// Represents all other characters.
    const OTHER: u8 = 0x80;
    let mut first = vec![UNKNOWN; layout.rows];
    let mut last = vec![UNKNOWN; layout.rows];
    for (character, token) in layout.characters(bytes) {
        let byte = if character == SPACE { b' ' } else { u8::try_from(character).ok().filter(u8::is_ascii).unwrap_or(OTHER) };
        (first[usize::from(token)], last[usize::from(token)]) = (byte, byte);
    }
    // A merge may precede the merges that produce its parts. The loop repeats until nothing new is found.
    let mut is_known = false;
    while !is_known {
        is_known = true;
        for [left, right, merged] in layout.merges(bytes).map(|merge| merge.map(usize::from)) {
            if first[merged] == UNKNOWN && first[left] != UNKNOWN && last[right] != UNKNOWN {
                (first[merged], last[merged]) = (first[left], last[right]);
                is_known = false;
            }
        }
    }
    let mut joins = vec![false; ASCII * ASCII];
    for [left, right, _] in layout.merges(bytes).map(|merge| merge.map(usize::from)) {
        let (before, next) = (last[left], first[right]);
        if before < OTHER && next < OTHER {
            joins[join(before, next)] = true;
        }
    }
    joins
}

/// The next special token at or after `begin`: its position, its mark, its number.
fn next_special(text: &[u8], begin: usize) -> Option<(usize, &'static [u8], u16)> {
    let mut at = begin;
    while let Some(found) = text[at..].iter().position(|&byte| byte == b'<') {
        at += found;
        if let Some(&(mark, token)) = SPECIALS.iter().find(|(mark, _)| text[at..].starts_with(mark)) {
            return Some((at, mark, token));
        }
        at += 1;
    }
    None
}
