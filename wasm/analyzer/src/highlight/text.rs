//! The text of a document as fragments read it: either whole, or resolved block by block on access from the
//! escaped text in which it is stored. The start of each block in the escaped text is kept in the document's
//! term vector (`Jump`).

use super::unescape::{resolve, Jump};

/// Number of bytes of text resolved at once. A fragment of 150 bytes reads two or three blocks. The start of
/// a block takes 4 bytes.
pub const BLOCK_BYTES: usize = 256;
/// Margin that a decision about a cut reads on both sides: one character.
const MARGIN_BYTES: usize = 4;

/// Resolves all of `escaped` into `text` and records where its blocks begin.
pub fn resolve_blocks(escaped: &[u8], text: &mut Vec<u8>, jumps: &mut Vec<u32>) {
    text.clear();
    text.reserve(escaped.len() + BLOCK_BYTES);
    jumps.clear();
    let mut next = Jump::default();
    while next.at < escaped.len() {
        let begin = text.len();
        jumps.push(next.pack());
        text.resize(begin + BLOCK_BYTES, 0);
        let (bytes, after) = resolve(escaped, next, text.get_mut(begin..).unwrap_or_default());
        text.truncate(begin + bytes);
        next = after;
    }
}

/// The stored form of a text that is not resolved yet.
pub struct Source<'a> {
    pub escaped: &'a [u8],
    /// Little-endian, four bytes each.
    pub jumps: &'a [u8],
    /// For each block: whether it has been resolved.
    pub resolved: &'a mut Vec<bool>,
}

pub struct Text<'a> {
    bytes: &'a mut Vec<u8>,
    source: Option<Source<'a>>,
}

impl<'a> Text<'a> {
    pub fn whole(bytes: &'a mut Vec<u8>) -> Self {
        Self { bytes, source: None }
    }

    /// @param bytes buffer for the text; outside of the resolved blocks it contains data of earlier texts
    pub fn stored(bytes: &'a mut Vec<u8>, length: usize, source: Source<'a>) -> Self {
        bytes.resize(length, 0);
        source.resolved.clear();
        source.resolved.resize(length.div_ceil(BLOCK_BYTES), false);
        Self { bytes, source: Some(source) }
    }

    pub fn len(&self) -> usize {
        self.bytes.len()
    }

    /// The text, of which only the range and one character on both sides may be read.
    pub fn around(&mut self, begin: usize, end: usize) -> &[u8] {
        if let Some(source) = &mut self.source {
            let first = begin.saturating_sub(MARGIN_BYTES) / BLOCK_BYTES;
            let last = (end + MARGIN_BYTES).min(self.bytes.len()).div_ceil(BLOCK_BYTES);
            for block in first..last {
                source.resolve(block, self.bytes);
            }
        }
        self.bytes
    }

    pub fn slice(&mut self, begin: usize, end: usize) -> &[u8] {
        self.around(begin, end).get(begin..end).unwrap_or_default()
    }
}

impl Source<'_> {
    fn resolve(&mut self, block: usize, text: &mut [u8]) {
        let Some(resolved) = self.resolved.get_mut(block).filter(|resolved| !**resolved) else { return };
        *resolved = true;
        let end = text.len().min((block + 1) * BLOCK_BYTES);
        if let (Some(out), Some(four)) = (text.get_mut(block * BLOCK_BYTES..end), self.jumps.chunks_exact(4).nth(block)) {
            resolve(self.escaped, Jump::unpack(four.iter().rev().fold(0, |value, &byte| value << 8 | u32::from(byte))), out);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::unescape::unescape;
    use super::*;

    #[test]
    fn any_block_is_resolved_alone_as_in_the_whole() {
        let pieces = ["plain words ", "\\n", "\\\"", "\\u0007", "\\ud800", "é", "😀", "\\\\", "x"];
        for seed in 0..200usize {
            let escaped: String = (0..400).map(|at| pieces[(at * (seed + 3) + at * at / (seed + 1)) % pieces.len()]).collect();
            let (mut whole, mut jumps) = (Vec::new(), Vec::new());
            resolve_blocks(escaped.as_bytes(), &mut whole, &mut jumps);
            let mut expected = Vec::new();
            unescape(escaped.as_bytes(), true, &mut expected);
            assert_eq!(whole, expected, "{seed}");
            let jumps: Vec<u8> = jumps.iter().flat_map(|jump| jump.to_le_bytes()).collect();
            for begin in (0..whole.len()).step_by(97) {
                let (mut buffer, mut resolved) = (vec![b'?'; 5000], Vec::new());
                let source = Source { escaped: escaped.as_bytes(), jumps: &jumps, resolved: &mut resolved };
                let mut text = Text::stored(&mut buffer, whole.len(), source);
                let end = whole.len().min(begin + 300);
                assert_eq!(text.slice(begin, end), &whole[begin..end], "{seed}, {begin}");
            }
        }
    }
}
