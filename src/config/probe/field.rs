//! A header field on the command line.

use std::str::FromStr;

use http::header::{CONNECTION, CONTENT_LENGTH, TRANSFER_ENCODING};
use http::{HeaderName, HeaderValue};

/// `Name: value`. The value may be a key: no message repeats it, and `Debug` hides it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Field {
    /// Its name.
    pub name: HeaderName,
    /// Its value, marked as sensitive.
    pub value: HeaderValue,
}

impl FromStr for Field {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        const SHAPE: &str = "write it like 'X-Team: search'";
        let (name, value) = text
            .split_once(':')
            .ok_or_else(|| format!("a header has a colon between name and value; {SHAPE}"))?;
        let name: HeaderName = name
            .trim()
            .parse()
            .map_err(|_| format!("what stands before the colon is no name of a header; {SHAPE}"))?;
        if [CONNECTION, CONTENT_LENGTH, TRANSFER_ENCODING].contains(&name) {
            return Err(format!("{name} frames the request and is set by dripline"));
        }
        let mut value = HeaderValue::from_str(value.trim()).map_err(|_| {
            format!("the value of {name} has characters that a header cannot have; {SHAPE}")
        })?;
        value.set_sensitive(true);
        Ok(Field { name, value })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_field_is_taken_apart_and_its_value_hidden() {
        let field: Field = "X-Key:  sk-planted:1 ".parse().unwrap();
        assert_eq!(field.name, "x-key");
        assert_eq!(field.value, "sk-planted:1");
        assert!(!format!("{field:?}").contains("planted"));
    }

    #[test]
    fn mistakes_are_told_without_the_value() {
        for text in [
            "sk-planted",
            "a b: sk-planted",
            "X-Key: sk-planted\u{1}",
            "Content-Length: sk-planted",
        ] {
            let error = text.parse::<Field>().unwrap_err();
            assert!(!error.contains("planted") && error.len() > 30, "{error}");
        }
    }
}
