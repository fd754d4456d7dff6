//! `--where`: a record is chosen by what one of its names or words is like.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use crate::observe::record::{End, RequestRecord, Timing};
use crate::sink::console::text::word;

/// What a record is chosen by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Key {
    Model,
    Path,
    Upstream,
    Verdict,
    End,
    Label,
    Instance,
}

const KEYS: [(&str, Key); 7] = [
    ("model", Key::Model),
    ("path", Key::Path),
    ("upstream", Key::Upstream),
    ("verdict", Key::Verdict),
    ("end", Key::End),
    ("label", Key::Label),
    ("instance", Key::Instance),
];

/// One `--where`: `KEY=PATTERN` or `KEY!=PATTERN`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wanted {
    key: Key,
    not: bool,
    pattern: String,
}

impl FromStr for Wanted {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let keys = KEYS.map(|(name, _)| name).join(", ");
        let (name, pattern) = text.split_once('=').ok_or(format!(
            "'{text}' has no =; write KEY=PATTERN or KEY!=PATTERN, such as 'model=llama*'; the keys are {keys}"
        ))?;
        let not = name.ends_with('!');
        let name = name.trim_end_matches('!').trim();
        let (_, key) = KEYS
            .into_iter()
            .find(|(known, _)| *known == name)
            .ok_or(format!("there is no key '{name}'; the keys are {keys}"))?;
        let pattern = pattern.trim().to_owned();
        let words: Vec<String> = match key {
            Key::Verdict => Timing::ALL.iter().map(word).collect(),
            Key::End => End::ALL.iter().map(word).collect(),
            _ => Vec::new(),
        };
        let is_known = pattern.is_empty() || words.iter().any(|word| fits(&pattern, word));
        if !words.is_empty() && !is_known {
            return Err(format!(
                "no {name} fits '{pattern}'; there are {}",
                words.join(", ")
            ));
        }
        Ok(Wanted { key, not, pattern })
    }
}

impl fmt::Display for Wanted {
    /// As it is typed.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let known = KEYS.iter().find(|(_, key)| *key == self.key);
        let name = known.map_or("", |(name, _)| name);
        let is = if self.not { "!=" } else { "=" };
        write!(f, "{name}{is}{}", self.pattern)
    }
}

impl Wanted {
    /// Whether the record is so.
    pub fn takes(&self, record: &RequestRecord) -> bool {
        let known = |name: &Option<String>| name.clone().map(Cow::Owned);
        let value: Option<Cow<'_, str>> = match self.key {
            Key::Model => known(&record.request.model),
            Key::Path => known(&record.request.path),
            Key::Upstream => known(&record.upstream.name),
            Key::Label => known(&record.label),
            Key::Instance => Some(Cow::Borrowed(&record.instance)),
            Key::End => Some(Cow::Owned(word(&record.end))),
            Key::Verdict => record
                .verdict
                .as_ref()
                .map(|verdict| word(&verdict.timing).into()),
        };
        fits(&self.pattern, value.as_deref().unwrap_or_default()) != self.not
    }
}

/// Whether `text` is like `pattern`, in which each `*` stands for any text.
fn fits(pattern: &str, text: &str) -> bool {
    let mut parts = pattern.split('*');
    let first = parts.next().unwrap_or_default();
    let Some(mut rest) = text.strip_prefix(first) else {
        return false;
    };
    let Some(last) = parts.next_back() else {
        return rest.is_empty(); // no star
    };
    for part in parts {
        match rest.find(part) {
            Some(at) => rest = &rest[at + part.len()..],
            None => return false,
        }
    }
    rest.ends_with(last)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::tools::logs::sample;

    fn wanted(text: &str) -> bool {
        text.parse::<Wanted>().unwrap().takes(&sample())
    }

    #[test]
    fn records_are_chosen_by_what_they_are() {
        for text in [
            "model=stall",
            "model=st*",
            "model!=llama*",
            "path=/v1/*",
            "verdict=stall*",
            "verdict!=steady",
            "end=complete",
            "label=",
            "instance=*",
            "upstream=127.*:*",
        ] {
            assert!(wanted(text), "{text}");
        }
        for text in [
            "model=",
            "model=tall",
            "model!=*",
            "label=x",
            "end!=complete",
            "verdict=late*",
        ] {
            assert!(!wanted(text), "{text}");
        }
    }

    #[test]
    fn a_mistake_is_told_what_is_allowed() {
        let error = |text: &str| text.parse::<Wanted>().unwrap_err();
        assert!(error("model").contains("KEY=PATTERN"));
        assert!(error("modle=x").contains("no key 'modle'; the keys are model, path, upstream"));
        assert!(error("verdict=staedy").contains("there are steady, irregular"));
        assert!(error("end=done").contains("there are refused"));
    }

    /// The same by trying all: slow and plain.
    fn naive(pattern: &[char], text: &[char]) -> bool {
        match pattern.split_first() {
            None => text.is_empty(),
            Some(('*', rest)) => (0..=text.len()).any(|skip| naive(rest, &text[skip..])),
            Some((c, rest)) => text.first() == Some(c) && naive(rest, &text[1..]),
        }
    }

    proptest! {
        #[test]
        fn stars_stand_for_any_text(pattern in "[ab*é]{0,8}", text in "[abé]{0,10}") {
            let chars = |text: &str| text.chars().collect::<Vec<_>>();
            prop_assert_eq!(fits(&pattern, &text), naive(&chars(&pattern), &chars(&text)));
        }
    }
}
