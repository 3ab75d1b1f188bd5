//! One measurement: whole passes over the queries of a class until the time is up, so that every query weighs the same. The best ten by score; with `exact`, every match is counted, too,
//! which forbids the engine to skip. Stored fields are not read while the clock runs.

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

struct Answer {
    best: Vec<(Score, DocAddress)>,
    /// All matches where they are counted, else the hits.
    matches: usize,
}

fn search(searcher: &Searcher, query: &dyn Query, exact: bool) -> Result<Answer, Failure> {
    let top = TopDocs::with_limit(LIMIT).order_by_score();
    if exact {
        let (best, matches) = searcher.search(query, &(top, Count))?;
        return Ok(Answer { best, matches });
    }
    let best = searcher.search(query, &top)?;
    let matches = best.len();
    Ok(Answer { best, matches })
}

pub fn measure(peer: &PeerIndex, searcher: &Searcher, queries: &[Box<dyn Query>], exact: bool, seconds: f64) -> Result<Json, Failure> {
    let (mut hits, mut matches, mut checksum) = (0, 0, FNV_OFFSET);
    for query in queries {
        let answer = search(searcher, query.as_ref(), exact)?;
        hits += answer.best.len();
        matches += answer.matches;
        for (_, address) in answer.best {
            let document: TantivyDocument = searcher.doc(address)?;
            let key = document.get_first(peer.key).and_then(|value| value.as_str()).unwrap_or_default();
            for byte in key.bytes() {
                checksum = (checksum ^ u64::from(byte)).wrapping_mul(FNV_PRIME);
            }
        }
    }
    let mut micros = Vec::new();
    let begun = Instant::now();
    while micros.is_empty() || begun.elapsed().as_secs_f64() < seconds {
        for query in queries {
            let asked = Instant::now();
            std::hint::black_box(search(searcher, query.as_ref(), exact)?.best.len());
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
