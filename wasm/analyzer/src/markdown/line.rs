//! Classifies the start of a line: list markers (their numbers are not terms), fences, definitions, comments,
//! raw elements, blank lines.

use crate::bytes::RawElement;

/// Maximum number of bytes of indentation, quote markers and list markers before the first content of a line.
const MARKS_MAX: usize = 256;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Start {
    Text,
    Blank,
    /// The line begins a block: table row, heading, list item. It ends an open code span.
    Block,
    /// An opening fence: mark and length. The content begins after its info string.
    Fence(u8, u32),
    /// `[label]: target`; footnotes (`[^1]: text`) are text.
    Definition,
    Comment,
    Raw(RawElement),
}

/// Kind of the line that begins at the start of `text`, and the number of bytes of its markers.
pub fn start(text: &[u8]) -> (Start, usize) {
    let mut at = 0;
    let mut is_item = false;
    while at < MARKS_MAX {
        let rest = text.get(at..).unwrap_or_default();
        match rest.first() {
            None | Some(b'\n') => return (Start::Blank, at),
            Some(b' ' | b'\t' | b'\r' | b'>') => at += 1,
            Some(b'-' | b'*' | b'+') if rest.get(1).is_some_and(|&next| next == b' ' || next == b'\t') => {
                is_item = true;
                at += 2;
            }
            Some(b'0'..=b'9') => match number_mark(rest) {
                Some(length) => {
                    is_item = true;
                    at += length;
                }
                None => break,
            },
            Some(&mark @ (b'`' | b'~')) => {
                return match fence(rest, mark) {
                    Some((length, content)) => (Start::Fence(mark, length), at + content),
                    None => (if is_item { Start::Block } else { Start::Text }, at),
                };
            }
            Some(b'|' | b'#') => return (Start::Block, at),
            Some(b'[') => return (if rest.get(1) == Some(&b'^') { Start::Text } else { Start::Definition }, at),
            Some(b'<') => return (angle(rest), at),
            Some(_) => break,
        }
    }
    (if is_item { Start::Block } else { Start::Text }, at)
}

/// `1.` or `23)` before white space. A number with four digits is a year at the start of a sentence.
fn number_mark(text: &[u8]) -> Option<usize> {
    let digits = text.iter().take(4).take_while(|byte| byte.is_ascii_digit()).count();
    let is_mark = digits <= 3
        && matches!(text.get(digits), Some(b'.' | b')'))
        && text.get(digits + 1).is_none_or(|&byte| matches!(byte, b' ' | b'\t' | b'\n' | b'\r'));
    is_mark.then_some((digits + 1).min(text.len()))
}

/// Length of the run of marks, and end of the info string. With backticks in the info string it is a code
/// span.
fn fence(text: &[u8], mark: u8) -> Option<(u32, usize)> {
    let run = text.iter().take_while(|&&byte| byte == mark).count();
    if run < 3 {
        return None;
    }
    let rest = text.get(run..)?;
    let info = rest.iter().position(|&byte| byte == b'\n').unwrap_or(rest.len());
    let has_mark = mark == b'`' && rest.get(..info)?.contains(&b'`');
    (!has_mark).then_some((run as u32, run + info))
}

/// If the line at the start of `text` closes the fence: the number of bytes to skip.
pub fn closes_fence(text: &[u8], mark: u8, length: u32) -> Option<usize> {
    let indent = text.iter().take(MARKS_MAX).take_while(|&&byte| matches!(byte, b' ' | b'\t' | b'>')).count();
    let rest = text.get(indent..)?;
    let run = rest.iter().take_while(|&&byte| byte == mark).count();
    let is_close = run >= length as usize
        && rest.get(run..)?.iter().find(|&&byte| !matches!(byte, b' ' | b'\t' | b'\r')).is_none_or(|&byte| byte == b'\n');
    is_close.then_some(indent + run)
}

fn angle(text: &[u8]) -> Start {
    let is_element = |name: &[u8]| {
        text.get(1..=name.len()).is_some_and(|written| written.eq_ignore_ascii_case(name))
            && text.get(name.len() + 1).is_some_and(|&byte| matches!(byte, b'>' | b' ' | b'\t' | b'\n' | b'\r'))
    };
    if text.starts_with(b"<!--") {
        Start::Comment
    } else if is_element(b"script") {
        Start::Raw(RawElement::Script)
    } else if is_element(b"style") {
        Start::Raw(RawElement::Style)
    } else {
        Start::Text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_by_example() {
        for (text, expected) in [
            ("word", (Start::Text, 0)),
            ("  \nx", (Start::Blank, 2)),
            ("1. one", (Start::Block, 3)),
            ("12) one", (Start::Block, 4)),
            ("1984. A book", (Start::Text, 0)),
            ("1.5 times", (Start::Text, 0)),
            ("> - 3. x", (Start::Block, 7)),
            ("```c++\nx", (Start::Fence(b'`', 3), 6)),
            ("- ~~~~ js\nx", (Start::Fence(b'~', 4), 9)),
            ("```a``` b", (Start::Text, 0)),
            ("| a |", (Start::Block, 0)),
            ("[a]: b", (Start::Definition, 0)),
            ("[^a]: b", (Start::Text, 0)),
            ("<!-- a", (Start::Comment, 0)),
            ("<STYLE>", (Start::Raw(RawElement::Style), 0)),
            ("<scripts>", (Start::Text, 0)),
        ] {
            assert_eq!(start(text.as_bytes()), expected, "{text}");
        }
    }

    #[test]
    fn a_fence_closes_with_as_many_marks_or_more() {
        assert_eq!(closes_fence(b"  ```` \nx", b'`', 3), Some(6));
        assert_eq!(closes_fence(b"``", b'`', 3), None);
        assert_eq!(closes_fence(b"```x", b'`', 3), None);
        assert_eq!(closes_fence(b"```", b'`', 3), Some(3));
    }
}
