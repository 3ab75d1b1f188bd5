//! Writes fragments as JSON text. Linear. Accepts any input.

use super::fragments::{Fragment, Marks};
use super::query::Query;
use super::text::{Text, BLOCK_BYTES};
use crate::record::Found;

/// The data that is written for a document.
pub struct List<'a> {
    /// Begin and end of the text without surrounding white space.
    pub content: (usize, usize),
    pub fragments: &'a [Fragment],
    pub found: &'a [Found],
    pub marks: &'a Marks,
    /// For code only.
    pub lines: Option<Lines<'a>>,
}

/// Writes the list of highlights.
pub fn write(out: &mut Vec<u8>, text: &mut Text, list: List, query: &Query) {
    let List { content: (content_begin, content_end), fragments, found, marks, mut lines } = list;
    out.push(b'[');
    for (index, fragment) in fragments.iter().enumerate() {
        out.extend_from_slice(if index == 0 { b"{\"fragment\":\"" } else { b",{\"fragment\":\"" });
        if fragment.begin > content_begin {
            out.extend_from_slice("…".as_bytes());
        }
        let marked = marks.0.get(fragment.mark_begin..fragment.mark_end).unwrap_or_default();
        let mut at = fragment.begin;
        let shown = text.around(fragment.begin, fragment.end);
        for mark in marked {
            escape(shown.get(at..mark.begin).unwrap_or_default(), out);
            out.extend_from_slice(&query.opening);
            escape(shown.get(mark.begin..mark.end).unwrap_or_default(), out);
            out.extend_from_slice(&query.closing);
            at = mark.end;
        }
        escape(shown.get(at..fragment.end).unwrap_or_default(), out);
        if fragment.end < content_end {
            out.extend_from_slice("…".as_bytes());
        }
        out.extend_from_slice(b"\",\"matchedTerms\":[");
        let positions = marked.first().zip(marked.last()).and_then(|(first, last)| found.get(first.first..=last.last)).unwrap_or_default();
        write_terms(positions, query, out);
        write_number(b"],\"startOffset\":", fragment.begin, out);
        write_number(b",\"endOffset\":", fragment.end, out);
        if let Some(lines) = &mut lines {
            write_number(b",\"startLine\":", lines.at(text, fragment.begin), out);
            write_number(b",\"endLine\":", lines.at(text, fragment.end.saturating_sub(1).max(fragment.begin)), out);
        }
        out.push(b'}');
    }
    out.push(b']');
}

/// Writes each term once, in text order.
fn write_terms(positions: &[Found], query: &Query, out: &mut Vec<u8>) {
    let mut seen: Vec<u32> = Vec::new();
    for position in positions {
        let Some(term) = query.terms.get(position.term as usize).filter(|_| !seen.contains(&position.term)) else { continue };
        if !seen.is_empty() {
            out.push(b',');
        }
        seen.push(position.term);
        out.extend_from_slice(&term.shown);
    }
}

fn write_number(name: &[u8], number: usize, out: &mut Vec<u8>) {
    out.extend_from_slice(name);
    let mut digits = [0u8; 20];
    let mut begin = digits.len();
    let mut rest = number;
    for digit in digits.iter_mut().rev() {
        *digit = b'0' + (rest % 10) as u8;
        begin -= 1;
        rest /= 10;
        if rest == 0 {
            break;
        }
    }
    out.extend_from_slice(digits.get(begin..).unwrap_or_default());
}

/// Determines the line numbers (from 1) of ascending positions in a text.
pub struct Lines<'a> {
    /// For each block of the text, the number of lines that end before it. Empty: the lines are counted.
    before_blocks: &'a [u8],
    counted: usize,
    line: usize,
}

impl<'a> Lines<'a> {
    pub fn new(before_blocks: &'a [u8]) -> Self {
        Self { before_blocks, counted: 0, line: 1 }
    }

    fn at(&mut self, text: &mut Text, offset: usize) -> usize {
        let block = offset / BLOCK_BYTES;
        if let Some(four) = self.before_blocks.chunks_exact(4).nth(block).filter(|_| block * BLOCK_BYTES > self.counted) {
            self.counted = block * BLOCK_BYTES;
            self.line = four.iter().rev().fold(0, |lines, &byte| lines << 8 | usize::from(byte)) + 1;
        }
        self.line += text.slice(self.counted, offset).iter().filter(|&&byte| byte == b'\n').count();
        self.counted = offset;
        self.line
    }
}

/// Number of bytes before the first one that JSON escapes.
fn plain_length(text: &[u8]) -> usize {
    const LOW: u64 = 0x0101_0101_0101_0101;
    let mut at = 0;
    for eight in text.chunks_exact(8) {
        let word = <[u8; 8]>::try_from(eight).map_or(0, u64::from_le_bytes);
        // The lowest set bit of each is exact: bytes below a space, quotes, backslashes.
        let zeros = |word: u64| word.wrapping_sub(LOW) & !word;
        let below = word.wrapping_sub(LOW * b' ' as u64) & !word;
        let special = (below | zeros(word ^ LOW * b'"' as u64) | zeros(word ^ LOW * b'\\' as u64)) & LOW << 7;
        if special != 0 {
            return at + (special.trailing_zeros() / 8) as usize;
        }
        at += 8;
    }
    let rest = text.get(at..).unwrap_or_default();
    at + rest.iter().position(|&byte| byte < b' ' || matches!(byte, b'"' | b'\\')).unwrap_or(rest.len())
}

fn escape(text: &[u8], out: &mut Vec<u8>) {
    let mut rest = text;
    loop {
        let (before, special) = rest.split_at(plain_length(rest));
        if special.is_empty() {
            break;
        }
        out.extend_from_slice(before);
        match special.first().copied().unwrap_or_default() {
            b'\n' => out.extend_from_slice(b"\\n"),
            b'\r' => out.extend_from_slice(b"\\r"),
            b'\t' => out.extend_from_slice(b"\\t"),
            byte @ 0..=0x1f => out.extend_from_slice(format!("\\u{byte:04x}").as_bytes()),
            byte => out.extend_from_slice(&[b'\\', byte]),
        }
        rest = special.get(1..).unwrap_or_default();
    }
    out.extend_from_slice(rest);
}

#[cfg(test)]
mod tests {
    use super::super::unescape::unescape;
    use super::*;

    const TEXT: &str = "a\nb\t\"c\" \\ / \u{7}é😀 \u{fffd}x \u{fffd}\u{fffd}";

    #[test]
    fn what_is_escaped_reads_back() {
        let mut escaped = Vec::new();
        escape(TEXT.as_bytes(), &mut escaped);
        let mut out = Vec::new();
        unescape(&escaped, true, &mut out);
        assert_eq!(out, TEXT.as_bytes());
    }
}
