//! A TOML document read by hand, so that a mistake is told at its line, with the path of its key.
//!
//! Derived readers say "data did not match any variant" where a value may be one of several things, as pieces may, and lose
//! the place. Here each [`Value`] knows where it stands.

use ::toml::Spanned;
use ::toml::de::{DeTable, DeValue};

use super::ScenarioError;

/// The document: where errors point into.
pub(super) struct Source<'a> {
    pub file: &'a str,
    pub text: &'a str,
}

/// A value, with the path of its key for errors.
#[derive(Clone)]
pub(super) struct Value<'v> {
    source: &'v Source<'v>,
    path: String,
    value: &'v Spanned<DeValue<'v>>,
}

/// A table, with the path of its key.
pub(super) struct Table<'v> {
    source: &'v Source<'v>,
    path: String,
    offset: usize,
    entries: &'v DeTable<'v>,
}

type Result<T> = std::result::Result<T, ScenarioError>;

impl<'a> Source<'a> {
    pub fn parse(&self) -> Result<Spanned<DeTable<'a>>> {
        DeTable::parse(self.text).map_err(|error| {
            let line = error.span().map(|span| self.line(span.start));
            let problem = format!("this is not TOML: {}", error.message());
            ScenarioError::at(self.file, line, "", problem, "mend the line".to_owned())
        })
    }

    pub fn root<'v>(&'v self, document: &'v Spanned<DeTable<'v>>) -> Table<'v> {
        Table {
            source: self,
            path: String::new(),
            offset: document.span().start,
            entries: document.get_ref(),
        }
    }

    fn line(&self, offset: usize) -> usize {
        1 + self
            .text
            .as_bytes()
            .iter()
            .take(offset)
            .filter(|&&byte| byte == b'\n')
            .count()
    }

    fn error(&self, offset: usize, path: &str, problem: String, fix: String) -> ScenarioError {
        ScenarioError::at(self.file, Some(self.line(offset)), path, problem, fix)
    }
}

impl<'v> Table<'v> {
    pub fn get(&self, key: &str) -> Option<Value<'v>> {
        let value = self.entries.get(key)?;
        let dot = if self.path.is_empty() { "" } else { "." };
        Some(Value {
            source: self.source,
            path: format!("{}{dot}{key}", self.path),
            value,
        })
    }

    /// An error at the first key that is none of `keys`.
    pub fn allow(&self, keys: &[&str]) -> Result<()> {
        match self
            .entries
            .keys()
            .find(|key| !keys.contains(&key.get_ref().as_ref()))
        {
            None => Ok(()),
            Some(key) => {
                let problem = format!("has no key '{}'", key.get_ref());
                let fix = format!("the keys here are {}", keys.join(", "));
                Err(self
                    .source
                    .error(key.span().start, self.shown(), problem, fix))
            }
        }
    }

    /// The one key of `keys` that this table must have.
    pub fn only_one(&self, keys: &[&'static str]) -> Result<(&'static str, Value<'v>)> {
        let mut found = keys.iter().filter_map(|&key| Some((key, self.get(key)?)));
        match (found.next(), found.next()) {
            (Some(one), None) => Ok(one),
            (Some((one, _)), Some((other, value))) => {
                let fix = "make two of it".to_owned();
                Err(self.source.error(
                    value.offset(),
                    self.shown(),
                    format!("has both {one} and {other}"),
                    fix,
                ))
            }
            (None, _) => Err(self.error(
                "says nothing to do".to_owned(),
                format!("give it one of {}", keys.join(", ")),
            )),
        }
    }

    pub fn error(&self, problem: String, fix: String) -> ScenarioError {
        self.source.error(self.offset, self.shown(), problem, fix)
    }

    fn shown(&self) -> &str {
        if self.path.is_empty() {
            "a scenario"
        } else {
            &self.path
        }
    }
}

impl<'v> Value<'v> {
    pub fn text(&self) -> Result<&'v str> {
        let value: &'v DeValue<'v> = self.value.get_ref();
        value
            .as_str()
            .ok_or_else(|| self.wanted("a text", "put it in quotes"))
    }

    /// Anything that reads from a whole number and stays within its bounds.
    pub fn number<T: TryFrom<i64>>(&self, fix: &str) -> Result<T> {
        let number = self
            .value
            .get_ref()
            .as_integer()
            .and_then(|i| i64::from_str_radix(i.as_str(), i.radix()).ok());
        number
            .and_then(|n| T::try_from(n).ok())
            .ok_or_else(|| self.wanted("a whole number that fits here", fix))
    }

    /// One of a few words.
    pub fn word<T: Clone>(&self, words: &[(&str, T)]) -> Result<T> {
        let text = self.text()?;
        let known = || {
            words
                .iter()
                .map(|(word, _)| format!("\"{word}\""))
                .collect::<Vec<_>>()
                .join(" or ")
        };
        let found = words
            .iter()
            .find(|(word, _)| *word == text)
            .map(|(_, value)| value.clone());
        found.ok_or_else(|| {
            self.wrong(
                format!("= \"{text}\" is not known"),
                format!("write {}", known()),
            )
        })
    }

    pub fn list(&self) -> Option<Vec<Value<'v>>> {
        let items = self.value.get_ref().as_array()?.iter();
        let item = |(i, value)| Value {
            source: self.source,
            path: format!("{}[{}]", self.path, i + 1),
            value,
        };
        Some(items.enumerate().map(item).collect())
    }

    pub fn table(&self) -> Option<Table<'v>> {
        let entries = self.value.get_ref().as_table()?;
        Some(Table {
            source: self.source,
            path: self.path.clone(),
            offset: self.offset(),
            entries,
        })
    }

    /// An error that says what should stand here.
    pub fn wanted(&self, what: &str, fix: &str) -> ScenarioError {
        self.wrong(
            format!("is {} and should be {what}", self.kind()),
            fix.to_owned(),
        )
    }

    pub fn wrong(&self, problem: String, fix: String) -> ScenarioError {
        self.source.error(self.offset(), &self.path, problem, fix)
    }

    pub fn is_true(&self) -> bool {
        self.value.get_ref().as_bool() == Some(true)
    }

    fn offset(&self) -> usize {
        self.value.span().start
    }

    fn kind(&self) -> String {
        match self.value.get_ref() {
            DeValue::String(text) => format!("the text \"{text}\""),
            DeValue::Integer(number) => format!("the number {}", number.as_str()),
            DeValue::Float(number) => format!("the number {}", number.as_str()),
            DeValue::Boolean(value) => value.to_string(),
            DeValue::Datetime(_) => "a date".to_owned(),
            DeValue::Array(_) => "a list".to_owned(),
            DeValue::Table(_) => "a table".to_owned(),
        }
    }
}
