//! Tantivy as a peer of the benches: reads commands from standard input and answers each with one JSON line,
//! by the protocol of all peers (bench/peers/peer_process.ts). One thread indexes, one searches.
//! Usage: tantivy-peer CORPUS.ndjson QUERIES.json DIR

#![forbid(unsafe_code)]

mod index;
mod measure;
mod queries;

use std::io::{stdin, stdout, BufRead, Write};
use std::path::Path;

use serde_json::{json, Value};
use tantivy::Searcher;

use index::PeerIndex;

pub type Failure = Box<dyn std::error::Error>;

struct Open {
    peer: PeerIndex,
    searcher: Searcher,
}

fn opened(peer: PeerIndex) -> Result<Open, Failure> {
    let searcher = peer.index.reader()?.searcher();
    Ok(Open { peer, searcher })
}

fn measured(open: &Open, classes: &queries::Classes, class: &str, wanted: &str, seconds: &str) -> Result<Value, Failure> {
    let texts = classes.get(class).ok_or(format!("no class {class}"))?;
    let queries = texts.iter().map(|text| queries::parse(&open.peer, class, text)).collect::<Result<Vec<_>, _>>()?;
    measure::measure(&open.peer, &open.searcher, &queries, wanted.parse()?, seconds.parse()?)
}

fn main() -> Result<(), Failure> {
    let arguments: Vec<String> = std::env::args().collect();
    let [_, corpus, queries, directory] = arguments.as_slice() else {
        return Err("usage: tantivy-peer CORPUS.ndjson QUERIES.json DIR".into());
    };
    let classes = queries::read_classes(Path::new(queries))?;
    let directory = Path::new(directory);
    let mut open = None;
    for line in stdin().lock().lines() {
        let line = line?;
        let words: Vec<&str> = line.split_whitespace().collect();
        let answer = match (words.as_slice(), &open) {
            (["index"], _) => {
                let (peer, answer) = index::build(Path::new(corpus), directory)?;
                open = Some(opened(peer)?);
                answer
            }
            (["open"], _) => {
                let peer = opened(index::open(directory)?)?;
                let answer = json!({ "documents": peer.searcher.num_docs() });
                open = Some(peer);
                answer
            }
            (["measure", class, wanted, seconds], Some(open)) => measured(open, &classes, class, wanted, seconds)?,
            _ => return Err(format!("unknown command: {line}").into()),
        };
        writeln!(stdout(), "{answer}")?;
    }
    Ok(())
}
