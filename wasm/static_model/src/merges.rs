//! Byte-pair merges of one piece of text. Repeatedly, the pair of neighbours with the lowest rank is merged
//! into one token. Of pairs with equal rank the first one is merged.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Rank and result by pair, in an open-addressing hash table that is at most half full.
pub struct Merges {
    slots: Vec<Slot>,
    mask: usize,
}

#[derive(Clone, Copy)]
struct Slot {
    pair: u32,
    /// `NONE` in an empty slot.
    rank: u32,
    merged: u16,
}

const NONE: u32 = u32::MAX;

impl Merges {
    pub fn new(merges: impl Iterator<Item = [u16; 3]>) -> Self {
        let all: Vec<[u16; 3]> = merges.collect();
        let count = (all.len() * 2).next_power_of_two().max(2);
        let mut table = Merges { slots: vec![Slot { pair: 0, rank: NONE, merged: 0 }; count], mask: count - 1 };
        for (rank, &[left, right, merged]) in all.iter().enumerate() {
            let pair = pair_of(left, right);
            let mut at = hash(pair) & table.mask;
            while table.slots[at].rank != NONE && table.slots[at].pair != pair {
                at = (at + 1) & table.mask;
            }
            if table.slots[at].rank == NONE {
                table.slots[at] = Slot { pair, rank: rank as u32, merged };
            }
        }
        table
    }

    fn find(&self, left: u16, right: u16) -> Option<Slot> {
        let pair = pair_of(left, right);
        let mut at = hash(pair) & self.mask;
        loop {
            let slot = self.slots[at];
            if slot.rank == NONE {
                return None;
            }
            if slot.pair == pair {
                return Some(slot);
            }
            at = (at + 1) & self.mask;
        }
    }
}

fn pair_of(left: u16, right: u16) -> u32 {
    u32::from(left) << 16 | u32::from(right)
}

fn hash(pair: u32) -> usize {
    (pair.wrapping_mul(0x9e37_79b1) >> 8) as usize
}

/// A symbol of the piece: its token and its neighbours. A symbol that was merged into the previous one has
/// `GONE` as its next.
#[derive(Clone, Copy)]
struct Symbol {
    token: u16,
    before: u32,
    next: u32,
}

const END: u32 = u32::MAX;
const GONE: u32 = u32::MAX - 1;

/// Pieces of at most this many characters are merged with a scan of all their pairs for each merge, which is
/// faster than a queue.
const SCANNED_MAX: usize = 24;

/// Buffers for the symbols of a piece, reused for the next piece.
#[derive(Default)]
pub struct Merger {
    symbols: Vec<Symbol>,
    /// Rank, position of the left symbol, both tokens, and the merged token.
    queue: BinaryHeap<Reverse<(u32, u32, [u16; 3])>>,
}

impl Merger {
    /// Merges the symbols of a piece and appends the resulting tokens. Empties `symbols`.
    pub fn merge(&mut self, merges: &Merges, symbols: &mut Vec<u16>, tokens: &mut Vec<u16>) {
        if symbols.len() <= SCANNED_MAX {
            scan(merges, symbols);
            tokens.append(symbols);
        } else {
            self.merge_long(merges, symbols, tokens);
            symbols.clear();
        }
    }

    fn merge_long(&mut self, merges: &Merges, symbols: &[u16], tokens: &mut Vec<u16>) {
        self.queue.clear();
        self.symbols.clear();
        self.symbols.extend((0..).zip(symbols).map(|(at, &token)| Symbol {
            token,
            before: if at == 0 { END } else { at - 1 },
            next: at + 1,
        }));
        if let Some(last) = self.symbols.last_mut() {
            last.next = END;
        }
        for at in 1..self.symbols.len() as u32 {
            self.enqueue(merges, at - 1, at);
        }
        while let Some(Reverse((_, left, [token, right_token, merged]))) = self.queue.pop() {
            let Symbol { token: present, before, next: right } = self.symbols[left as usize];
            // One of the two may have been merged with another symbol in the meantime.
            if present != token || right >= GONE || self.symbols[right as usize].token != right_token {
                continue;
            }
            let next = self.symbols[right as usize].next;
            self.symbols[right as usize].next = GONE;
            self.symbols[left as usize] = Symbol { token: merged, before, next };
            if next < GONE {
                self.symbols[next as usize].before = left;
                self.enqueue(merges, left, next);
            }
            if before < GONE {
                self.enqueue(merges, before, left);
            }
        }
        tokens.extend(self.symbols.iter().filter(|symbol| symbol.next != GONE).map(|symbol| symbol.token));
    }

    fn enqueue(&mut self, merges: &Merges, left: u32, right: u32) {
        let pair = [left, right].map(|at| self.symbols[at as usize].token);
        if let Some(slot) = merges.find(pair[0], pair[1]) {
            self.queue.push(Reverse((slot.rank, left, [pair[0], pair[1], slot.merged])));
        }
    }
}

/// Merges at most `SCANNED_MAX` symbols in place.
fn scan(merges: &Merges, symbols: &mut Vec<u16>) {
    let none = Slot { pair: 0, rank: NONE, merged: 0 };
    let mut found = [none; SCANNED_MAX];
    for (slot, pair) in found.iter_mut().zip(symbols.windows(2)) {
        *slot = merges.find(pair[0], pair[1]).unwrap_or(none);
    }
    let mut count = symbols.len();
    while let Some((at, best)) =
        (1..count).map(|end| (end - 1, found[end - 1])).min_by_key(|(_, slot)| slot.rank).filter(|(_, slot)| slot.rank != NONE)
    {
        symbols[at] = best.merged;
        symbols.copy_within(at + 2..count, at + 1);
        found.copy_within(at + 1..count, at);
        count -= 1;
        if at + 1 < count {
            found[at] = merges.find(symbols[at], symbols[at + 1]).unwrap_or(none);
        }
        if at > 0 {
            found[at - 1] = merges.find(symbols[at - 1], symbols[at]).unwrap_or(none);
        }
    }
    symbols.truncate(count);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scanned_piece_and_a_queued_one_have_the_same_tokens() {
        // Every pair of the first tokens has a merge, in an order unrelated to the token numbers.
        let merges = Merges::new((0..900u32).map(|rank| {
            let pair = rank * 389 % 900;
            [(pair / 30) as u16, (pair % 30) as u16, (3 + rank % 60) as u16]
        }));
        let mut state = 1u64;
        for length in (0..=SCANNED_MAX).cycle().take(4000) {
            let symbols: Vec<u16> = (0..length)
                .map(|_| {
                    state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                    (state >> 33) as u16 % 8
                })
                .collect();
            let (mut scanned, mut queued) = (symbols.clone(), Vec::new());
            scan(&merges, &mut scanned);
            Merger::default().merge_long(&merges, &symbols, &mut queued);
            assert_eq!(scanned, queued, "{symbols:?}");
        }
    }
}
