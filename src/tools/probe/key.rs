//! The key: where it comes from, and where it may go. It is never printed and never recorded.

use http::HeaderValue;
use http::header::{AUTHORIZATION, HeaderName};

use crate::config::UpstreamUrl;
use crate::config::probe::{ProbeApi, is_private};

/// Where a key is looked for; the first that has one.
const VARIABLES: [&str; 2] = ["API_TOKEN", "OPENAI_API_KEY"];

/// A key and the variable that it is from.
pub(super) struct Key {
    pub variable: &'static str,
    value: String,
}

impl Key {
    /// The key of the environment, which `variable` reads.
    pub fn of(variable: impl Fn(&str) -> Option<String>) -> Option<Key> {
        VARIABLES.into_iter().find_map(|name| {
            let value = variable(name)?.trim().to_owned();
            (!value.is_empty()).then_some(Key {
                variable: name,
                value,
            })
        })
    }

    /// The field that carries it.
    ///
    /// # Errors
    ///
    /// It has characters that no header can have; the message names the variable.
    pub fn field(&self, api: ProbeApi) -> anyhow::Result<(HeaderName, HeaderValue)> {
        let (name, text) = match api {
            ProbeApi::Messages => (HeaderName::from_static("x-api-key"), self.value.clone()),
            _ => (AUTHORIZATION, format!("Bearer {}", self.value)),
        };
        let mut value = HeaderValue::try_from(text).map_err(|_| {
            anyhow::anyhow!(
                "the key in {} has characters that a header cannot have; set it again, without line ends",
                self.variable
            )
        })?;
        value.set_sensitive(true);
        Ok((name, value))
    }

    /// What to tell where it must not go, or nothing.
    pub fn withheld(&self, server: &UpstreamUrl, asked: bool) -> Option<String> {
        (!asked && !is_private(server)).then(|| {
            format!(
                "the key in {} was not sent to {server}: others can read it on the way; use https, or --send-key",
                self.variable
            )
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(vars: &[(&str, &str)]) -> Option<Key> {
        let find = |name: &str| vars.iter().find(|(known, _)| *known == name);
        Key::of(|name| find(name).map(|(_, value)| (*value).to_owned()))
    }

    #[test]
    fn the_first_variable_that_has_one_gives_it() {
        let from = |vars: &[_]| key(vars).map(|key| key.variable);
        assert_eq!(
            from(&[("OPENAI_API_KEY", "a"), ("API_TOKEN", "b")]),
            Some("API_TOKEN")
        );
        assert_eq!(
            from(&[("OPENAI_API_KEY", "a"), ("API_TOKEN", " ")]),
            Some("OPENAI_API_KEY")
        );
        assert_eq!(from(&[]), None);
    }

    #[test]
    fn it_goes_where_nobody_can_read_it_or_where_it_was_asked_to() {
        let key = key(&[("API_TOKEN", "sk-planted")]).unwrap();
        let open: UpstreamUrl = "http://10.0.0.7:8000".parse().unwrap();
        let told = key.withheld(&open, false).unwrap();
        assert!(
            told.contains("API_TOKEN") && !told.contains("planted"),
            "{told}"
        );
        assert!(key.withheld(&open, true).is_none());
        for private in ["https://h", "http://127.0.0.1:1", "http://localhost:1"] {
            assert!(key.withheld(&private.parse().unwrap(), false).is_none());
        }
    }

    #[test]
    fn each_api_has_its_field_and_its_value_is_hidden() {
        let key = key(&[("API_TOKEN", "sk-planted")]).unwrap();
        let (name, value) = key.field(ProbeApi::Messages).unwrap();
        assert_eq!(
            (name.as_str(), value.as_bytes()),
            ("x-api-key", &b"sk-planted"[..])
        );
        let (name, value) = key.field(ProbeApi::Chat).unwrap();
        assert_eq!(
            (name.as_str(), value.as_bytes()),
            ("authorization", &b"Bearer sk-planted"[..])
        );
        assert!(!format!("{value:?}").contains("planted"));
    }

    #[test]
    fn a_broken_key_is_told_by_its_variable() {
        let error = key(&[("API_TOKEN", "sk-\nplanted")])
            .unwrap()
            .field(ProbeApi::Chat);
        let error = error.unwrap_err().to_string();
        assert!(
            error.contains("API_TOKEN") && !error.contains("planted"),
            "{error}"
        );
    }
}
