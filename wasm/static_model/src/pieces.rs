//! A cache of the tokens of recent pieces of text. Words, indentation and table rules are frequent, and
//! merging them again would be most of a tokenizer's work. A table of fixed size: a piece replaces another
//! piece in the same slot.

/// Pieces of at most `BYTES` bytes and `TOKENS` tokens.
pub struct Pieces<const BYTES: usize, const TOKENS: usize> {
    slots: Vec<Slot<BYTES, TOKENS>>,
}

#[derive(Clone, Copy)]
struct Slot<const BYTES: usize, const TOKENS: usize> {
    piece: [u8; BYTES],
    /// 0 in an empty slot.
    bytes: u8,
    tokens: [u16; TOKENS],
    count: u8,
}

impl<const BYTES: usize, const TOKENS: usize> Pieces<BYTES, TOKENS> {
    pub fn new(slots: usize) -> Self {
        Pieces { slots: vec![Slot { piece: [0; BYTES], bytes: 0, tokens: [0; TOKENS], count: 0 }; slots] }
    }

    /// `piece` must not be empty.
    pub fn find(&self, piece: &[u8]) -> Option<&[u16]> {
        if piece.len() > BYTES {
            return None;
        }
        let slot = &self.slots[self.slot_of(piece)];
        (usize::from(slot.bytes) == piece.len() && slot.piece[..piece.len()] == *piece).then(|| &slot.tokens[..usize::from(slot.count)])
    }

    /// Pieces that are too long are not stored.
    pub fn keep(&mut self, piece: &[u8], tokens: &[u16]) {
        if piece.len() > BYTES || tokens.len() > TOKENS {
            return;
        }
        let at = self.slot_of(piece);
        let slot = &mut self.slots[at];
        slot.piece[..piece.len()].copy_from_slice(piece);
        slot.tokens[..tokens.len()].copy_from_slice(tokens);
        slot.bytes = piece.len() as u8;
        slot.count = tokens.len() as u8;
    }

    fn slot_of(&self, piece: &[u8]) -> usize {
        let mut hash = piece.len() as u64;
        for part in piece.chunks(8) {
            let mut word = [0; 8];
            word[..part.len()].copy_from_slice(part);
            hash = (hash ^ u64::from_le_bytes(word)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            hash ^= hash >> 29;
        }
        (hash >> 20) as usize % self.slots.len()
    }
}
