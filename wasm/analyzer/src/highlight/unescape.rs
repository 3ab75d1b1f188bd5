//! Converts the stored JSON text of a document's content to text: all of it, or a range from a known position
//! (`Jump`). Linear. Accepts any input.

/// Replaces an unpaired surrogate, which is not a character.
const REPLACEMENT: char = '\u{fffd}';

/// Position in the escaped text where a block begins. Packed as 4 x the offset of an escape or of an
/// unescaped byte, plus the number of bytes of that escape's character that belong to the previous block.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub struct Jump {
    pub at: usize,
    pub skipped: usize,
}

impl Jump {
    pub fn pack(self) -> u32 {
        (self.at << 2 | self.skipped & 3) as u32
    }

    pub fn unpack(packed: u32) -> Self {
        Self { at: (packed >> 2) as usize, skipped: (packed & 3) as usize }
    }
}

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
    if let Some(target) = out.get_mut(at..at + bytes.len()) {
        target.copy_from_slice(bytes);
    }
}

/// Copies the bytes before the first backslash, eight at a time. Returns their number.
fn copy_plain(text: &[u8], out: &mut [u8]) -> usize {
    const LOW: u64 = 0x0101_0101_0101_0101;
    let mut at = 0;
    for (eight, target) in text.chunks_exact(8).zip(out.chunks_exact_mut(8)) {
        target.copy_from_slice(eight);
        let word = <[u8; 8]>::try_from(eight).map_or(0, u64::from_le_bytes) ^ (LOW * b'\\' as u64);
        // A zero byte is a backslash. The lowest set bit is exact.
        let zeros = word.wrapping_sub(LOW) & !word & (LOW << 7);
        if zeros != 0 {
            return at + (zeros.trailing_zeros() / 8) as usize;
        }
        at += 8;
    }
    for (&byte, target) in text.iter().zip(out).skip(at) {
        if byte == b'\\' {
            break;
        }
        *target = byte;
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
}
