//! The markdown constructs whose text is not content: tags, comments, link targets, fence marks, entities.
//! Each function looks at the text from the cursor on, at most `LOOKAHEAD` bytes far, and says how far the
//! construct reaches; the scanner decides what that means.

pub mod entity;
#[rustfmt::skip]
mod entity_names;
pub mod line;
pub mod link;
pub mod tag;

/// How far a decision may look. With the rest of the text nearer than that, it sees the end. A window holds
/// several of these.
pub const LOOKAHEAD: usize = 4096;
