//! Selects the fragments of a text to show. Positions of terms are joined into clusters no longer than a
//! fragment. The best clusters are selected, and each is widened at word boundaries to the requested size.
//! Pure. Linear in the number of positions, except for the sort of the clusters.

use super::text::Text;
use crate::characters::{decode, kind, Kind};
use crate::record::Found;

/// Maximum distance by which a cut is moved to a word boundary. Longer runs without a boundary are cut
/// between two characters.
const SNAP_BYTES_MAX: usize = 64;
/// Maximum distance to the next word of a phrase: in bytes of text, and in positions of terms.
const PHRASE_GAP_BYTES_MAX: usize = 200;
const PHRASE_POSITIONS_MAX: usize = 8;

/// A marked range. Overlapping positions are merged into one mark.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Mark {
    pub begin: usize,
    pub end: usize,
    /// Its positions, as a range of the list that it was built from.
    pub first: usize,
    pub last: usize,
    /// Whether the mark is part of a phrase of the query.
    in_phrase: bool,
}

pub struct Marks(pub Vec<Mark>);

/// A piece of the text with the range of its marks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Fragment {
    pub begin: usize,
    pub end: usize,
    pub mark_begin: usize,
    pub mark_end: usize,
}

impl Marks {
    /// @param found ascending by begin, then end
    pub fn of(text: &mut Text, found: &[Found], phrases: &[Vec<(u32, u32)>]) -> Self {
        let in_phrase = positions_in_phrases(text, found, phrases);
        let mut marks: Vec<Mark> = Vec::new();
        for (index, position) in found.iter().enumerate() {
            let (begin, end) = (position.begin as usize, position.end as usize);
            let is_in = in_phrase.get(index).copied().unwrap_or(false);
            match marks.last_mut().filter(|mark| begin < mark.end) {
                Some(mark) => {
                    mark.end = mark.end.max(end);
                    mark.last = index;
                    mark.in_phrase |= is_in;
                }
                None => marks.push(Mark { begin, end, first: index, last: index, in_phrase: is_in }),
            }
        }
        Self(marks)
    }
}

/// For each position: whether it is part of a complete occurrence of a phrase.
fn positions_in_phrases(text: &mut Text, found: &[Found], phrases: &[Vec<(u32, u32)>]) -> Vec<bool> {
    if phrases.is_empty() {
        return Vec::new();
    }
    let mut standing = vec![false; found.len()];
    for phrase in phrases {
        for start in 0..found.len() {
            for index in phrase_at(text, found, start, phrase).unwrap_or_default() {
                if let Some(position) = standing.get_mut(index) {
                    *position = true;
                }
            }
        }
    }
    standing
}

/// The positions of the phrase that begins at the position `start`. Each term must follow the previous one
/// with as many words between them as in the query.
fn phrase_at(text: &mut Text, found: &[Found], start: usize, phrase: &[(u32, u32)]) -> Option<Vec<usize>> {
    let (&(first, mut offset), rest) = phrase.split_first()?;
    let mut before = found.get(start).filter(|position| position.term == first)?;
    let mut positions = vec![start];
    for &(term, next_offset) in rest {
        let from = positions.last()? + 1;
        let near = found.get(from..)?.iter().take(PHRASE_POSITIONS_MAX);
        let (at, position) = near.enumerate().find(|(_, position)| {
            // Pairs of an unspaced script overlap. Each begins at the next character.
            let overlaps = position.begin < before.end && position.begin > before.begin && next_offset > offset;
            position.term == term && (overlaps || words_between(text, before, position) == Some(next_offset.saturating_sub(offset + 1)))
        })?;
        positions.push(from + at);
        before = position;
        offset = next_offset;
    }
    Some(positions)
}

/// Number of runs of letters and digits between two positions. `None` if they are far apart or in the wrong
/// order.
fn words_between(text: &mut Text, left: &Found, right: &Found) -> Option<u32> {
    let (begin, end) = (left.end as usize, right.begin as usize);
    if end.checked_sub(begin)? > PHRASE_GAP_BYTES_MAX {
        return None;
    }
    let between = text.slice(begin, end);
    let is_letter = |byte: u8| byte.is_ascii_alphanumeric() || byte >= 0x80;
    let begins = between.iter().enumerate().filter(|&(at, &byte)| {
        let continues = at > 0 && between.get(at - 1).is_some_and(|&before| is_letter(before));
        is_letter(byte) && !continues
    });
    Some(begins.count() as u32)
}

/// Returns the best fragments, in text order. They do not overlap.
pub fn choose(text: &mut Text, marks: &Marks, fragment_bytes: usize, fragments_max: usize) -> Vec<Fragment> {
    let clusters = best_of(clusters_of(&marks.0, fragment_bytes), &marks.0, fragments_max);
    let mut before = 0;
    let mut fragments: Vec<Fragment> = Vec::with_capacity(clusters.len());
    for (index, cluster) in clusters.iter().enumerate() {
        let after = clusters.get(index + 1).map_or(text.len(), |next| next.begin);
        let fragment = widen(text, *cluster, before..after, fragment_bytes, &marks.0);
        before = fragment.end;
        fragments.push(fragment);
    }
    fragments
}

/// Returns the best clusters, in text order. Clusters with a phrase rank first, then those with the most
/// marks, then the earliest ones.
fn best_of(clusters: Vec<Fragment>, marks: &[Mark], most: usize) -> Vec<Fragment> {
    if clusters.len() <= most {
        return clusters;
    }
    let rank = |cluster: &Fragment| {
        let within = marks.get(cluster.mark_begin..cluster.mark_end).unwrap_or_default();
        (!within.iter().any(|mark| mark.in_phrase), usize::MAX - within.len(), cluster.begin)
    };
    let mut ranked: Vec<_> = clusters.into_iter().map(|cluster| (rank(&cluster), cluster)).collect();
    ranked.select_nth_unstable_by_key(most, |&(rank, _)| rank);
    ranked.truncate(most);
    ranked.sort_unstable_by_key(|(_, cluster)| cluster.begin);
    ranked.into_iter().map(|(_, cluster)| cluster).collect()
}

fn clusters_of(marks: &[Mark], fragment_bytes: usize) -> Vec<Fragment> {
    let mut clusters: Vec<Fragment> = Vec::new();
    for (index, mark) in marks.iter().enumerate() {
        match clusters.last_mut().filter(|cluster| mark.end - cluster.begin <= fragment_bytes) {
            Some(cluster) => {
                cluster.end = mark.end;
                cluster.mark_end = index + 1;
            }
            None => clusters.push(Fragment { begin: mark.begin, end: mark.end, mark_begin: index, mark_end: index + 1 }),
        }
    }
    clusters
}

/// Adds text on both sides within `bounds`, and includes the marks in it.
fn widen(text: &mut Text, cluster: Fragment, bounds: core::ops::Range<usize>, fragment_bytes: usize, marks: &[Mark]) -> Fragment {
    let padding = fragment_bytes.saturating_sub(cluster.end - cluster.begin) / 2;
    let earliest = cluster.begin.saturating_sub(padding).max(bounds.start);
    let latest = (cluster.end + padding).min(bounds.end);
    let text = text.around(earliest, latest);
    let begin = begin_at(text, earliest, cluster.begin);
    let end = end_at(text, latest, cluster.end);
    let mut mark_begin = cluster.mark_begin;
    while mark_begin > 0 && marks.get(mark_begin - 1).is_some_and(|mark| mark.begin >= begin) {
        mark_begin -= 1;
    }
    let mut mark_end = cluster.mark_end;
    while marks.get(mark_end).is_some_and(|mark| mark.end <= end) {
        mark_end += 1;
    }
    Fragment { begin, end, mark_begin, mark_end }
}

/// The first position in `wanted..=latest` that does not cut a word, after any white space.
fn begin_at(text: &[u8], wanted: usize, latest: usize) -> usize {
    let mut at = wanted;
    while at < latest && at - wanted < SNAP_BYTES_MAX && !is_break(text, at) {
        at += 1;
    }
    if !is_break(text, at) {
        at = (wanted..=latest).find(|&at| is_boundary(text, at)).unwrap_or(latest);
    }
    while at < latest && text.get(at).is_some_and(u8::is_ascii_whitespace) {
        at += 1;
    }
    at
}

/// The last position in `earliest..=wanted` that does not cut a word, before any white space.
fn end_at(text: &[u8], wanted: usize, earliest: usize) -> usize {
    let mut at = wanted;
    while at > earliest && wanted - at < SNAP_BYTES_MAX && !is_break(text, at) {
        at -= 1;
    }
    if !is_break(text, at) {
        at = (earliest..=wanted).rev().find(|&at| is_boundary(text, at)).unwrap_or(earliest);
    }
    while at > earliest && text.get(at - 1).is_some_and(u8::is_ascii_whitespace) {
        at -= 1;
    }
    at
}

/// Returns whether a character begins at `at`, or the text ends there.
fn is_boundary(text: &[u8], at: usize) -> bool {
    text.get(at).is_none_or(|byte| byte & 0xc0 != 0x80)
}

/// Returns whether a cut at `at` splits neither a word nor a character. Scripts without spaces can be cut
/// between any two characters.
fn is_break(text: &[u8], at: usize) -> bool {
    if !is_boundary(text, at) {
        return false;
    }
    let Some((next, _)) = decode(text, at) else { return true };
    let start = (0..at).rev().take(4).find(|&start| is_boundary(text, start));
    let Some((before, _)) = start.and_then(|start| decode(text, start)) else { return true };
    !(is_wordy(next) && is_wordy(before)) && (next.is_ascii() || kind(next) != Kind::Mark)
}

fn is_wordy(character: char) -> bool {
    if character.is_ascii() {
        return character.is_ascii_alphanumeric() || character == '_';
    }
    matches!(kind(character), Kind::Letter | Kind::Mark | Kind::Ignorable)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(positions: &[(u32, u32, u32)]) -> Vec<Found> {
        positions.iter().map(|&(begin, end, term)| Found { begin, end, term }).collect()
    }

    fn shown(text: &str, positions: &[(u32, u32, u32)], phrases: &[Vec<(u32, u32)>], bytes: usize, most: usize) -> Vec<String> {
        let mut bytes_of = text.as_bytes().to_vec();
        let mut whole = Text::whole(&mut bytes_of);
        let marks = Marks::of(&mut whole, &found(positions), phrases);
        choose(&mut whole, &marks, bytes, most).iter().map(|fragment| text[fragment.begin..fragment.end].to_owned()).collect()
    }

    #[test]
    fn a_fragment_is_widened_to_whole_words() {
        let text = "some words before the needle and some words after it";
        assert_eq!(shown(text, &[(22, 28, 0)], &[], 26, 3), ["the needle and some"]);
        assert_eq!(shown(text, &[(22, 28, 0)], &[], 1000, 3), [text]);
        assert_eq!(shown(text, &[(22, 28, 0)], &[], 1, 3), ["needle"]);
    }

    #[test]
    fn the_clusters_with_most_marks_win_and_stand_in_text_order() {
        let text = "a                      b b                      a                      b b b";
        let positions = [(0, 1, 0), (23, 24, 1), (25, 26, 1), (48, 49, 0), (71, 72, 1), (73, 74, 1), (75, 76, 1)];
        assert_eq!(shown(text, &positions, &[], 8, 2), ["b b", "b b b"]);
        assert_eq!(shown(text, &positions, &[], 8, 3), ["a", "b b", "b b b"]);
    }

    #[test]
    fn where_the_phrase_stands_comes_first() {
        let text = "b x a x b                                a b";
        let positions = [(0, 1, 1), (4, 5, 0), (8, 9, 1), (41, 42, 0), (43, 44, 1)];
        assert_eq!(shown(text, &positions, &[vec![(0, 0), (1, 1)]], 8, 1), ["a b"]);
        assert_eq!(shown("a, of b; a b", &[(0, 1, 0), (6, 7, 1), (9, 10, 0), (11, 12, 1)], &[vec![(0, 0), (1, 2)]], 7, 1), ["a, of b"]);
        assert_eq!(shown("東京 京都府", &[(0, 6, 0), (7, 13, 1), (10, 16, 2)], &[vec![(1, 0), (2, 1)]], 9, 1), ["京都府"]);
    }

    #[test]
    fn overlapping_positions_are_one_mark() {
        let marks = Marks::of(&mut Text::whole(&mut Vec::new()), &found(&[(0, 3, 0), (0, 6, 1), (3, 6, 2), (6, 9, 0)]), &[]);
        assert_eq!(marks.0.iter().map(|mark| (mark.begin, mark.end)).collect::<Vec<_>>(), [(0, 6), (6, 9)]);
    }
}
