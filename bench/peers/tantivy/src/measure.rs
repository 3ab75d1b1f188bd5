//! One measurement: whole passes over the queries of a class until the time is up, so that every query has
//! the same weight. Returns the best ten by score: `top` their addresses only, `keys` the stored key of each,
//! `exact` their addresses and the number of all matches, which prevents skipping.

use std::time::Instant;

use serde_json::{json, Value as Json};
use tantivy::collector::{Count, TopDocs};
use tantivy::query::Query;
use tantivy::schema::Value;
use tantivy::{DocAddress, Score, Searcher, TantivyDocument};

use crate::index::PeerIndex;
use crate::Failure;

const LIMIT: usize = 10;
const FNV_OFFSET: u64 = 14_695_981_039_346_656_037;
const FNV_PRIME: u64 = 1_099_511_628_211;

#[derive(Clone, Copy, PartialEq)]
pub enum Wanted {
    Top,
    Exact,
    Keys,
}

impl std::str::FromStr for Wanted {
    type Err = String;

    fn from_str(word: &str) -> Result<Self, String> {
        match word {
            "top" => Ok(Self::Top),
            "exact" => Ok(Self::Exact),
            "keys" => Ok(Self::Keys),
            _ => Err(format!("unknown: {word}")),
        }
    }
}

struct Answer {
    best: Vec<(Score, DocAddress)>,
    /// The number of all matches if they are counted, else the number of hits.
    matches: usize,
}

fn search(searcher: &Searcher, query: &dyn Query, wanted: Wanted) -> Result<Answer, Failure> {
    let top = TopDocs::with_limit(LIMIT).order_by_score();
    if wanted == Wanted::Exact {
        let (best, matches) = searcher.search(query, &(top, Count))?;
        return Ok(Answer { best, matches });
    }
    let best = searcher.search(query, &top)?;
    let matches = best.len();
    Ok(Answer { best, matches })
}

/// Folds the keys of the hits, in order, into a checksum.
fn fold_keys(peer: &PeerIndex, searcher: &Searcher, answer: &Answer, mut checksum: u64) -> Result<u64, Failure> {
    for (_, address) in &answer.best {
        let document: TantivyDocument = searcher.doc(*address)?;
        let key = document.get_first(peer.key).and_then(|value| value.as_str()).unwrap_or_default();
        for byte in key.bytes() {
            checksum = (checksum ^ u64::from(byte)).wrapping_mul(FNV_PRIME);
        }
    }
    Ok(checksum)
}

pub fn measure(peer: &PeerIndex, searcher: &Searcher, queries: &[Box<dyn Query>], wanted: Wanted, seconds: f64) -> Result<Json, Failure> {
    let (mut hits, mut matches, mut checksum) = (0, 0, FNV_OFFSET);
    for query in queries {
        let answer = search(searcher, query.as_ref(), wanted)?;
        hits += answer.best.len();
        matches += answer.matches;
        checksum = fold_keys(peer, searcher, &answer, checksum)?;
    }
    let mut micros = Vec::new();
    let begun = Instant::now();
    while micros.is_empty() || begun.elapsed().as_secs_f64() < seconds {
        for query in queries {
            let asked = Instant::now();
            let answer = std::hint::black_box(search(searcher, query.as_ref(), wanted)?);
            if wanted == Wanted::Keys {
                std::hint::black_box(fold_keys(peer, searcher, &answer, FNV_OFFSET)?);
            }
            micros.push(asked.elapsed().as_secs_f64() * 1e6);
        }
    }
    let elapsed = begun.elapsed().as_secs_f64();
    micros.sort_by(f64::total_cmp);
    let mean = |sum: usize| sum as f64 / queries.len() as f64;
    Ok(json!({
        "queries": queries.len(),
        "perSecond": micros.len() as f64 / elapsed,
        "p50Us": micros[micros.len() / 2],
        "p99Us": micros[micros.len() * 99 / 100],
        "hits": mean(hits),
        "matches": mean(matches),
        "checksum": format!("{checksum:016x}"),
    }))
}
