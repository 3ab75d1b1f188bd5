//! The project's own light stemmer for Polish. It removes inflectional endings of nouns, adjectives and
//! common verb classes, and then unifies the consonant and vowel alternations that the endings cause
//! (ręka/ręce, noga/nodze, wóz/wozu). Conservative: it conflates forms of one word rather than words of one
//! root. Golden list: test/golden/analyzer/polish.json.

use std::borrow::Cow;

/// Minimum number of letters before an ending.
const STEM_LETTERS_MIN: usize = 3;

/// Endings, longest first among those that share a suffix. The number is the minimum number of letters that
/// remain.
#[rustfmt::skip]
static ENDINGS: &[(&str, usize)] = &[
    ("owaniach", 3), ("owaniami", 3), ("owaniom", 3), ("owaniem", 3), ("owanego", 3), ("owanemu", 3), ("owanych", 3), ("owanymi", 3),
    ("owaliśmy", 3), ("owałyśmy", 3), ("owania", 3), ("owaniu", 3), ("owanie", 3), ("owanym", 3), ("owanej", 3), ("owałem", 3),
    ("owałam", 3), ("owałeś", 3), ("owałaś", 3), ("ującego", 3), ("ującemu", 3), ("ujących", 3), ("ującymi", 3), ("ującym", 3),
    ("ującej", 3), ("ujący", 3), ("ująca", 3), ("ujące", 3), ("ującą", 3), ("ujemy", 3), ("ujecie", 3), ("ujesz", 3), ("owano", 3),
    ("owany", 3), ("owana", 3), ("owane", 3), ("owaną", 3), ("owani", 3), ("owała", 3), ("owało", 3), ("owali", 3), ("owały", 3),
    ("ować", 3), ("ował", 3), ("owań", 3), ("ując", 3), ("uje", 3), ("ują", 3), ("uję", 3),
    ("ającego", 3), ("ającemu", 3), ("ających", 3), ("ającymi", 3), ("ającym", 3), ("ającej", 3), ("ający", 3), ("ająca", 3), ("ające", 3),
    ("ającą", 3), ("ając", 3), ("aliśmy", 3), ("ałyśmy", 3), ("aniach", 4), ("aniami", 4), ("aniom", 4), ("aniem", 4), ("ania", 4),
    ("aniu", 4), ("anie", 4), ("ałem", 3), ("ałam", 3), ("ają", 3), ("asz", 3), ("amy", 4), ("acie", 3), ("ała", 3), ("ało", 3), ("ali", 3),
    ("ały", 3), ("ać", 3),
    ("eniach", 5), ("eniami", 5), ("eniom", 5), ("eniem", 5), ("enia", 5), ("eniu", 5), ("enie", 5),
    ("iliśmy", 3), ("iłyśmy", 3), ("iłem", 3), ("iłam", 3), ("iła", 3), ("iło", 3), ("ili", 3), ("iły", 3), ("isz", 3), ("imy", 3),
    ("icie", 3), ("ić", 3), ("yliśmy", 3), ("yłem", 3), ("yłam", 3), ("yła", 3), ("yło", 3), ("yli", 3), ("yły", 3), ("yć", 3), ("eć", 3),
    ("iejszego", 3), ("iejszemu", 3), ("iejszych", 3), ("iejszymi", 3), ("iejszym", 3), ("iejszej", 3), ("iejszy", 3), ("iejsza", 3),
    ("iejsze", 3), ("iejszą", 3), ("ejszego", 3), ("ejszych", 3), ("ejszym", 3), ("ejszej", 3), ("ejszy", 3), ("ejsza", 3), ("ejsze", 3),
    ("iego", 3), ("iemu", 3), ("ego", 3), ("emu", 3), ("ymi", 3), ("imi", 3), ("ych", 3), ("ich", 3), ("ym", 3), ("im", 3),
    ("iej", 3), ("ej", 3), ("iami", 3), ("ami", 3), ("mi", 4), ("iach", 3), ("ach", 3), ("iom", 3), ("om", 3), ("owie", 3), ("iowi", 3), ("owi", 3),
    ("iów", 3), ("ów", 3), ("iem", 3), ("em", 3), ("ią", 3), ("ię", 3), ("ia", 3), ("ie", 3), ("io", 3), ("iu", 3), ("ii", 3), ("yj", 3),
    ("ą", 3), ("ę", 3), ("a", 3), ("e", 3), ("i", 3), ("o", 3), ("u", 3), ("y", 3),
];

/// Words whose end only looks like an ending. Their inflected forms begin with them.
static UNCUT: &[&str] =
    &["system", "problem", "program", "totem", "telegram", "diagram", "emblem", "album", "forum", "miejsc", "hiszpan", "brytan", "reklam"];

pub fn stem(word: &str) -> Cow<'_, str> {
    if let Some(&root) = UNCUT.iter().find(|&&root| word.strip_prefix(root).is_some_and(is_case_ending)) {
        return Cow::Borrowed(root);
    }
    let (root, ending) = cut_ending(word);
    if letters(root) < STEM_LETTERS_MIN {
        return Cow::Borrowed(word);
    }
    even_out(root, ending)
}

fn letters(word: &str) -> usize {
    word.chars().count()
}

/// Returns whether `rest` is a case ending of a noun.
fn is_case_ending(rest: &str) -> bool {
    matches!(rest, "" | "u" | "y" | "a" | "e" | "o" | "i" | "owi" | "em" | "om" | "ów" | "ach" | "ami" | "ie" | "ia" | "ii" | "ią" | "ię")
}

fn cut_ending(word: &str) -> (&str, &str) {
    let word = match word.strip_prefix("naj") {
        Some(rest)
            if ["szy", "sza", "sze", "szą", "szych", "szym", "szymi", "szego", "szemu", "szej"].iter().any(|end| rest.ends_with(end)) =>
        {
            rest
        }
        _ => word,
    };
    for &(ending, stays) in ENDINGS {
        if let Some(root) = word.strip_suffix(ending) {
            if letters(root) >= stays {
                return (root, &word[root.len()..]);
            }
        }
    }
    (word, "")
}

/// Returns one spelling for a root that its forms write in several ways.
fn even_out<'a>(root: &'a str, ending: &str) -> Cow<'a, str> {
    let is_soft = ending.starts_with('i');
    let mut root = root.to_owned();
    // Fleeting e: książek/książk-, chłopiec/chłopc-, domek/domk-. A soft c before an ending is not a fleeting
    // e: kobiec-ie.
    for (written, plain, before_endings) in [("iec", "c", false), ("iek", "k", true), ("ek", "k", true)] {
        if (before_endings || ending.is_empty()) && root.strip_suffix(written).is_some_and(|rest| letters(rest) >= STEM_LETTERS_MIN) {
            replace_tail(&mut root, written, plain);
            break;
        }
    }
    let tails: &[(&str, &str)] = if is_soft {
        &[("śc", "st"), ("dz", "d"), ("sz", "sz"), ("cz", "cz"), ("c", "t"), ("ś", "s"), ("ź", "z"), ("ń", "n")]
    } else {
        &[
            ("ść", "st"),
            ("śc", "st"),
            ("dź", "d"),
            ("dz", "g"),
            ("cz", "cz"),
            ("rz", "r"),
            ("c", "k"),
            ("ć", "t"),
            ("ś", "s"),
            ("ź", "z"),
            ("ń", "n"),
            ("ł", "l"),
        ]
    };
    if let Some(&(written, plain)) = tails.iter().find(|(written, _)| root.ends_with(written)) {
        replace_tail(&mut root, written, plain);
    }
    last_vowel(&mut root);
    Cow::Owned(root)
}

fn replace_tail(root: &mut String, written: &str, plain: &str) {
    root.truncate(root.len() - written.len());
    root.push_str(plain);
}

/// ó and ą in the last syllable become o and ę: wóz/wozu, ząb/zęba.
fn last_vowel(root: &mut String) {
    let vowel = root.char_indices().rev().find(|(_, letter)| "aeiouyóąę".contains(*letter));
    match vowel {
        Some((at, 'ó')) => root.replace_range(at..at + 'ó'.len_utf8(), "o"),
        Some((at, 'ą')) => root.replace_range(at..at + 'ą'.len_utf8(), "ę"),
        _ => {}
    }
}
