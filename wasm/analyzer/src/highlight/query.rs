//! The highlight parameters of a request and their binary format: little-endian numbers and bytes in this
//! order. `u32` each: bytes of a fragment, maximum number of fragments, number of terms, number of phrases,
//! bytes of the opening tag, bytes of the closing tag. Then the tags. Then for each term two `u32`, the bytes
//! of the indexed and of the shown form, followed by both forms. Then for each phrase a `u32` count, followed
//! by that many pairs `u32 term, u32 offset`.

/// A term of the query.
#[derive(Default)]
pub struct Term {
    /// The form in the index.
    pub indexed: Vec<u8>,
    /// The form that is shown, as JSON text.
    pub shown: Vec<u8>,
}

#[derive(Default)]
pub struct Query {
    pub terms: Vec<Term>,
    /// For each phrase: indexes of its terms with their offsets.
    pub phrases: Vec<Vec<(u32, u32)>>,
    /// The tags as escaped JSON text.
    pub opening: Vec<u8>,
    pub closing: Vec<u8>,
    /// The requested size of a fragment in bytes of text.
    pub fragment_bytes: usize,
    pub fragments_max: usize,
}

impl Query {
    /// Returns `None` if the bytes are truncated.
    pub fn read(bytes: &[u8]) -> Option<Self> {
        let mut rest = bytes;
        let fragment_bytes = number(&mut rest)? as usize;
        let fragments_max = number(&mut rest)? as usize;
        let [terms, phrases, opening, closing] = [number(&mut rest)?, number(&mut rest)?, number(&mut rest)?, number(&mut rest)?];
        let opening = take(&mut rest, opening)?;
        let closing = take(&mut rest, closing)?;
        let terms = (0..terms).map(|_| read_term(&mut rest)).collect::<Option<Vec<_>>>()?;
        let phrases = (0..phrases).map(|_| read_phrase(&mut rest)).collect::<Option<Vec<_>>>()?;
        Some(Self { terms, phrases, opening, closing, fragment_bytes, fragments_max })
    }
}

fn read_term(rest: &mut &[u8]) -> Option<Term> {
    let [indexed, shown] = [number(rest)?, number(rest)?];
    Some(Term { indexed: take(rest, indexed)?, shown: take(rest, shown)? })
}

fn read_phrase(rest: &mut &[u8]) -> Option<Vec<(u32, u32)>> {
    (0..number(rest)?).map(|_| Some((number(rest)?, number(rest)?))).collect()
}

fn number(rest: &mut &[u8]) -> Option<u32> {
    let (four, after) = rest.split_first_chunk::<4>()?;
    *rest = after;
    Some(u32::from_le_bytes(*four))
}

fn take(rest: &mut &[u8], bytes: u32) -> Option<Vec<u8>> {
    let (taken, after) = rest.split_at_checked(bytes as usize)?;
    *rest = after;
    Some(taken.to_vec())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_query_is_read_whole_or_not_at_all() {
        let mut bytes = Vec::new();
        for number in [150u32, 3, 1, 1, 3, 4] {
            bytes.extend_from_slice(&number.to_le_bytes());
        }
        bytes.extend_from_slice(b"<b></b>");
        for number in [3u32, 5] {
            bytes.extend_from_slice(&number.to_le_bytes());
        }
        bytes.extend_from_slice(b"run\"run\"");
        for number in [2u32, 0, 0, 0, 1] {
            bytes.extend_from_slice(&number.to_le_bytes());
        }
        let query = Query::read(&bytes).expect("well formed");
        assert_eq!((query.fragment_bytes, query.fragments_max), (150, 3));
        assert_eq!((query.opening.as_slice(), query.closing.as_slice()), (&b"<b>"[..], &b"</b>"[..]));
        assert_eq!((query.terms[0].indexed.as_slice(), query.terms[0].shown.as_slice()), (&b"run"[..], &b"\"run\""[..]));
        assert_eq!(query.phrases, [[(0, 0), (0, 1)]]);
        for end in 0..bytes.len() {
            assert!(Query::read(&bytes[..end]).is_none(), "{end}");
        }
    }
}
