//! A strict reader of the texts, for tests: what it cannot read whole, it does not read at all.

use std::collections::BTreeMap;

/// One line that is not a comment.
#[derive(Debug)]
pub struct Sample {
    /// The name, ending included.
    pub name: String,
    /// The labels, unescaped.
    pub labels: BTreeMap<String, String>,
    /// The number.
    pub value: f64,
}

/// All samples of a page.
pub fn samples(page: &str) -> Vec<Sample> {
    assert!(page.ends_with('\n'));
    // Not `lines`: only a line feed ends a line here.
    let lines = page.strip_suffix('\n').unwrap().split('\n');
    lines
        .filter(|line| {
            let comment = ["# HELP ", "# TYPE ", "# UNIT ", "# EOF"];
            !comment.iter().any(|kind| line.starts_with(kind))
        })
        .map(|line| sample(line).unwrap_or_else(|| panic!("no sample: {line:?}")))
        .collect()
}

fn sample(line: &str) -> Option<Sample> {
    let end = line.find(['{', ' '])?;
    let (name, rest) = line.split_at(end);
    let is_part = |c: char| c.is_ascii_lowercase() || c == '_';
    if name.is_empty() || !name.chars().all(is_part) {
        return None;
    }
    let (labels, rest) = match rest.strip_prefix('{') {
        Some(rest) => labels(rest)?,
        None => (BTreeMap::new(), rest),
    };
    let value = rest.strip_prefix(' ')?;
    let value = value.split_once(" # {").map_or(value, |(value, _)| value);
    Some(Sample {
        name: name.to_owned(),
        labels,
        value: value.parse().ok()?,
    })
}

/// `a="b",c="d"}` and what follows.
fn labels(mut rest: &str) -> Option<(BTreeMap<String, String>, &str)> {
    let mut labels = BTreeMap::new();
    loop {
        let (name, after) = rest.split_once("=\"")?;
        let mut value = String::new();
        let mut chars = after.char_indices();
        let end = loop {
            match chars.next()? {
                (at, '"') => break at,
                (_, '\\') => value.push(match chars.next()?.1 {
                    'n' => '\n',
                    c @ ('"' | '\\') => c,
                    _ => return None,
                }),
                (_, c) => value.push(c),
            }
        };
        if labels.insert(name.to_owned(), value).is_some() {
            return None; // twice
        }
        let after = &after[end + 1..];
        match after.strip_prefix(',') {
            Some(more) => rest = more,
            None => return Some((labels, after.strip_prefix('}')?)),
        }
    }
}
