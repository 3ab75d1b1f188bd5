//! Targets of links, images and reference definitions: `](target "title")` and `[label]: target "title"`.

use crate::bytes::is_space;

/// The result of the search for a target.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Target {
    /// A target. The text continues at this offset (a title is text).
    Ends(usize),
    /// A target that is longer than the lookahead. Starting at this offset, the scanner skips to the next
    /// white space, quote or bracket.
    Long(usize),
    /// Not a target, and no target begins before this offset.
    None(usize),
}

/// The target after `](` at the start of `text`. `sees_end`: the text ends where `text` does.
pub fn inline(text: &[u8], sees_end: bool) -> Target {
    let begin = 2 + spaces(text.get(2..).unwrap_or_default());
    let Some(end) = target_end(text, begin, sees_end) else { return Target::Long(begin) };
    match text.get(end) {
        Some(b')') => Target::Ends(end + 1),
        Some(&byte) if is_space(byte) => {
            let next = end + spaces(text.get(end..).unwrap_or_default());
            match text.get(next) {
                Some(b')') => Target::Ends(next + 1),
                Some(b'"' | b'\'' | b'(') => Target::Ends(next),
                _ => Target::None(end),
            }
        }
        _ => Target::None(end),
    }
}

/// The target after `]:` at the start of `text`, in a line that began with `[`. Only a title may follow it in
/// the line.
pub fn definition(text: &[u8], sees_end: bool) -> Target {
    let begin = 2 + spaces(text.get(2..).unwrap_or_default());
    if text.get(begin).is_none_or(|&byte| byte == b'\n') {
        return Target::None(2);
    }
    let Some(end) = definition_end(text, begin, sees_end) else { return Target::Long(begin) };
    let next = end + spaces(text.get(end..).unwrap_or_default());
    match text.get(next) {
        None | Some(b'\n' | b'"' | b'\'' | b'(') => Target::Ends(end),
        _ => Target::None(2),
    }
}

/// Number of spaces, tabs and carriage returns at the start of `text`, without line breaks.
fn spaces(text: &[u8]) -> usize {
    text.iter().take_while(|&&byte| byte == b' ' || byte == b'\t' || byte == b'\r').count()
}

/// End of the target that begins at `begin`: at white space, at the bracket that closes it, or after the `>`
/// of a target in angle brackets.
fn target_end(text: &[u8], begin: usize, sees_end: bool) -> Option<usize> {
    let rest = text.get(begin..).unwrap_or_default();
    if rest.first() == Some(&b'<') {
        if let Some(close) = rest.iter().skip(1).position(|&byte| matches!(byte, b'>' | b'<' | b'\n')) {
            if rest.get(close + 1) == Some(&b'>') {
                return Some(begin + close + 2);
            }
        }
    }
    let mut depth = 0u32;
    for (offset, &byte) in rest.iter().enumerate() {
        match byte {
            b'(' => depth += 1,
            b')' if depth == 0 => return Some(begin + offset),
            b')' => depth -= 1,
            _ if is_space(byte) => return Some(begin + offset),
            _ => {}
        }
    }
    sees_end.then_some(text.len())
}

fn definition_end(text: &[u8], begin: usize, sees_end: bool) -> Option<usize> {
    let rest = text.get(begin..).unwrap_or_default();
    match rest.iter().position(|&byte| is_space(byte)) {
        Some(stop) => Some(begin + stop),
        None => sees_end.then_some(text.len()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inline_targets_by_example() {
        for (text, expected) in [
            ("](a.md) x", Target::Ends(7)),
            ("](a(b)c) x", Target::Ends(8)),
            ("](a \"title\")", Target::Ends(4)),
            ("](<a b>) x", Target::Ends(8)),
            ("]( a ) x", Target::Ends(6)),
            ("]() x", Target::Ends(3)),
            ("](a b) x", Target::None(3)),
            ("](a", Target::None(3)),
        ] {
            assert_eq!(inline(text.as_bytes(), true), expected, "{text}");
        }
        assert_eq!(inline(b"](data:image/png;base64,AAAA", false), Target::Long(2));
    }

    #[test]
    fn definitions_by_example() {
        for (text, expected) in [
            ("]: a.md\nx", Target::Ends(7)),
            ("]: a.md \"title\"", Target::Ends(7)),
            ("]: this is text", Target::None(2)),
            ("]:\n", Target::None(2)),
            ("]: a", Target::Ends(4)),
        ] {
            assert_eq!(definition(text.as_bytes(), true), expected, "{text}");
        }
        assert_eq!(definition(b"]: data:image/png;base64,AAAA", false), Target::Long(3));
    }
}
