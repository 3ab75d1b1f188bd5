//! Classes of bytes by scanning mode. One table lookup per byte steers the scanner.

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum Class {
    /// Separates tokens and starts nothing.
    Dull,
    /// ASCII letter or digit.
    Word,
    /// First byte of a multi-byte character, or an invalid byte.
    High,
    Newline,
    /// Starts a markdown construct in this mode.
    Mark,
}

/// How the text at the cursor is read. The number in `Span` and `Fence` is the length of the opening run of
/// marks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Mode {
    /// No markup: metadata values, queries.
    Plain,
    /// Source code: identifiers instead of words.
    Code,
    Text,
    Span(u32),
    Fence(u8, u32),
    /// Inside an HTML comment that began at the start of a line.
    Comment,
    /// Inside a `<script>` or `<style>` element that began at the start of a line.
    Raw(RawElement),
    /// Inside a run without white space: a link target that is too long for the lookahead, such as a data
    /// URI.
    Target,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RawElement {
    Script,
    Style,
}

pub type Table = [Class; 256];

const fn table(newline: Class, letters: &[u8], marks: &[u8]) -> Table {
    let mut table = [Class::Dull; 256];
    let mut byte = 0;
    while byte < 256 {
        let value = byte as u8;
        if value.is_ascii_alphanumeric() {
            table[byte] = Class::Word;
        } else if value >= 0x80 {
            table[byte] = Class::High;
        }
        byte += 1;
    }
    let mut letter = 0;
    while letter < letters.len() {
        table[letters[letter] as usize] = Class::Word;
        letter += 1;
    }
    let mut mark = 0;
    while mark < marks.len() {
        table[marks[mark] as usize] = Class::Mark;
        mark += 1;
    }
    table[b'\n' as usize] = newline;
    table
}

pub static PLAIN: Table = table(Class::Dull, b"", b"");
pub static CODE: Table = table(Class::Dull, b"_", b"");
pub static TEXT: Table = table(Class::Newline, b"", b"<&\\`]");
pub static SPAN: Table = table(Class::Newline, b"", b"`");
pub static FENCE: Table = table(Class::Newline, b"", b"");

/// Space, tab or line break (including the carriage return of CRLF line ends).
pub fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\r' | 0x0c)
}
