//! Character entities: `&eacute;`, `&#233;`, `&#xE9;`. Entities of letters belong to words; all others
//! separate them. Anything that is not an entity is text.

use super::entity_names::NAMES;
use crate::characters::{kind, Kind};

/// Longest name (`thetasym`) or number (`#1114111`, `#x10FFFF`), in bytes.
const NAME_BYTES_MAX: usize = 8;

/// The character of the entity at `at` and the length of the entity in bytes. `None` if there is no entity.
pub fn decode(text: &[u8], at: usize) -> Option<(char, usize)> {
    if *text.get(at)? != b'&' {
        return None;
    }
    let rest = text.get(at + 1..)?;
    let length = rest.iter().take(NAME_BYTES_MAX + 1).position(|&byte| byte == b';')?;
    let name = core::str::from_utf8(rest.get(..length)?).ok()?;
    let code = match name.strip_prefix('#') {
        Some(number) => match number.strip_prefix(['x', 'X']) {
            Some(digits) if is_number(digits, 16) => u32::from_str_radix(digits, 16).ok()?,
            None if is_number(number, 10) => number.parse().ok()?,
            _ => return None,
        },
        None => NAMES.binary_search_by_key(&name, |row| row.0).ok().and_then(|row| NAMES.get(row))?.1,
    };
    Some((char::from_u32(code).unwrap_or('\u{fffd}'), length + 2))
}

fn is_number(digits: &str, radix: u32) -> bool {
    !digits.is_empty() && digits.chars().all(|digit| digit.is_digit(radix))
}

/// Like `decode`, but only for entities that continue a word.
pub fn letter(text: &[u8], at: usize) -> Option<(char, usize)> {
    decode(text, at).filter(|&(character, _)| matches!(kind(character), Kind::Letter | Kind::Mark | Kind::Ignorable))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entities_by_example() {
        assert!(NAMES.windows(2).all(|pair| pair[0].0 < pair[1].0));
        for (text, expected) in [
            ("&eacute;s", Some(('é', 8))),
            ("&#233;", Some(('é', 6))),
            ("&#xE9;", Some(('é', 6))),
            ("&nbsp;", Some(('\u{a0}', 6))),
            ("&thetasym;", Some(('ϑ', 10))),
            ("&#1114112;", Some(('\u{fffd}', 10))),
            ("&foo;", None),
            ("&;", None),
            ("&#;", None),
            ("&#x;", None),
            ("&#+1;", None),
            ("&amp", None),
            ("x", None),
        ] {
            assert_eq!(decode(text.as_bytes(), 0), expected, "{text}");
        }
    }
}
