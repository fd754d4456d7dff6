//! Names and values in one text, as OpenTelemetry's variables have them: `a=1,b=two%20words`.

use std::fmt;
use std::str::FromStr;

use http::header::{CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE, HOST, TRANSFER_ENCODING};
use http::{HeaderName, HeaderValue};
use percent_encoding::percent_decode_str;

/// Header fields for a collector, such as its key. Their values are never printed.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Headers(Vec<(HeaderName, HeaderValue)>);

impl Headers {
    /// The fields.
    pub fn fields(&self) -> &[(HeaderName, HeaderValue)] {
        &self.0
    }
}

impl fmt::Debug for Headers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = self.0.iter().map(|(name, _)| name);
        f.debug_list().entries(names).finish()
    }
}

impl FromStr for Headers {
    type Err = String;

    /// As `OTEL_EXPORTER_OTLP_HEADERS` is written. The text is not repeated: it is a secret also where it is a bad one.
    fn from_str(text: &str) -> Result<Self, String> {
        const OWN: [HeaderName; 5] = [
            CONTENT_ENCODING,
            CONTENT_LENGTH,
            CONTENT_TYPE,
            HOST,
            TRANSFER_ENCODING,
        ];
        let field = |(n, name, value): Pair<'_>| {
            let wrong = |problem: &str| {
                format!("header {n} {problem}; {SHAPE}, for example authorization=Bearer%20KEY")
            };
            let name: HeaderName = name
                .parse()
                .map_err(|_| wrong("has a name that HTTP does not allow"))?;
            if OWN.contains(&name) {
                return Err(wrong(&format!("is {name}, which dripline sets itself")));
            }
            let mut value = HeaderValue::from_bytes(&value)
                .map_err(|_| wrong("has a value that HTTP does not allow"))?;
            value.set_sensitive(true);
            Ok((name, value))
        };
        let pairs = pairs(text).map_err(|n| format!("header {n} has no =; {SHAPE}"))?;
        pairs
            .into_iter()
            .map(field)
            .collect::<Result<_, _>>()
            .map(Headers)
    }
}

/// Attributes of who sends, such as the pod; the names differ.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Attributes(pub Vec<(String, String)>);

impl FromStr for Attributes {
    type Err = String;

    /// As `OTEL_RESOURCE_ATTRIBUTES` is written.
    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = |n: usize, problem: &str| {
            format!(
                "attribute {n} {problem}; {SHAPE}, for example service.name=edge,k8s.pod.name=llm-0"
            )
        };
        let mut all: Vec<(String, String)> = Vec::new();
        for (n, name, value) in pairs(text).map_err(|n| wrong(n, "has no ="))? {
            let value = String::from_utf8(value).map_err(|_| wrong(n, "is not UTF-8"))?;
            if name.is_empty() || all.iter().any(|(other, _)| other == name) {
                return Err(wrong(n, "has no name of its own"));
            }
            all.push((name.to_owned(), value));
        }
        Ok(Attributes(all))
    }
}

const SHAPE: &str = "write NAME=VALUE, with commas between several and %20 for a space";

/// A pair: its number from 1, its name, its value decoded.
type Pair<'a> = (usize, &'a str, Vec<u8>);

/// Each pair; the number of one that is none.
fn pairs(text: &str) -> Result<Vec<Pair<'_>>, usize> {
    let numbered = (1..).zip(text.split(',').map(str::trim));
    let pair = |(n, pair): (usize, _)| {
        let (name, value) = str::split_once(pair, '=').ok_or(n)?;
        Ok((n, name.trim(), percent_decode_str(value.trim()).collect()))
    };
    let there = numbered.filter(|(_, pair)| !pair.is_empty());
    there.map(pair).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error<T: FromStr<Err = String> + fmt::Debug>(text: &str) -> String {
        text.parse::<T>().unwrap_err()
    }

    #[test]
    fn headers_are_as_opentelemetry_writes_them() {
        let headers: Headers = "authorization=Bearer%20sk-planted, X-Tenant = 7=8,"
            .parse()
            .unwrap();
        let fields: Vec<_> = headers
            .fields()
            .iter()
            .map(|(name, value)| (name.as_str(), value.to_str().unwrap()))
            .collect();
        assert_eq!(
            fields,
            [("authorization", "Bearer sk-planted"), ("x-tenant", "7=8")]
        );
        assert_eq!("".parse(), Ok(Headers::default()));
        assert_eq!(format!("{headers:?}"), r#"["authorization", "x-tenant"]"#);
    }

    #[test]
    fn a_bad_header_is_not_repeated() {
        for bad in [
            "sk-planted",
            "a b=sk-planted",
            "a=sk-planted%0A",
            "content-type=sk-planted",
        ] {
            let error = error::<Headers>(&format!("x=1,{bad}"));
            assert!(
                error.starts_with("header 2 ") && !error.contains("planted"),
                "{error}"
            );
        }
    }

    #[test]
    fn attributes_have_names_that_differ() {
        let Attributes(all) = "k8s.pod.name = llm-0,team=a%2Cb".parse().unwrap();
        let expected = [("k8s.pod.name", "llm-0"), ("team", "a,b")];
        assert_eq!(all, expected.map(|(a, b)| (a.to_owned(), b.to_owned())));
        for (bad, why) in [
            ("a=1,b", "attribute 2 has no ="),
            ("a=1,a=2", "attribute 2 has no name of its own"),
            ("=1", "attribute 1 has no name of its own"),
            ("a=%ff", "attribute 1 is not UTF-8"),
        ] {
            assert!(error::<Attributes>(bad).starts_with(why), "{bad}");
        }
    }
}
