//! HTML tags, autolinks and inline comments, by the rules of `CommonMark` 0.31 sections 6.5 to 6.6. Slightly
//! more lenient about attributes.

use crate::bytes::is_space;

/// End (exclusive) of the tag, closing tag, declaration, processing instruction or autolink that begins with
/// the `<` at the start of `text`. `None`: the `<` is text. Stops at the next `<` outside quotes, so that a
/// run of them takes linear time.
pub fn end(text: &[u8]) -> Option<usize> {
    match *text.get(1)? {
        b'a'..=b'z' | b'A'..=b'Z' => named_end(text, 1),
        b'/' if text.get(2).is_some_and(u8::is_ascii_alphabetic) => named_end(text, 2),
        b'!' if text.get(2).is_some_and(u8::is_ascii_alphabetic) => find_plain(text, 2, b'>'),
        b'?' => find_plain(text, 2, b'>'),
        _ => None,
    }
}

fn named_end(text: &[u8], name: usize) -> Option<usize> {
    let rest = text.get(name..)?;
    let at = name + rest.iter().position(|&byte| !byte.is_ascii_alphanumeric() && byte != b'-')?;
    match *text.get(at)? {
        b'>' => Some(at + 1),
        b'/' | b' ' | b'\t' | b'\n' | b'\r' => attributes_end(text, at),
        b':' | b'@' | b'.' | b'+' | b'_' => autolink_end(text, at),
        _ => None,
    }
}

/// A target without white space that contains a `:` or an `@`: a web or mail address.
fn autolink_end(text: &[u8], at: usize) -> Option<usize> {
    let rest = text.get(at..)?;
    let stop = rest.iter().position(|&byte| is_space(byte) || byte == b'<' || byte == b'>')?;
    let target = rest.get(..stop)?;
    let is_address = rest.get(stop) == Some(&b'>') && target.iter().any(|&byte| byte == b':' || byte == b'@');
    is_address.then_some(at + stop + 1)
}

fn attributes_end(text: &[u8], mut at: usize) -> Option<usize> {
    let mut after_equals = false;
    loop {
        let byte = *text.get(at)?;
        match byte {
            b'>' => return Some(at + 1),
            b'<' => return None,
            b'"' | b'\'' if after_equals => {
                at += 1;
                at += text.get(at..)?.iter().position(|&quote| quote == byte)?;
                after_equals = false;
            }
            b'\n' if is_blank_line(text, at + 1) => return None,
            b'=' => after_equals = true,
            _ if is_space(byte) => {}
            _ => after_equals = false,
        }
        at += 1;
    }
}

fn is_blank_line(text: &[u8], at: usize) -> bool {
    text.get(at..)
        .unwrap_or_default()
        .iter()
        .find(|&&byte| byte != b' ' && byte != b'\t' && byte != b'\r')
        .is_none_or(|&byte| byte == b'\n')
}

fn find_plain(text: &[u8], at: usize, wanted: u8) -> Option<usize> {
    let rest = text.get(at..)?;
    let stop = rest.iter().position(|&byte| byte == wanted || byte == b'<')?;
    (rest.get(stop) == Some(&wanted)).then_some(at + stop + 1)
}

/// Offset of `needle` in `text` at or after `from`.
pub fn find(text: &[u8], needle: &[u8], from: usize) -> Option<usize> {
    let rest = text.get(from..)?;
    rest.windows(needle.len()).position(|window| window == needle).map(|offset| from + offset)
}

/// Offset of the closing tag `</name` in `text`, ignoring case. `name` must be in lower case.
pub fn find_closing(text: &[u8], name: &[u8]) -> Option<usize> {
    let length = name.len() + 2;
    text.windows(length)
        .position(|window| window.starts_with(b"</") && window.get(2..).is_some_and(|written| written.eq_ignore_ascii_case(name)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_by_example() {
        for (text, expected) in [
            ("<br/>x", Some(5)),
            ("<br>", Some(4)),
            ("<a href=\"x>y\">z", Some(14)),
            ("<a href='<'>z", Some(12)),
            ("<a don't>z", Some(9)),
            ("</dd >z", Some(6)),
            ("<my-tag a b\nc>", Some(14)),
            ("<https://a.b/c?d>x", Some(17)),
            ("<me@example.org>x", Some(16)),
            ("<!DOCTYPE html>x", Some(15)),
            ("<?php x ?>", Some(10)),
            ("<stdio.h>", None),
            ("<T, U>", None),
            ("< b", None),
            ("<3", None),
            ("<a <b>", None),
            ("<a b\n\nc>", None),
            ("<a", None),
            ("<", None),
            ("<a href=\"", None),
        ] {
            assert_eq!(end(text.as_bytes()), expected, "{text}");
        }
    }
}
