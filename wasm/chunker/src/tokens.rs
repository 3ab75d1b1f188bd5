//! Tokens of source code, as far as cuts need them: brackets, ends of statements and lines, and opaque
//! ranges: strings, comments, regular expressions. One set of rules serves all languages, because documents
//! need not declare theirs. A string or comment that is never closed is not treated as one. This is
//! remembered, so that the text is searched for an end only once.

use crate::text::{find, is_continuation};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Word,
    Space,
    Newline,
    Open,
    /// `)` or `]`.
    Close,
    CloseBrace,
    Semicolon,
    /// A string, comment or regular expression. Its content is ignored.
    Opaque,
}

#[derive(Clone, Copy, Debug)]
pub struct Token {
    pub kind: Kind,
    pub begin: usize,
    pub end: usize,
}

/// Kinds of closing marks that are searched for.
#[derive(Clone, Copy)]
enum End {
    Single,
    Double,
    Regex,
    Backtick,
    TripleSingle,
    TripleDouble,
    Block,
    Html,
}

/// Longer runs of letters or white space become several tokens, so that no run is read repeatedly.
const RUN_BYTES_MAX: usize = 256;

/// A position in the code. Cheap to copy, so that reading can return to it.
#[derive(Clone, Copy)]
pub struct Tokens<'t> {
    text: &'t [u8],
    pub at: usize,
    /// End of the opaque token that contains `at`, if there is one.
    pub opaque_end: usize,
    /// The last byte before `at` that is not white space, and the position after it.
    before: u8,
    pub before_end: usize,
    /// By `End`: opening marks in this range of positions are never closed.
    unclosed: [[usize; 2]; 8],
}

impl<'t> Tokens<'t> {
    pub fn new(text: &'t [u8]) -> Self {
        Tokens { text, at: 0, opaque_end: 0, before: 0, before_end: 0, unclosed: [[0; 2]; 8] }
    }

    /// Copies what a reader further ahead in the same text has learned.
    pub fn learn(&mut self, later: &Self) {
        self.unclosed = later.unclosed;
    }

    fn is_unclosed(&self, kind: End) -> bool {
        let [begin, end] = self.unclosed[kind as usize];
        begin <= self.at && self.at < end
    }

    fn byte(&self, at: usize) -> u8 {
        self.text.get(at).copied().unwrap_or(b'\n')
    }

    /// The byte before `at`; a line break at the start of the text.
    fn behind(&self, at: usize) -> u8 {
        at.checked_sub(1).map_or(b'\n', |at| self.byte(at))
    }

    fn starts(&self, mark: &[u8]) -> bool {
        self.text.get(self.at..).is_some_and(|rest| rest.starts_with(mark))
    }

    /// Kind and end of the token at `at`.
    fn look(&mut self) -> (Kind, usize) {
        let at = self.at;
        let next = at + 1;
        match self.text[at] {
            b'\n' => (Kind::Newline, next),
            b'{' | b'(' | b'[' => (Kind::Open, next),
            b')' | b']' => (Kind::Close, next),
            b'}' => (Kind::CloseBrace, next),
            b';' => (Kind::Semicolon, next),
            byte if is_blank(byte) => (Kind::Space, self.run_end(next, is_blank)),
            byte if MAY_OPEN[byte as usize] => match self.opaque_end_of(byte) {
                Some(end) => (Kind::Opaque, end),
                None => (Kind::Word, next),
            },
            _ => (Kind::Word, self.run_end(next, |byte| !ENDS_WORD[byte as usize])),
        }
    }

    fn run_end(&self, begin: usize, is_part: impl Fn(u8) -> bool) -> usize {
        let window = &self.text[begin..self.text.len().min(begin + RUN_BYTES_MAX)];
        if let Some(length) = window.iter().position(|&byte| !is_part(byte)) {
            return begin + length;
        }
        let end = begin + window.len();
        end + self.text[end..].iter().take(3).take_while(|&&byte| is_continuation(byte)).count()
    }

    /// End of the string, comment or regular expression that begins at `at`. `None` if none begins there.
    fn opaque_end_of(&mut self, byte: u8) -> Option<usize> {
        match byte {
            b'"' if self.starts(b"\"\"\"") => self.search(End::TripleDouble, 3, b"\"\"\""),
            b'"' => self.line_end_of(End::Double, b'"'),
            b'\'' if self.starts(b"'''") => self.search(End::TripleSingle, 3, b"'''"),
            b'\'' => self.opens_quote().then(|| self.line_end_of(End::Single, b'\'')).flatten(),
            b'`' => self.backtick_end(),
            b'<' if self.starts(b"<!--") => self.search(End::Html, 4, b"-->"),
            b'/' if self.starts(b"/*") => self.search(End::Block, 2, b"*/"),
            // Not `http://`, `url(//`, `src=//`.
            b'/' if self.starts(b"//") && !matches!(self.behind(self.at), b':' | b'(' | b'=') => Some(find(self.text, b'\n', self.at)),
            b'/' => self.opens_regex().then(|| self.line_end_of(End::Regex, b'/')).flatten(),
            b'#' if self.stands_free(1) || self.starts(b"#!") && self.behind(self.at) == b'\n' => Some(find(self.text, b'\n', self.at)),
            b'-' if self.starts(b"--") && self.stands_free(2) => Some(find(self.text, b'\n', self.at)),
            _ => None,
        }
    }

    /// Returns whether white space is on both sides of a mark of the given length. A further `#` after a
    /// single `#` also counts. Such a mark begins a comment up to the end of the line.
    fn stands_free(&self, length: usize) -> bool {
        let after = self.byte(self.at + length);
        let is_free = after == b'\n' || is_blank(after) || (after == b'#' && length == 1);
        is_free && (self.behind(self.at) == b'\n' || is_blank(self.behind(self.at)))
    }

    /// Excludes `don't`, `&'a str` and `<'a`; includes `f'x'`.
    fn opens_quote(&self) -> bool {
        let behind = self.behind(self.at);
        if matches!(behind, b'&' | b'<') && self.behind(self.at - 1) != behind {
            return self.run_end(self.at + 1, |byte| byte.is_ascii_alphanumeric() || byte == b'_') == self.at + 2
                && self.byte(self.at + 2) == b'\'';
        }
        if !is_letter(behind) {
            return true;
        }
        let prefix = (1..=3).take_while(|&back| is_letter(self.at.checked_sub(back).map_or(b' ', |at| self.byte(at)))).count();
        prefix <= 2 && self.text[self.at - prefix..self.at].iter().all(|byte| b"rRbBfFuU".contains(byte))
    }

    /// Where a value may begin, `/` begins a regular expression. After a value it is a division.
    fn opens_regex(&self) -> bool {
        let after = self.byte(self.at + 1);
        let follows_word = |word: &[u8]| self.text[..self.before_end].ends_with(word);
        let may_begin =
            b"(,=:[!&|?{};+-*%~^".contains(&self.before) || follows_word(b"return") || follows_word(b"typeof") || follows_word(b"case");
        may_begin && self.before != 0 && !is_blank(after) && !matches!(after, b'\n' | b'>' | b'/' | b'*')
    }

    /// End of a token that must be closed on its line: a string by its quote, a regular expression by a `/`
    /// outside its character classes.
    fn line_end_of(&mut self, kind: End, close: u8) -> Option<usize> {
        if self.is_unclosed(kind) {
            return None;
        }
        let mut in_class = false;
        let mut at = self.at + 1;
        while at < self.text.len() {
            match self.text[at] {
                b'\\' => at += 1,
                b'\n' => break,
                b'[' if matches!(kind, End::Regex) => in_class = true,
                b']' => in_class = false,
                byte if byte == close && !in_class => return Some(at + 1),
                _ => {}
            }
            at += 1;
        }
        self.unclosed[kind as usize] = [self.at, at.min(self.text.len())];
        None
    }

    fn backtick_end(&mut self) -> Option<usize> {
        if self.is_unclosed(End::Backtick) {
            return None;
        }
        let mut at = self.at + 1;
        while at < self.text.len() {
            match self.text[at] {
                b'\\' => at += 1,
                b'`' => return Some(at + 1),
                _ => {}
            }
            at += 1;
        }
        self.unclosed[End::Backtick as usize] = [self.at, self.text.len()];
        None
    }

    /// End of a token that is closed by a mark anywhere after its first `opening` bytes.
    fn search(&mut self, kind: End, opening: usize, close: &[u8]) -> Option<usize> {
        if self.is_unclosed(kind) {
            return None;
        }
        let begin = self.at + opening;
        let found = self.text[begin..].windows(close.len()).position(|window| window == close);
        if found.is_none() {
            self.unclosed[kind as usize] = [self.at, self.text.len()];
        }
        found.map(|length| begin + length + close.len())
    }

    /// Returns the token at `at` and moves past it. `None` at the end.
    pub fn read(&mut self) -> Option<Token> {
        let begin = self.at;
        if begin >= self.text.len() {
            return None;
        }
        let (kind, end) = if begin < self.opaque_end { (Kind::Opaque, self.opaque_end) } else { self.look() };
        self.at = end;
        if !matches!(kind, Kind::Space | Kind::Newline) {
            (self.before, self.before_end) = (self.text[end - 1], end);
        }
        Some(Token { kind, begin, end })
    }
}

/// White space within a line.
fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\r' | 0x0b | 0x0c)
}

fn is_letter(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80
}

/// Bytes that may begin a string, comment or regular expression.
const MAY_OPEN: [bool; 256] = table(b"\"'`</#-");
const ENDS_WORD: [bool; 256] = table(b"\"'`</#-{}()[]; \t\r\x0b\x0c\n");

const fn table(bytes: &[u8]) -> [bool; 256] {
    let mut table = [false; 256];
    let mut index = 0;
    while index < bytes.len() {
        table[bytes[index] as usize] = true;
        index += 1;
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The tokens of a text, with opaque tokens shown as `_`.
    fn counted(text: &str) -> String {
        let mut tokens = Tokens::new(text.as_bytes());
        let tokens = std::iter::from_fn(move || tokens.read());
        tokens.map(|token| if token.kind == Kind::Opaque { "_" } else { &text[token.begin..token.end] }).collect()
    }

    #[test]
    fn strings_comments_and_expressions_are_opaque() {
        for (text, expected) in [
            ("a(\"}\\\"(\") + '{'", "a(_) + _"),
            ("x // {\ny /* } */ z", "x _\ny _ z"),
            ("a = /[/{]\\//g.test(b) / c", "a = _g.test(b) / c"),
            ("return /}/; a / b / c", "return _; a / b / c"),
            ("`a ${ {} } b\n`;", "_;"),
            ("<!-- ( --><p>don't (</p>", "_<p>don't (</p>"),
            ("def f(): # a (\n  '''(\n'''", "def f(): _\n  _"),
            ("#id { color: #fff }", "#id { color: #fff }"),
            ("#!/bin/sh (\nx", "_\nx"),
            ("select 1 -- (\n, i--", "select 1 _\n, i--"),
            ("url(http://a.b/c) url(//d)", "url(http://a.b/c) url(//d)"),
            ("fn f<'a>(x: &'a str) -> char { '(' }", "fn f<'a>(x: &'a str) -> char { _ }"),
            ("f'{x}' rb'(' l'(", "f_ rb_ l'("),
            ("\"open (\n)", "\"open (\n)"),
            ("'a\\\nb('", "_"),
            ("/* open ( `", "/* open ( `"),
            ("<br/> </p> a => /x/", "<br/> </p> a => /x/"),
        ] {
            assert_eq!(counted(text), expected, "{text}");
        }
    }
}
