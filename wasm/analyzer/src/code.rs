//! Identifiers of source code and their parts. An identifier is a run of letters, digits, `_` and `-` that
//! neither begins nor ends with `-` and contains a letter or digit. Its parts are the words joined by
//! `camelCase`, `snake_case` and `kebab-case`. Runs of capitals stay together.

use crate::words::{continuation, WORD_BYTES_MAX};

/// End of the run that begins at the start of `text`, without trailing `-`, and whether it is all ASCII. The
/// run must not begin with `-`.
pub fn identifier_end(text: &[u8]) -> (usize, bool) {
    let stop = text.len().min(WORD_BYTES_MAX);
    let mut end = 0;
    let mut is_ascii = true;
    while let Some(&byte) = text.get(end).filter(|_| end < stop) {
        let length = match byte {
            b'_' | b'-' => 1,
            _ if byte.is_ascii_alphanumeric() => 1,
            0x80.. => continuation(text, end),
            _ => 0,
        };
        if length == 0 || end + length > stop {
            break;
        }
        is_ascii &= byte < 0x80;
        end += length;
    }
    while end > 0 && text.get(end - 1) == Some(&b'-') {
        end -= 1;
    }
    (end, is_ascii)
}

/// Returns whether the identifier consists only of `_` and `-`.
pub fn is_empty(identifier: &[u8]) -> bool {
    identifier.iter().all(|&byte| is_joint(byte))
}

fn is_joint(byte: u8) -> bool {
    matches!(byte, b'_' | b'-')
}

/// Begin and end of the next part at or after `at`. Upper case is recognized in ASCII only; other letters
/// continue the part.
pub fn next_part(identifier: &[u8], at: usize) -> Option<(usize, usize)> {
    let begin = at + identifier.get(at..)?.iter().position(|&byte| !is_joint(byte))?;
    let mut end = begin + 1;
    while let Some(&byte) = identifier.get(end) {
        let before = identifier.get(end - 1).copied().unwrap_or_default();
        let next = identifier.get(end + 1).copied().unwrap_or_default();
        let starts_word = byte.is_ascii_uppercase() && (!before.is_ascii_uppercase() || next.is_ascii_lowercase());
        if is_joint(byte) || starts_word {
            break;
        }
        end += 1;
    }
    Some((begin, end))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(identifier: &str) -> String {
        let mut found = Vec::new();
        let mut at = 0;
        while let Some((begin, end)) = next_part(identifier.as_bytes(), at) {
            found.push(&identifier[begin..end]);
            at = end;
        }
        found.join(" ")
    }

    #[test]
    fn parts_by_example() {
        for (identifier, expected) in [
            ("parseHTTPResponse", "parse HTTP Response"),
            ("HTTPServer2Go", "HTTP Server2 Go"),
            ("user_name", "user name"),
            ("__init__", "init"),
            ("parse-html", "parse html"),
            ("MAX_VALUE", "MAX VALUE"),
            ("utf8Decode", "utf8 Decode"),
            ("x", "x"),
            ("IDs", "I Ds"),
            ("getÜber", "getÜber"),
            ("straßeName", "straße Name"),
            ("_", ""),
        ] {
            assert_eq!(parts(identifier), expected, "{identifier}");
        }
    }

    #[test]
    fn an_identifier_ends_where_it_should() {
        for (text, expected) in [
            ("getUser(x)", "getUser"),
            ("i--;", "i"),
            ("x->y", "x"),
            ("a-b c", "a-b"),
            ("__x__.y", "__x__"),
            ("naïve-fn ", "naïve-fn"),
            ("名", ""),
        ] {
            assert_eq!(&text[..identifier_end(text.as_bytes()).0], expected, "{text}");
        }
        assert_eq!(identifier_end("k".repeat(600).as_bytes()), (WORD_BYTES_MAX, true));
        assert!(is_empty(b"___") && !is_empty(b"_1"));
    }
}
