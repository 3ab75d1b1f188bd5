//! Converts the stored JSON text of a document's content to text, and fragments to JSON text. Linear. Accepts
//! any input.

use super::fragments::{Fragment, Marks};
use super::text::{Jump, Text, BLOCK_BYTES};
use super::Query;
use crate::record::Found;

/// Replaces an unpaired surrogate, which is not a character.
const REPLACEMENT: char = '\u{fffd}';

/// Appends the unescaped text of `escaped`, which is JSON text between its quotes. Returns the number of
/// bytes read. A truncated escape is not read, unless this is the last piece.
pub fn unescape(escaped: &[u8], is_last: bool, out: &mut Vec<u8>) -> usize {
    let mut at = 0;
    let mut end = out.len();
    // The text never becomes longer. Eight bytes are written at a time, so a few excess bytes may be written.
    out.resize(end + escaped.len() + 8, 0);
    while let Some(rest) = escaped.get(at..).filter(|rest| !rest.is_empty()) {
        let plain = copy_plain(rest, out.get_mut(end..).unwrap_or_default());
        at += plain;
        end += plain;
        let escape = escaped.get(at..).unwrap_or_default();
        let short = match escape.get(1) {
            Some(b'n') => b'\n',
            Some(&quoted @ (b'"' | b'\\')) => quoted,
            _ => 0,
        };
        if short != 0 {
            set(out, end, &[short]);
            at += 2;
            end += 1;
        } else if let Some((character, length)) = read_escape(escape, is_last) {
            let mut bytes = [0; 4];
            let encoded = character.encode_utf8(&mut bytes).as_bytes();
            set(out, end, encoded);
            at += length;
            end += encoded.len();
        } else {
            if is_last {
                at = escaped.len();
            }
            break;
        }
    }
    out.truncate(end);
    at
}

/// Fills `out` with the unescaped text, starting at `from`. Returns the number of bytes written and the start
/// of the rest.
pub fn resolve(escaped: &[u8], from: Jump, out: &mut [u8]) -> (usize, Jump) {
    let Jump { mut at, mut skipped } = from;
    let mut end = 0;
    while end < out.len() && at < escaped.len() {
        if skipped == 0 {
            let plain = copy_plain(escaped.get(at..).unwrap_or_default(), out.get_mut(end..).unwrap_or_default());
            at += plain;
            end += plain;
            if end == out.len() || at == escaped.len() {
                break;
            }
        }
        let Some((character, length)) = read_escape(escaped.get(at..).unwrap_or_default(), true) else {
            at = escaped.len();
            break;
        };
        let mut bytes = [0; 4];
        let rest = character.encode_utf8(&mut bytes).as_bytes().get(skipped..).unwrap_or_default();
        let fitting = rest.len().min(out.len() - end);
        set(out, end, rest.get(..fitting).unwrap_or_default());
        end += fitting;
        if fitting < rest.len() {
            skipped += fitting;
            break;
        }
        skipped = 0;
        at += length;
    }
    (end, Jump { at, skipped })
}

fn set(out: &mut [u8], at: usize, bytes: &[u8]) {
    if let Some(place) = out.get_mut(at..at + bytes.len()) {
        place.copy_from_slice(bytes);
    }
}

/// Copies the bytes before the first backslash, eight at a time. Returns their number.
fn copy_plain(text: &[u8], out: &mut [u8]) -> usize {
    const LOW: u64 = 0x0101_0101_0101_0101;
    let mut at = 0;
    for (eight, place) in text.chunks_exact(8).zip(out.chunks_exact_mut(8)) {
        place.copy_from_slice(eight);
        let word = <[u8; 8]>::try_from(eight).map_or(0, u64::from_le_bytes) ^ (LOW * b'\\' as u64);
        // A zero byte is a backslash. The lowest set bit is exact.
        let zeros = word.wrapping_sub(LOW) & !word & (LOW << 7);
        if zeros != 0 {
            return at + (zeros.trailing_zeros() / 8) as usize;
        }
        at += 8;
    }
    for (&byte, place) in text.iter().zip(out).skip(at) {
        if byte == b'\\' {
            break;
        }
        *place = byte;
        at += 1;
    }
    at
}

/// The character of the escape at the start of `text`, and the length of the escape in bytes. `None` if the
/// escape is truncated.
fn read_escape(text: &[u8], is_last: bool) -> Option<(char, usize)> {
    let plain = match text.get(1)? {
        b'n' => '\n',
        b'r' => '\r',
        b't' => '\t',
        b'b' => '\u{8}',
        b'f' => '\u{c}',
        b'u' => return read_unit(text, is_last),
        &other => other as char,
    };
    Some((plain, 2))
}

fn read_unit(text: &[u8], is_last: bool) -> Option<(char, usize)> {
    let unit = hex(text.get(2..6)?);
    if !(0xd800..0xdc00).contains(&unit) {
        return Some((char::from_u32(unit).unwrap_or(REPLACEMENT), 6));
    }
    let Some(follows) = text.get(6..12) else {
        return if is_last || text.get(6).is_some_and(|&byte| byte != b'\\') { Some((REPLACEMENT, 6)) } else { None };
    };
    let low = if follows.starts_with(b"\\u") { hex(follows.get(2..).unwrap_or_default()) } else { 0 };
    if !(0xdc00..0xe000).contains(&low) {
        return Some((REPLACEMENT, 6));
    }
    Some((char::from_u32(0x1_0000 + ((unit - 0xd800) << 10) + (low - 0xdc00)).unwrap_or(REPLACEMENT), 12))
}

fn hex(digits: &[u8]) -> u32 {
    digits.iter().fold(0, |value, &digit| value << 4 | (digit as char).to_digit(16).unwrap_or(0))
}

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
        let places = marked.first().zip(marked.last()).and_then(|(first, last)| found.get(first.first..=last.last)).unwrap_or_default();
        write_terms(places, query, out);
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
fn write_terms(places: &[Found], query: &Query, out: &mut Vec<u8>) {
    let mut seen: Vec<u32> = Vec::new();
    for place in places {
        let Some(term) = query.terms.get(place.term as usize).filter(|_| !seen.contains(&place.term)) else { continue };
        if !seen.is_empty() {
            out.push(b',');
        }
        seen.push(place.term);
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
    use super::*;

    const ESCAPED: &str = r#"a\nb\t\"c\" \\ \/ \u0007é\ud83d\ude00 \ud800x \udc00\ud800"#;
    const TEXT: &str = "a\nb\t\"c\" \\ / \u{7}é😀 \u{fffd}x \u{fffd}\u{fffd}";

    #[test]
    fn escapes_are_resolved_wherever_the_text_is_cut() {
        for cut in 0..=ESCAPED.len() {
            let bytes = ESCAPED.as_bytes();
            let mut out = Vec::new();
            let read = unescape(&bytes[..cut], cut == bytes.len(), &mut out);
            assert!(read <= cut && cut - read < 12, "{cut}");
            assert_eq!(unescape(&bytes[read..], true, &mut out), bytes.len() - read);
            assert_eq!(String::from_utf8(out).as_deref(), Ok(TEXT), "{cut}");
        }
    }

    #[test]
    fn an_escape_without_an_end_is_dropped() {
        for text in ["\\", "\\u", "\\u12", "x\\ud83d\\u"] {
            let mut out = Vec::new();
            assert_eq!(unescape(text.as_bytes(), true, &mut out), text.len());
            assert!(out.len() <= 4, "{text}");
        }
    }

    #[test]
    fn what_is_escaped_reads_back() {
        let mut escaped = Vec::new();
        escape(TEXT.as_bytes(), &mut escaped);
        let mut out = Vec::new();
        unescape(&escaped, true, &mut out);
        assert_eq!(out, TEXT.as_bytes());
    }
}
