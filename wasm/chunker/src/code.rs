//! Chunks of code. A chunk ends only where braces, parentheses and brackets balance. Preferred is the first
//! blank line after half of the budget is filled, then the last line end. In a line that is too long for a
//! chunk, the order is: the last closing brace, the last end of another bracket or statement, white space.
//! Strings and comments are cut only if there is no other position. Text enclosed by brackets is kept whole
//! regardless of its length. Brackets that are never closed, and closing brackets without an opening one,
//! count as letters.

use crate::text::{advance, count, last_space, skip_space, trim_end};
use crate::tokens::{Kind, Token, Tokens};
use crate::Chunk;

/// Maximum number of unclosed brackets that are tracked. If more are never closed, the brackets do not
/// reflect the structure of the text.
const UNCLOSED_MAX: usize = 4096;

pub fn chunk(text: &[u8], budget: u32) -> Vec<Chunk> {
    let mut chunks = Vec::new();
    let unclosed = unclosed_brackets(text);
    let brackets = unclosed.as_deref();
    let mut reading = Reading { tokens: Tokens::new(text), unclosed: 0, depth: 0 };
    loop {
        reading.tokens.at = skip_space(text, reading.tokens.at, text.len());
        let begin = reading.tokens.at;
        if begin == text.len() {
            return chunks;
        }
        let mut chunker = Chunker::new(text, budget, brackets, reading);
        let cut = chunker.cut();
        chunks.push([begin as u32, cut.end as u32]);
        reading = cut.next;
        reading.tokens.learn(&chunker.reading.tokens);
    }
}

/// Positions of the opening brackets that are never closed, ascending. `None` if there are too many.
fn unclosed_brackets(text: &[u8]) -> Option<Vec<usize>> {
    let mut opened = Vec::new();
    let mut depth = 0;
    let mut tokens = Tokens::new(text);
    while let Some(token) = tokens.read() {
        match token.kind {
            Kind::Open => {
                if depth < UNCLOSED_MAX {
                    opened.truncate(depth);
                    opened.push(token.begin);
                }
                depth += 1;
            }
            Kind::Close | Kind::CloseBrace => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    opened.truncate(depth);
    (depth <= UNCLOSED_MAX).then_some(opened)
}

/// State of the reader: the next token, the next unclosed bracket, the depth.
#[derive(Clone, Copy)]
struct Reading<'t> {
    tokens: Tokens<'t>,
    unclosed: usize,
    depth: u32,
}

/// A cut position: where the chunk ends, and where the next one continues.
#[derive(Clone, Copy)]
struct Cut<'t> {
    end: usize,
    next: Reading<'t>,
}

/// The cut positions within the budget, by kind.
#[derive(Default)]
struct Cuts<'t> {
    /// The first blank line in the second half that is followed by a line without indentation. `blank`: the
    /// first of all blank lines in the second half.
    outer_blank: Option<Cut<'t>>,
    blank: Option<Cut<'t>>,
    line: Option<Cut<'t>>,
    brace: Option<Cut<'t>>,
    point: Option<Cut<'t>>,
    /// White space in the second half.
    space: Option<Cut<'t>>,
}

struct Chunker<'t> {
    text: &'t [u8],
    budget: u32,
    /// `None`: brackets are ignored.
    brackets: Option<&'t [usize]>,
    reading: Reading<'t>,
    begin: usize,
    /// Number of characters in the chunk so far.
    fill: u32,
    /// Whether the line, starting at the chunk's first character, is too long for a chunk.
    is_long_line: bool,
    /// Whether the line contains anything but white space so far.
    has_content: bool,
    cuts: Cuts<'t>,
}

impl<'t> Chunker<'t> {
    fn new(text: &'t [u8], budget: u32, brackets: Option<&'t [usize]>, reading: Reading<'t>) -> Self {
        let begin = reading.tokens.at;
        let is_long_line = is_long_line(text, begin, budget);
        Chunker { text, budget, brackets, reading, begin, fill: 0, is_long_line, has_content: false, cuts: Cuts::default() }
    }

    /// Finds the end of the chunk that begins here.
    fn cut(&mut self) -> Cut<'t> {
        while let Some(token) = self.reading.tokens.read() {
            let characters = self.characters(token);
            let is_space = matches!(token.kind, Kind::Space | Kind::Newline);
            if !is_space && self.fill + characters > self.budget {
                return self.best(token).unwrap_or_else(|| self.construct_end(token));
            }
            self.take(token);
            self.fill += characters;
            // The first one is the best. The rest is read only if all of it may fit.
            if let Some(cut) = self.cuts.outer_blank.filter(|_| self.text.len() - self.begin > 4 * self.budget as usize) {
                return cut;
            }
        }
        self.end_of_text()
    }

    /// Number of characters of the token. A token that is too long for a chunk is not counted to its end.
    fn characters(&self, token: Token) -> u32 {
        count(&self.text[token.begin..advance(&self.text[..token.end], token.begin, self.budget + 1)])
    }

    fn end_of_text(&self) -> Cut<'t> {
        Cut { end: trim_end(self.text, self.begin, self.text.len()), next: self.reading }
    }

    /// Records the cut positions that the token provides.
    fn take(&mut self, token: Token) {
        let is_outer = self.reading.depth == 0;
        let is_second_half = self.fill * 2 >= self.budget;
        match token.kind {
            Kind::Newline => {
                if is_outer && self.has_content {
                    self.take_line_end(token.begin, is_second_half);
                }
                self.begin_line(token.end);
            }
            Kind::Space if is_outer && is_second_half && self.reading.tokens.before_end == token.begin => {
                self.cuts.space = Some(self.here(token.begin));
            }
            Kind::Semicolon if is_outer && self.is_long_line => self.cuts.point = Some(self.here(token.end)),
            Kind::Close if self.closes() && self.is_long_line => self.cuts.point = Some(self.behind_bracket(token.end, self.budget)),
            Kind::CloseBrace if self.closes() && self.is_long_line => self.cuts.brace = Some(self.behind_bracket(token.end, self.budget)),
            Kind::Open => self.open(token.begin),
            _ => {}
        }
        self.has_content |= !matches!(token.kind, Kind::Space | Kind::Newline);
    }

    fn begin_line(&mut self, at: usize) {
        self.has_content = false;
        self.is_long_line = is_long_line(self.text, at, self.budget);
    }

    fn take_line_end(&mut self, stop: usize, is_second_half: bool) {
        let cut = self.here(stop);
        self.cuts.line = Some(cut);
        if !is_second_half {
            return;
        }
        let next = skip_space(self.text, stop, self.text.len());
        let space = &self.text[stop..next];
        if space.iter().filter(|&&byte| byte == b'\n').count() > 1 {
            self.cuts.blank = self.cuts.blank.or(Some(cut));
            if space.last() == Some(&b'\n') {
                self.cuts.outer_blank = self.cuts.outer_blank.or(Some(cut));
            }
        }
    }

    /// The position at `end` of the token that was just read.
    fn here(&self, end: usize) -> Cut<'t> {
        Cut { end: trim_end(self.text, self.begin, end), next: self.reading }
    }

    /// The same after a closing bracket. Includes the mark that ends its statement if `budget` characters
    /// suffice.
    fn behind_bracket(&self, end: usize, budget: u32) -> Cut<'t> {
        let mut cut = self.here(end);
        if matches!(self.text.get(end), Some(b';' | b',')) && self.fill + 2 <= budget {
            cut.end += 1;
            cut.next.tokens.at += 1;
        }
        cut
    }

    fn open(&mut self, begin: usize) {
        match self.brackets {
            Some(unclosed) if unclosed.get(self.reading.unclosed) == Some(&begin) => self.reading.unclosed += 1,
            Some(_) => self.reading.depth += 1,
            None => {}
        }
    }

    /// Processes a closing bracket. Returns whether the brackets balance after it.
    fn closes(&mut self) -> bool {
        let was_open = self.reading.depth > 0;
        self.reading.depth = self.reading.depth.saturating_sub(1);
        was_open && self.reading.depth == 0
    }

    /// The best position before the end of the budget, which is in this token. `None` if brackets enclose all
    /// of it.
    fn best(&self, token: Token) -> Option<Cut<'t>> {
        let Cuts { outer_blank, blank, line, brace, point, space } = self.cuts;
        let cut = outer_blank.or(blank).or(line).or(brace).or(point);
        if self.reading.depth > 0 {
            return cut.or_else(|| space.filter(|&space| self.closes_soon(space.next)));
        }
        cut.or(space).or_else(|| self.inside(token)).or_else(|| Some(self.forced(token)))
    }

    /// Returns whether the brackets that open after the position close within one chunk from there.
    fn closes_soon(&self, from: Reading<'t>) -> bool {
        let limit = advance(self.text, from.tokens.at, self.budget);
        let mut ahead = Chunker { reading: from, cuts: Cuts::default(), ..*self };
        while let Some(token) = ahead.reading.tokens.read().filter(|token| token.end <= limit) {
            match token.kind {
                Kind::Open => ahead.open(token.begin),
                Kind::Close | Kind::CloseBrace if ahead.closes() => return true,
                _ => {}
            }
        }
        false
    }

    /// In a string or comment: the last line end, else white space in the second half of the chunk.
    fn inside(&self, token: Token) -> Option<Cut<'t>> {
        let limit = advance(self.text, self.begin, self.budget);
        if token.kind != Kind::Opaque || token.begin >= limit {
            return None;
        }
        let line = self.text[token.begin..limit].iter().rposition(|&byte| byte == b'\n').map(|at| token.begin + at);
        let half = advance(self.text, self.begin, self.budget.div_ceil(2)).max(token.begin + 1);
        let at = line.filter(|&at| at > self.begin).or_else(|| last_space(self.text, half, limit))?;
        Some(self.split(token, at))
    }

    /// Before the token, or inside it at the end of the budget.
    fn forced(&self, token: Token) -> Cut<'t> {
        let limit = advance(self.text, self.begin, self.budget);
        let at = if self.fill * 2 >= self.budget || token.begin >= limit { token.begin } else { limit };
        self.split(token, at)
    }

    fn split(&self, token: Token, at: usize) -> Cut<'t> {
        let mut cut = self.here(at);
        cut.next.tokens.at = at;
        if token.kind == Kind::Opaque {
            cut.next.tokens.opaque_end = token.end;
        }
        cut
    }

    /// The end of a construct that is kept whole: the end of the line on which the brackets balance again, or
    /// the closing bracket if that line is too long.
    fn construct_end(&mut self, first: Token) -> Cut<'t> {
        let mut next = Some(first);
        while let Some(token) = next {
            match token.kind {
                Kind::Open => self.open(token.begin),
                Kind::Close | Kind::CloseBrace if self.closes() && self.is_long_line => return self.behind_bracket(token.end, u32::MAX),
                Kind::Newline if self.reading.depth == 0 => return self.here(token.begin),
                Kind::Newline => self.begin_line(token.end),
                _ => {}
            }
            next = self.reading.tokens.read();
        }
        self.end_of_text()
    }
}

/// Returns whether more than `budget` characters follow on the line.
fn is_long_line(text: &[u8], at: usize, budget: u32) -> bool {
    let budget = budget as usize;
    let window = &text[at..text.len().min(at + 4 * (budget + 1))];
    let line = &window[..window.iter().position(|&byte| byte == b'\n').unwrap_or(window.len())];
    line.len() > budget && count(line) as usize > budget
}
