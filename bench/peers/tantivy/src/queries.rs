//! The query of each class. Terms are OR. The phrase classes are one phrase. `a AND b NOT c` is a boolean
//! query. Misspelt words match within a number of edits. Patterns are regular expressions. Queries are built
//! from the analysed words before the clock starts.

use std::collections::BTreeMap;
use std::fs::File;
use std::path::Path;

use tantivy::query::{BooleanQuery, FuzzyTermQuery, Occur, PhraseQuery, Query, RegexQuery, TermQuery};
use tantivy::schema::IndexRecordOption;
use tantivy::Term;

use crate::index::PeerIndex;
use crate::Failure;

pub type Classes = BTreeMap<String, Vec<String>>;

pub fn read_classes(path: &Path) -> Result<Classes, Failure> {
    let mut classes: Classes = serde_json::from_reader(File::open(path)?)?;
    if let Some(words) = classes.get("fuzzy1").cloned() {
        classes.insert("fuzzy2".to_owned(), words);
    }
    Ok(classes)
}

pub fn parse(peer: &PeerIndex, class: &str, text: &str) -> Result<Box<dyn Query>, Failure> {
    if class.starts_with("phrase") {
        let terms = terms_of(peer, text)?;
        return Ok(match terms.len() {
            0 | 1 => bag(terms, Occur::Must),
            _ => Box::new(PhraseQuery::new(terms)),
        });
    }
    if let Some(edits) = class.strip_prefix("fuzzy") {
        let edits = edits.parse()?;
        let clauses: Vec<(Occur, Box<dyn Query>)> = terms_of(peer, text)?
            .into_iter()
            .map(|term| {
                let query: Box<dyn Query> = Box::new(FuzzyTermQuery::new(term, edits, true));
                (Occur::Should, query)
            })
            .collect();
        return Ok(only_or_all(clauses));
    }
    if class == "wild" {
        return Ok(Box::new(RegexQuery::from_pattern(&text.replace('*', ".*").replace('?', "."), peer.content)?));
    }
    if class == "and2" {
        return Ok(bag(terms_of(peer, &text.replace(" AND ", " "))?, Occur::Must));
    }
    if class == "bool3" {
        let (wanted, excluded) = text.split_once(" NOT ").ok_or("bool3 without NOT")?;
        let mut clauses = clauses_of(terms_of(peer, &wanted.replace(" AND ", " "))?, Occur::Must);
        clauses.extend(clauses_of(terms_of(peer, excluded)?, Occur::MustNot));
        return Ok(Box::new(BooleanQuery::new(clauses)));
    }
    Ok(bag(terms_of(peer, text)?, Occur::Should))
}

/// The terms of the text, in order.
fn terms_of(peer: &PeerIndex, text: &str) -> Result<Vec<Term>, Failure> {
    let mut analyzer = peer.index.tokenizer_for_field(peer.content)?;
    let mut stream = analyzer.token_stream(text);
    let mut terms = Vec::new();
    while let Some(token) = stream.next() {
        terms.push(Term::from_field_text(peer.content, &token.text));
    }
    Ok(terms)
}

/// Each term once; a single term is not wrapped in a boolean query.
fn bag(terms: Vec<Term>, occur: Occur) -> Box<dyn Query> {
    let mut distinct: Vec<Term> = Vec::new();
    for term in terms {
        if !distinct.contains(&term) {
            distinct.push(term);
        }
    }
    only_or_all(clauses_of(distinct, occur))
}

fn only_or_all(mut clauses: Vec<(Occur, Box<dyn Query>)>) -> Box<dyn Query> {
    match clauses.len() {
        1 => clauses.remove(0).1,
        _ => Box::new(BooleanQuery::new(clauses)),
    }
}

fn clauses_of(terms: Vec<Term>, occur: Occur) -> Vec<(Occur, Box<dyn Query>)> {
    terms
        .into_iter()
        .map(|term| {
            let query: Box<dyn Query> = Box::new(TermQuery::new(term, IndexRecordOption::WithFreqs));
            (occur, query)
        })
        .collect()
}
