//! The index of the peer: content with positions (tokenizer `en_stem`), key stored, as in the Python peer of
//! the shared aids. One indexing thread. It is merged into one segment afterwards, like the indexes of the
//! other peers. Only indexing is timed, not the parsing of the corpus.

use std::fs::{create_dir_all, remove_dir_all, File};
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::time::Instant;

use serde_json::{json, Value};
use tantivy::schema::{Field, IndexRecordOption, Schema, TextFieldIndexing, TextOptions, STORED, STRING};
use tantivy::{doc, Index, IndexWriter, TantivyDocument};

use crate::Failure;

/// One thread's arena, the same size as in the Python peer.
const WRITER_BYTES: usize = 256_000_000;

pub struct PeerIndex {
    pub index: Index,
    pub content: Field,
    pub key: Field,
}

fn schema() -> Schema {
    let indexing = TextFieldIndexing::default().set_tokenizer("en_stem").set_index_option(IndexRecordOption::WithFreqsAndPositions);
    let mut builder = Schema::builder();
    builder.add_text_field("key", STRING | STORED);
    builder.add_text_field("content", TextOptions::default().set_indexing_options(indexing));
    builder.build()
}

/// Opens the index that an earlier run built in the directory.
pub fn open(directory: &Path) -> Result<PeerIndex, Failure> {
    with_fields(Index::open_in_dir(directory)?)
}

fn with_fields(index: Index) -> Result<PeerIndex, Failure> {
    let content = index.schema().get_field("content")?;
    let key = index.schema().get_field("key")?;
    Ok(PeerIndex { index, content, key })
}

/// Keys and contents of the corpus, in order.
fn read_corpus(path: &Path) -> Result<Vec<(String, String)>, Failure> {
    let mut documents = Vec::new();
    for line in BufReader::new(File::open(path)?).lines() {
        let line = line?;
        if line.is_empty() {
            continue;
        }
        let document: Value = serde_json::from_str(&line)?;
        let text = |name: &str| document[name].as_str().map(str::to_owned).ok_or(format!("a document without {name}"));
        documents.push((text("key")?, text("contentMd")?));
    }
    Ok(documents)
}

/// Replaces the contents of the directory. Returns the index and the answer of the command.
pub fn build(corpus: &Path, directory: &Path) -> Result<(PeerIndex, Value), Failure> {
    if directory.exists() {
        remove_dir_all(directory)?;
    }
    create_dir_all(directory)?;
    let peer = with_fields(Index::create_in_dir(directory, schema())?)?;
    let texts = read_corpus(corpus)?;
    let count = texts.len();
    let documents: Vec<TantivyDocument> = texts.into_iter().map(|(key, content)| doc!(peer.key => key, peer.content => content)).collect();
    let begun = Instant::now();
    let mut writer: IndexWriter = peer.index.writer_with_num_threads(1, WRITER_BYTES)?;
    for document in documents {
        writer.add_document(document)?;
    }
    writer.commit()?;
    writer.wait_merging_threads()?;
    let seconds = begun.elapsed().as_secs_f64();
    let merging = Instant::now();
    merge_all(&peer.index)?;
    let answer = json!({
        "documents": count,
        "seconds": seconds,
        "mergeSeconds": merging.elapsed().as_secs_f64(),
        "bytes": directory_bytes(directory)?,
    });
    Ok((peer, answer))
}

fn merge_all(index: &Index) -> Result<(), Failure> {
    let segments = index.searchable_segment_ids()?;
    let mut writer: IndexWriter = index.writer_with_num_threads(1, WRITER_BYTES)?;
    if segments.len() > 1 {
        writer.merge(&segments).wait()?;
    }
    writer.garbage_collect_files().wait()?;
    writer.wait_merging_threads()?;
    Ok(())
}

fn directory_bytes(directory: &Path) -> Result<u64, Failure> {
    let mut bytes = 0;
    for entry in directory.read_dir()? {
        bytes += entry?.metadata()?.len();
    }
    Ok(bytes)
}
