//! Characters, white space and sentences of UTF-8. Bytes that are not valid UTF-8 count as characters if they
//! could begin one.

/// Returns the code point at `at` and its length in bytes. Malformed bytes, including the continuation bytes
/// after them, count as U+FFFD. Requires `at < text.len()`.
pub fn character(text: &[u8], at: usize) -> (char, usize) {
    let first = text[at];
    if first < 0x80 {
        return (first as char, 1);
    }
    let length = 1 + text[at + 1..].iter().take(3).take_while(|&&byte| is_continuation(byte)).count();
    let decoded = std::str::from_utf8(&text[at..at + length]).ok().and_then(|text| text.chars().next());
    (decoded.unwrap_or(char::REPLACEMENT_CHARACTER), length)
}

pub fn is_continuation(byte: u8) -> bool {
    byte & 0xc0 == 0x80
}

/// Number of characters that begin in these bytes.
pub fn count(text: &[u8]) -> u32 {
    text.iter().filter(|&&byte| !is_continuation(byte)).count() as u32
}

/// Position after `characters` characters from `at`, or the end.
pub fn advance(text: &[u8], at: usize, characters: u32) -> usize {
    let mut left = characters;
    let mut end = at;
    while let Some(&byte) = text.get(end) {
        if !is_continuation(byte) {
            if left == 0 {
                return end;
            }
            left -= 1;
        }
        end += 1;
    }
    end
}

/// Position `characters` characters before `at`, or `begin`.
pub fn retreat(text: &[u8], begin: usize, at: usize, characters: u32) -> usize {
    let mut left = characters;
    let mut start = at;
    while start > begin && left > 0 {
        start -= 1;
        left -= u32::from(!is_continuation(text[start]));
    }
    start
}

/// The last white space character that begins in `begin..=end`.
pub fn last_space(text: &[u8], begin: usize, end: usize) -> Option<usize> {
    (begin..=end).rev().find(|&at| at < text.len() && !is_continuation(text[at]) && is_space(text, at))
}
pub fn is_space(text: &[u8], at: usize) -> bool {
    match text[at] {
        byte @ 0..=0x7f => byte == b' ' || (9..=13).contains(&byte),
        _ => character(text, at).0.is_whitespace(),
    }
}

/// First position in `at..end` that is not white space; `end` if there is none.
pub fn skip_space(text: &[u8], at: usize, end: usize) -> usize {
    let mut next = at;
    while next < end && is_space(text, next) {
        next += character(text, next).1;
    }
    next.min(end)
}

/// End of the text in `begin..end` without trailing white space.
pub fn trim_end(text: &[u8], begin: usize, end: usize) -> usize {
    let mut last = end;
    while last > begin {
        let mut at = last - 1;
        while at > begin && is_continuation(text[at]) && last - at < 4 {
            at -= 1;
        }
        if !is_space(text, at) || at + character(text, at).1 != last {
            return last;
        }
        last = at;
    }
    last
}

/// Position of the first such byte at or after `at`, or the end.
pub fn find(text: &[u8], byte: u8, at: usize) -> usize {
    text.get(at..).and_then(|rest| rest.iter().position(|&next| next == byte)).map_or(text.len(), |found| at + found)
}

/// End of the first sentence that ends after `at`: the position where white space or the next sentence
/// begins. `None` if no sentence ends before `end`.
pub fn sentence_end(text: &[u8], at: usize, end: usize) -> Option<usize> {
    let mut next = at;
    while next < end {
        let (mark, length) = character(text, next);
        next = match mark {
            '.' | '!' | '?' | '…' | '؟' | '۔' | '।' | '॥' | '።' => {
                let close = closers_end(text, next + length, end);
                let begins = skip_space(text, close, text.len());
                let goes_on =
                    begins == close || text.get(begins).is_some_and(u8::is_ascii_lowercase) || (mark == '.' && is_label(text, at, next));
                if close < end && !goes_on {
                    return Some(close);
                }
                close
            }
            // Scripts without spaces between sentences.
            '。' | '！' | '？' | '｡' | '．' => {
                let close = closers_end(text, next + length, end);
                if close < end {
                    return Some(close);
                }
                close
            }
            _ => next + length,
        };
    }
    None
}

/// Returns whether the text before a full stop is a number or an initial: `1. Start`, `J. Smith`. The
/// sentence does not begin before `begin`.
fn is_label(text: &[u8], begin: usize, stop: usize) -> bool {
    let word = &text[text[begin..stop].iter().rposition(u8::is_ascii_whitespace).map_or(begin, |space| begin + space + 1)..stop];
    let is_number = word.len() <= 3 && !word.is_empty() && word.iter().all(u8::is_ascii_digit);
    is_number || (word.len() == 1 && word[0].is_ascii_uppercase())
}

/// End of further marks, quotes and brackets that close a sentence after its first mark.
fn closers_end(text: &[u8], at: usize, end: usize) -> usize {
    let mut next = at;
    while next < end {
        let (mark, length) = character(text, next);
        if !matches!(
            mark,
            '.' | '!' | '?' | '"' | '\'' | ')' | ']' | '*' | '_' | '`' | '”' | '’' | '»' | '」' | '』' | '）' | '。' | '！' | '？'
        ) {
            break;
        }
        next += length;
    }
    next
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sentences(text: &str) -> Vec<&str> {
        let mut found = Vec::new();
        let mut at = 0;
        while let Some(end) = sentence_end(text.as_bytes(), at, text.len()) {
            found.push(text[at..end].trim());
            at = end;
        }
        found.push(text[at..].trim());
        found
    }

    #[test]
    fn sentences_by_example() {
        for (text, expected) in [
            ("One. Two! Three?", &["One.", "Two!", "Three?"][..]),
            ("See e.g. this, i.e. that. Then go.", &["See e.g. this, i.e. that.", "Then go."]),
            ("Version 1.2 of J. Smith. Next.", &["Version 1.2 of J. Smith.", "Next."]),
            ("1. First step. Second.", &["1. First step.", "Second."]),
            ("He said \"No.\" (Really?) Yes… No", &["He said \"No.\"", "(Really?)", "Yes…", "No"]),
            ("今日は。明日は「ね。」次", &["今日は。", "明日は「ね。」", "次"]),
            ("यह है। वह है।", &["यह है।", "वह है।"]),
            ("no end", &["no end"]),
        ] {
            assert_eq!(sentences(text), expected, "{text}");
        }
    }

    #[test]
    fn white_space_of_any_script_is_trimmed() {
        let text = "\u{3000}\u{a0} a\u{2009}b \u{85}\u{2028}".as_bytes();
        let begin = skip_space(text, 0, text.len());
        assert_eq!(&text[begin..trim_end(text, begin, text.len())], "a\u{2009}b".as_bytes());
        assert_eq!(skip_space(b" \n", 0, 2), 2);
        assert_eq!(trim_end(b" \n", 0, 2), 0);
    }

    #[test]
    fn characters_are_counted_and_passed_over() {
        let text = "aé中😀b".as_bytes();
        assert_eq!(count(text), 5);
        assert_eq!((0..=5).map(|characters| advance(text, 0, characters)).collect::<Vec<_>>(), [0, 1, 3, 6, 10, 11]);
        assert_eq!(character(&[0xff, 0x80, 0x80, 0x80, 0x80], 0), (char::REPLACEMENT_CHARACTER, 4));
    }
}
