//! The non-blank lines of a markdown text, in order, each with the quality of a cut before it. Each line is
//! classified from itself and the following line. Paragraphs, lists, tables, fences and headings follow
//! `CommonMark` as far as cuts require it.

use crate::text::{count, find, skip_space, trim_end};

/// The quality of a cut before a line, best first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Cut {
    /// A heading of this level that does not follow another heading.
    Section(u8),
    /// The beginning of a paragraph, list, table or fenced block.
    Block,
    /// Inside a block: the next list item, or a blank line in a fenced block.
    Part,
    /// Inside a block: a table row, a line of code, a nested item.
    Line,
    /// In running text, where cuts depend on sentences and words, or after a heading.
    Flow,
}

/// A line without leading and trailing white space.
#[derive(Clone, Copy, Debug)]
pub struct Line {
    pub begin: usize,
    pub end: usize,
    /// Number of characters of the text before `begin` and before `end`.
    pub first: u32,
    pub last: u32,
    pub cut: Cut,
    /// Part of a heading or of frontmatter.
    pub is_heading: bool,
}

/// The kind of the previous line.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Before {
    Nothing,
    /// The opening line of a fence. The next line belongs to it.
    Opening,
    Heading,
    Paragraph,
    Quote,
    EmptyQuote,
    Code,
    Table,
    TableHead,
}

#[derive(Clone, Copy)]
struct Fence {
    mark: u8,
    length: usize,
}

/// The frontmatter must end within this number of bytes from the start.
const FRONTMATTER_BYTES_MAX: usize = 1 << 16;
/// Indentation, in columns, from which a line continues a list item, and from which it is code.
const ITEM_INDENT: usize = 2;
const CODE_INDENT: usize = 4;

pub struct Lines<'t> {
    text: &'t [u8],
    /// Start of the next line, and number of characters of the text before it.
    at: usize,
    characters: u32,
    /// End of the frontmatter; 0 without frontmatter.
    frontmatter_end: usize,
    fence: Option<Fence>,
    in_list: bool,
    before: Before,
}

impl<'t> Lines<'t> {
    pub fn new(text: &'t [u8]) -> Self {
        Lines { text, at: 0, characters: 0, frontmatter_end: frontmatter_end(text), fence: None, in_list: false, before: Before::Nothing }
    }

    /// `content` is the line without surrounding white space. `indent` is its indentation in columns.
    fn classify(&mut self, content: &[u8], indent: usize, begin: usize, next: usize, after_blank: bool) -> (Cut, bool) {
        if begin < self.frontmatter_end {
            let is_first = self.before == Before::Nothing;
            // The text after the last line belongs to the frontmatter as to a heading.
            self.before = if find(self.text, b'\n', begin) >= self.frontmatter_end { Before::Heading } else { Before::Code };
            return (if is_first { Cut::Block } else { Cut::Line }, true);
        }
        if let Some(fence) = self.fence {
            return (self.in_fence(fence, content, after_blank), false);
        }
        let is_inside = self.in_list && indent >= ITEM_INDENT;
        if let Some(fence) = fence_of(content).filter(|_| indent < CODE_INDENT || is_inside) {
            self.fence = Some(fence);
            return (self.open(is_inside, Before::Opening), false);
        }
        if let Some(level) = heading_level(content).filter(|_| indent < CODE_INDENT) {
            return (self.heading(level), true);
        }
        if is_item(content, self.before == Before::Paragraph && !after_blank) && (indent < CODE_INDENT || self.in_list) {
            return (self.item(indent), false);
        }
        if is_inside || (self.in_list && !after_blank) {
            self.before = Before::Nothing;
            return (if after_blank { Cut::Line } else { Cut::Flow }, false);
        }
        self.in_list = false;
        self.outside_list(content, indent, next, after_blank)
    }

    fn in_fence(&mut self, fence: Fence, content: &[u8], after_blank: bool) -> Cut {
        let closes = content.len() >= fence.length && content.iter().all(|&byte| byte == fence.mark);
        let follows_opening = self.before == Before::Opening;
        self.before = Before::Nothing;
        if closes {
            self.fence = None;
            return Cut::Flow;
        }
        match (follows_opening, after_blank && !self.in_list) {
            (true, _) => Cut::Flow,
            (false, true) => Cut::Part,
            (false, false) => Cut::Line,
        }
    }

    /// Returns the cut before a line that opens a new block, and sets `before` for the next line.
    fn open(&mut self, is_inside: bool, kind: Before) -> Cut {
        let follows_heading = self.before == Before::Heading;
        self.before = kind;
        if is_inside {
            return Cut::Line;
        }
        self.in_list = false;
        if follows_heading {
            Cut::Flow
        } else {
            Cut::Block
        }
    }

    fn heading(&mut self, level: u8) -> Cut {
        let follows_heading = self.before == Before::Heading;
        self.before = Before::Heading;
        self.in_list = false;
        if follows_heading {
            Cut::Flow
        } else {
            Cut::Section(level)
        }
    }

    fn item(&mut self, indent: usize) -> Cut {
        if !self.in_list {
            let cut = self.open(false, Before::Nothing);
            self.in_list = true;
            return cut;
        }
        self.before = Before::Nothing;
        if indent < ITEM_INDENT {
            Cut::Part
        } else {
            Cut::Line
        }
    }

    fn outside_list(&mut self, content: &[u8], indent: usize, next: usize, after_blank: bool) -> (Cut, bool) {
        let before = self.before;
        match before {
            Before::Table | Before::TableHead if !after_blank => {
                self.before = Before::Table;
                // The row after the delimiter row stays with the table head.
                return (if before == Before::Table { Cut::Line } else { Cut::Flow }, false);
            }
            Before::Paragraph if !after_blank => return (Cut::Flow, false),
            Before::Quote | Before::EmptyQuote if !after_blank => {
                self.before = quote_of(content).unwrap_or(Before::Quote);
                return (if before == Before::EmptyQuote { Cut::Part } else { Cut::Flow }, false);
            }
            Before::Code if indent >= CODE_INDENT => return (if after_blank { Cut::Part } else { Cut::Line }, false),
            _ => {}
        }
        if let Some(level) = self.underline_level(next).filter(|_| indent < CODE_INDENT && !content.starts_with(b">")) {
            return (self.heading(level), true);
        }
        if before == Before::Heading && !after_blank && is_underline(content).is_some() {
            return (Cut::Flow, true);
        }
        let kind = match quote_of(content) {
            Some(quote) => quote,
            None if indent >= CODE_INDENT => Before::Code,
            None if content.contains(&b'|') && is_delimiter_row(self.line_at(next)) => Before::TableHead,
            None => Before::Paragraph,
        };
        (self.open(false, kind), false)
    }

    /// The heading level that the line of `=` or `-` below gives to a line.
    fn underline_level(&self, next: usize) -> Option<u8> {
        is_underline(self.line_at(next))
    }

    fn line_at(&self, begin: usize) -> &'t [u8] {
        let end = find(self.text, b'\n', begin);
        trim(&self.text[begin.min(end)..end])
    }
}

impl Iterator for Lines<'_> {
    type Item = Line;

    fn next(&mut self) -> Option<Line> {
        let mut after_blank = self.at == 0;
        while self.at < self.text.len() {
            let start = self.at;
            let stop = find(self.text, b'\n', start);
            self.at = (stop + 1).min(self.text.len());
            let begin = skip_space(self.text, start, stop);
            let first = self.characters + count(&self.text[start..begin]);
            if begin == stop {
                self.characters = first + u32::from(stop < self.text.len());
                after_blank = true;
                continue;
            }
            let end = trim_end(self.text, begin, stop);
            let last = first + count(&self.text[begin..end]);
            self.characters = last + count(&self.text[end..self.at]);
            let (cut, is_heading) = self.classify(&self.text[begin..end], columns(&self.text[start..begin]), begin, self.at, after_blank);
            return Some(Line { begin, end, first, last, cut, is_heading });
        }
        None
    }
}

/// End of the metadata block at the start of the text, at the end of its closing line. 0 if there is none.
fn frontmatter_end(text: &[u8]) -> usize {
    let window = &text[..text.len().min(FRONTMATTER_BYTES_MAX)];
    let mut at = find(window, b'\n', 0);
    let mark = trim(&window[..at]);
    if mark != b"---" && mark != b"+++" {
        return 0;
    }
    while at < window.len() {
        let begin = at + 1;
        at = find(window, b'\n', begin);
        let line = trim(&window[begin..at]);
        if line == mark || (mark == b"---" && line == b"...") {
            return at;
        }
    }
    0
}

fn trim(line: &[u8]) -> &[u8] {
    line.trim_ascii()
}

fn columns(space: &[u8]) -> usize {
    space.iter().map(|&byte| if byte == b'\t' { CODE_INDENT } else { 1 }).sum()
}

fn fence_of(content: &[u8]) -> Option<Fence> {
    let mark = *content.first().filter(|&&byte| byte == b'`' || byte == b'~')?;
    let length = run(content, mark);
    let is_fence = length >= 3 && (mark == b'~' || !content[length..].contains(&b'`'));
    is_fence.then_some(Fence { mark, length })
}

fn run(content: &[u8], mark: u8) -> usize {
    content.iter().take_while(|&&byte| byte == mark).count()
}

fn heading_level(content: &[u8]) -> Option<u8> {
    let level = content.iter().take(7).take_while(|&&byte| byte == b'#').count();
    let is_heading = (1..=6).contains(&level) && content.get(level).is_none_or(|byte| matches!(byte, b' ' | b'\t'));
    is_heading.then_some(level as u8)
}

/// The level of the heading that the line underlines.
fn is_underline(content: &[u8]) -> Option<u8> {
    let mark = *content.first()?;
    let level = match mark {
        b'=' => 1,
        // At least two. A single one is more often a list marker.
        b'-' if content.len() > 1 => 2,
        _ => return None,
    };
    (run(content, mark) == content.len()).then_some(level)
}

/// Inside a paragraph, only `1.` starts a numbered list.
fn is_item(content: &[u8], in_paragraph: bool) -> bool {
    let digits = content.iter().take(10).take_while(|byte| byte.is_ascii_digit()).count();
    let marker = match digits {
        0 if matches!(content.first(), Some(b'-' | b'*' | b'+')) => 1,
        1..=9 if matches!(content.get(digits), Some(b'.' | b')')) && (!in_paragraph || &content[..digits] == b"1") => digits + 1,
        _ => return false,
    };
    content.get(marker).is_none_or(|byte| matches!(byte, b' ' | b'\t'))
}

fn quote_of(content: &[u8]) -> Option<Before> {
    let quoted = content.strip_prefix(b">")?;
    Some(if trim(quoted).is_empty() { Before::EmptyQuote } else { Before::Quote })
}

/// Returns whether the line is the delimiter row below a table head.
fn is_delimiter_row(content: &[u8]) -> bool {
    let (mut dashes, mut bars) = (false, false);
    content.iter().all(|&byte| {
        dashes |= byte == b'-';
        bars |= matches!(byte, b'|' | b':');
        matches!(byte, b'|' | b'-' | b':' | b' ' | b'\t')
    }) && dashes
        && bars
}
