//! The markdown constructs whose text is not content: tags, comments, link targets, fence marks, entities.
//! Each function reads the text from the cursor on, at most `LOOKAHEAD` bytes, and returns the extent of the
//! construct. The scanner decides how to handle it.

pub mod entity;
#[rustfmt::skip]
mod entity_names;
pub mod line;
pub mod link;
pub mod tag;

/// Maximum lookahead of a decision. If the rest of the text is shorter, the decision sees the end of the
/// text. A window is several times as large.
pub const LOOKAHEAD: usize = 4096;
