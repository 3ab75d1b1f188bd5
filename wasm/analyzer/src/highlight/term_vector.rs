//! A document's term vector: its terms, each with its positions. With it a document is not scanned again when
//! its highlights are requested again. Built from the same text by the scanner that builds the index. The
//! host keeps it in memory together with the LSN of the document, never on disk.
//!
//! Layout, little-endian:
//! - `u32` each: bytes of the text, offset of its first byte that is not white space, end of the last one,
//!   number of terms, flags
//! - for each block of 256 bytes, a `u32` with its position in the escaped text (`unescape::Jump`)
//! - for code, for each block, a `u32` with the number of lines that end before it
//! - for each term, in byte order of the terms, the position of its entry, followed by the end of the last
//!   entry (`u16`, or `u32` if the entries are large)
//! - the entries: the length of the term in one byte, the term, and for each position two varints: the
//!   distance in bytes from the begin of the previous position, and its own length

use super::text::BLOCK_BYTES;
use crate::lexicon::Lexicon;
use crate::record::{Found, Record};

const HEADER_WORDS: usize = 5;
const FLAG_CODE: u32 = 1;
/// The positions of entries are `u32`.
const FLAG_WIDE: u32 = 2;

/// Writes the vector of the text whose tokens are listed in the record.
pub fn write(out: &mut Vec<u8>, text: &[u8], jumps: &[u32], is_code: bool, record: &Record, lexicon: &Lexicon) {
    let mut entries = Vec::new();
    let offsets = write_entries(&mut entries, record, lexicon);
    let is_wide = entries.len() > usize::from(u16::MAX);
    let (content_begin, content_end) = content_of(text);
    let flags = if is_code { FLAG_CODE } else { 0 } | if is_wide { FLAG_WIDE } else { 0 };
    out.clear();
    for number in [text.len() as u32, content_begin as u32, content_end as u32, offsets.len() as u32 - 1, flags] {
        out.extend_from_slice(&number.to_le_bytes());
    }
    for jump in jumps {
        out.extend_from_slice(&jump.to_le_bytes());
    }
    if is_code {
        let mut lines = 0;
        for block in text.chunks(BLOCK_BYTES) {
            out.extend_from_slice(&u32::to_le_bytes(lines));
            lines += block.iter().filter(|&&byte| byte == b'\n').count() as u32;
        }
    }
    for offset in offsets {
        out.extend_from_slice(offset.to_le_bytes().get(..if is_wide { 4 } else { 2 }).unwrap_or_default());
    }
    out.extend_from_slice(&entries);
}

/// Begin and end of the text without surrounding white space.
pub fn content_of(text: &[u8]) -> (usize, usize) {
    let begin = text.iter().position(|byte| !byte.is_ascii_whitespace()).unwrap_or(0);
    let end = text.iter().rposition(|byte| !byte.is_ascii_whitespace()).map_or(0, |last| last + 1);
    (begin, end)
}

fn write_entries(out: &mut Vec<u8>, record: &Record, lexicon: &Lexicon) -> Vec<u32> {
    let spans_by_term = record.spans_by_term();
    let terms = spans_by_term.iter().map(|(term, spans)| (lexicon.term(term), spans));
    let mut order: Vec<_> = terms.map(|(term, spans)| (first_eight(term, term.len()), term, spans)).collect();
    order.sort_unstable_by_key(|&(first, term, _)| (first, term));
    let mut offsets = Vec::with_capacity(order.len() + 1);
    for (_, term, spans) in order {
        offsets.push(out.len() as u32);
        out.push(term.len() as u8);
        out.extend_from_slice(term);
        let mut before = 0;
        for &(begin, end) in spans {
            write_varint(out, begin.wrapping_sub(before));
            write_varint(out, end.wrapping_sub(begin));
            before = begin;
        }
    }
    offsets.push(out.len() as u32);
    offsets
}

/// The first bytes of a term of the given length as a number, padded with zeros. It orders most terms by
/// their bytes without a function call.
#[inline]
fn first_eight(bytes: &[u8], length: usize) -> u64 {
    let word = match bytes.first_chunk::<8>() {
        Some(eight) => u64::from_be_bytes(*eight),
        None => bytes.iter().rev().fold(0, |word, &byte| word >> 8 | u64::from(byte) << 56),
    };
    if length < 8 {
        word & !(u64::MAX >> (8 * length))
    } else {
        word
    }
}

fn write_varint(out: &mut Vec<u8>, mut value: u32) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

pub struct TermVector<'a> {
    pub text_bytes: usize,
    pub content_begin: usize,
    pub content_end: usize,
    pub is_code: bool,
    pub jumps: &'a [u8],
    /// Empty except for code.
    pub lines: &'a [u8],
    terms: usize,
    is_wide: bool,
    offsets: &'a [u8],
    entries: &'a [u8],
}

impl<'a> TermVector<'a> {
    /// Returns `None` if the bytes are truncated.
    pub fn read(bytes: &'a [u8]) -> Option<Self> {
        let (header, rest) = bytes.split_at_checked(HEADER_WORDS * 4)?;
        let word = |index: usize| number(header, index, 4);
        let (text_bytes, terms, flags) = (word(0), word(3), word(4) as u32);
        let (is_code, is_wide) = (flags & FLAG_CODE != 0, flags & FLAG_WIDE != 0);
        let blocks = text_bytes.div_ceil(BLOCK_BYTES) * 4;
        let (jumps, rest) = rest.split_at_checked(blocks)?;
        let (lines, rest) = rest.split_at_checked(if is_code { blocks } else { 0 })?;
        let (offsets, entries) = rest.split_at_checked((terms + 1) * if is_wide { 4 } else { 2 })?;
        let (content_begin, content_end) = (word(1), word(2));
        Some(Self { text_bytes, content_begin, content_end, is_code, jumps, lines, terms, is_wide, offsets, entries })
    }

    pub fn terms(&self) -> usize {
        self.terms
    }

    /// The index of the term in this vector.
    pub fn find(&self, term: &[u8]) -> Option<usize> {
        let wanted = first_eight(term, term.len());
        let (mut first, mut end) = (0, self.terms);
        while first < end {
            let middle = usize::midpoint(first, end);
            let (length, bytes) = self.entry(middle);
            let order = first_eight(bytes, length).cmp(&wanted);
            match order.then_with(|| bytes.get(..length).unwrap_or_default().cmp(term)) {
                core::cmp::Ordering::Less => first = middle + 1,
                core::cmp::Ordering::Equal => return Some(middle),
                core::cmp::Ordering::Greater => end = middle,
            }
        }
        None
    }

    /// Appends the positions of a term. `mark` is the term's index in the query.
    pub fn positions(&self, index: usize, mark: u32, out: &mut Vec<Found>) {
        let (length, bytes) = self.entry(index);
        let mut rest = bytes.get(length..).unwrap_or_default();
        let mut begin = 0u32;
        while !rest.is_empty() {
            begin = begin.wrapping_add(read_varint(&mut rest));
            out.push(Found { begin, end: begin.wrapping_add(read_varint(&mut rest)), term: mark });
        }
    }

    /// The length of the term, and the bytes of the term followed by its positions.
    #[inline]
    fn entry(&self, index: usize) -> (usize, &'a [u8]) {
        let bytes = self.entries.get(self.offset(index)..self.offset(index + 1)).unwrap_or_default();
        bytes.split_first().map_or((0, &[]), |(&length, rest)| (usize::from(length), rest))
    }

    #[inline]
    fn offset(&self, index: usize) -> usize {
        number(self.offsets, index, if self.is_wide { 4 } else { 2 })
    }
}

#[inline]
fn number(bytes: &[u8], index: usize, width: usize) -> usize {
    let wide = bytes.get(index * width..(index + 1) * width).unwrap_or_default();
    wide.iter().rev().fold(0, |value, &byte| value << 8 | usize::from(byte))
}

#[inline]
fn read_varint(rest: &mut &[u8]) -> u32 {
    let mut value = 0u32;
    let mut shift = 0;
    while let Some((&byte, after)) = rest.split_first() {
        *rest = after;
        value |= u32::from(byte & 0x7f).wrapping_shl(shift);
        shift += 7;
        if byte < 0x80 {
            break;
        }
    }
    value
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::highlight::{Highlighter, Progress};
    use crate::record::Purpose;
    use crate::scanner::{Analyzer, Options, Text};

    fn vector_of(text: &str, kind: Text) -> Vec<u8> {
        let options = Options { language: 0, stem: false, text: kind, folds: true, asks: false, purpose: Purpose::Index };
        let (mut analyzer, mut highlighter) = (Analyzer::new(3), Highlighter::default());
        highlighter.begin_vector(&mut analyzer, options, text.as_bytes());
        while highlighter.run(&mut analyzer) != Progress::Done {}
        highlighter.finish_vector(&analyzer).to_vec()
    }

    fn positions(vector: &TermVector, term: &str) -> Option<Vec<(u32, u32, u32)>> {
        let mut found = Vec::new();
        vector.positions(vector.find(term.as_bytes())?, 7, &mut found);
        Some(found.iter().map(|found| (found.begin, found.end, found.term)).collect())
    }

    #[test]
    fn every_term_is_found_with_its_positions_however_many_there_are() {
        for count in [1usize, 7, 300, 20_000] {
            let words: Vec<String> = (0..count).map(|i| format!("{}w{i}", "long".repeat(i % 5))).collect();
            let text = format!("{0}\\n{0}", words.join(" "));
            let half = text.len() as u32 / 2;
            let bytes = vector_of(&text, Text::Markdown);
            let vector = TermVector::read(&bytes).expect("well formed");
            assert_eq!((vector.terms(), vector.is_wide), (count, count > 5000));
            let mut begin = 0;
            for word in &words {
                let end = begin + word.len() as u32;
                assert_eq!(positions(&vector, word), Some(vec![(begin, end, 7), (half + begin, half + end, 7)]), "{word}");
                begin = end + 1;
            }
            for absent in ["", "w", "longw", "zzz", "longlonglonglonglong"] {
                assert_eq!(vector.find(absent.as_bytes()), None, "{absent}");
            }
        }
    }

    #[test]
    fn terms_that_begin_alike_are_told_apart() {
        let words = ["ab", "abcdefgh", "abcdefghi", "abcdefgi", "abcdefg", "abcdefghij", "é", "éa"];
        let bytes = vector_of(&words.join(" "), Text::Markdown);
        let vector = TermVector::read(&bytes).expect("well formed");
        let mut begin = 0;
        for word in words {
            let end = begin + word.len() as u32;
            assert_eq!(positions(&vector, word), Some(vec![(begin, end, 7)]), "{word}");
            begin = end + 1;
        }
    }

    #[test]
    fn bytes_that_end_too_early_are_refused_and_lines_are_those_of_code() {
        let text = "one\\ntwo\\n".repeat(200);
        let bytes = vector_of(&text, Text::Code);
        let vector = TermVector::read(&bytes).expect("well formed");
        let lines: Vec<usize> = (0..vector.lines.len() / 4).map(|block| number(vector.lines, block, 4)).collect();
        assert_eq!(lines, [0, 64, 128, 192, 256, 320, 384]);
        assert_eq!((vector.text_bytes, vector.content_begin, vector.content_end), (1600, 0, 1599));
        let sections = bytes.len() - vector.entries.len();
        assert!((0..sections).all(|end| TermVector::read(&bytes[..end]).is_none()));
        assert!(TermVector::read(&vector_of("one", Text::Markdown)).is_some_and(|prose| prose.lines.is_empty()));
    }
}
