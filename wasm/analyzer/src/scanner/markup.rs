//! The markdown part of the scanner: handles the start of a line and marks, and skips comments, raw elements
//! and long targets.

use super::{Analyzer, Status};
use crate::bytes::{Mode, RawElement};
use crate::characters::{kind, Kind};
use crate::markdown::{entity, line, link, tag};

impl Analyzer {
    pub(super) fn line_start(&mut self) {
        self.at_line_start = false;
        self.line_is_definition = false;
        let view = self.view(self.cursor);
        if let Mode::Fence(mark, length) = self.mode {
            if let Some(bytes) = line::closes_fence(view, mark, length) {
                self.mode = Mode::Text;
                self.cursor += bytes;
            }
            return;
        }
        if !matches!(self.mode, Mode::Text | Mode::Span(_)) {
            return;
        }
        let is_text = self.mode == Mode::Text;
        let (start, marks) = line::start(view);
        match start {
            line::Start::Blank | line::Start::Block => self.mode = Mode::Text,
            line::Start::Fence(mark, length) => self.mode = Mode::Fence(mark, length),
            line::Start::Definition => self.line_is_definition = is_text,
            line::Start::Comment if is_text => self.mode = Mode::Comment,
            line::Start::Raw(element) if is_text => self.mode = Mode::Raw(element),
            line::Start::Text | line::Start::Comment | line::Start::Raw(_) => {}
        }
        self.cursor += marks;
    }

    pub(super) fn mark(&mut self, at: usize, byte: u8) {
        self.cursor = at + 1;
        match byte {
            b'<' => self.angle(at),
            b'&' => self.ampersand(at),
            b'\\' if self.byte(at + 1).is_ascii_punctuation() => self.cursor = at + 2,
            b'`' => self.backticks(at),
            b']' => self.closing_bracket(at),
            _ => {}
        }
    }

    fn angle(&mut self, at: usize) {
        let view = self.view(at);
        if view.starts_with(b"<!--") {
            // Continues where an earlier search failed, so that a run of `<!--` takes linear time.
            let known = self.no_comment_end_before.saturating_sub(self.offset(at)) as usize;
            match tag::find(view, b"-->", known.max(2)) {
                Some(end) => self.cursor = at + end + 3,
                None => self.no_comment_end_before = self.offset(at + view.len().saturating_sub(2)),
            }
        } else if let Some(end) = tag::end(view) {
            self.cursor = at + end;
        }
    }

    fn ampersand(&mut self, at: usize) {
        let view = self.view(at);
        if entity::letter(view, 0).is_some_and(|(character, _)| kind(character) == Kind::Letter) {
            self.wide_word(at);
        } else if let Some((_, length)) = entity::decode(view, 0) {
            self.cursor = at + length;
        }
    }

    fn backticks(&mut self, at: usize) {
        let run = self.view(at).iter().take_while(|&&byte| byte == b'`').count();
        self.cursor = at + run;
        match self.mode {
            Mode::Span(length) if length as usize == run => self.mode = Mode::Text,
            Mode::Text => self.mode = Mode::Span(run as u32),
            _ => {}
        }
    }

    fn closing_bracket(&mut self, at: usize) {
        let target = match self.byte(at + 1) {
            b'(' if self.offset(at) >= self.no_target_before => link::inline(self.view(at), self.sees_end(at)),
            b':' if self.line_is_definition => {
                self.line_is_definition = false;
                link::definition(self.view(at), self.sees_end(at))
            }
            _ => return,
        };
        match target {
            link::Target::Ends(end) => self.cursor = at + end,
            link::Target::Long(begin) => {
                self.cursor = at + begin;
                self.mode = Mode::Target;
            }
            link::Target::None(end) => self.no_target_before = self.offset(at + end),
        }
    }

    pub(super) fn skip_comment(&mut self) -> Option<Status> {
        let view = self.window.get(self.cursor..self.window_bytes.min(self.limit + 2)).unwrap_or_default();
        match tag::find(view, b"-->", 0) {
            Some(end) => {
                self.cursor += end + 3;
                self.mode = Mode::Text;
            }
            None => self.cursor = self.limit,
        }
        None
    }

    pub(super) fn skip_raw(&mut self, element: RawElement) -> Option<Status> {
        let name: &[u8] = match element {
            RawElement::Script => b"script",
            RawElement::Style => b"style",
        };
        let view = self.window.get(self.cursor..self.window_bytes.min(self.limit + name.len() + 1)).unwrap_or_default();
        match tag::find_closing(view, name) {
            Some(begin) => {
                self.cursor += begin;
                self.mode = Mode::Text;
            }
            None => self.cursor = self.limit,
        }
        None
    }

    pub(super) fn skip_target(&mut self) -> Option<Status> {
        let rest = self.window.get(self.cursor..self.limit).unwrap_or_default();
        match rest.iter().position(|&byte| matches!(byte, b' ' | b'\t' | b'\n' | b'\r' | b'"' | b'\'' | b')' | b'>')) {
            Some(length) => {
                self.cursor += length;
                self.mode = Mode::Text;
            }
            None => self.cursor = self.limit,
        }
        None
    }
}
