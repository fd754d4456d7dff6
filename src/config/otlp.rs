//! Where records, spans and metrics go by OTLP.

mod pairs;

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use super::upstream::{self, UpstreamUrl};
use super::values::Span;

pub use pairs::{Attributes, Headers};

/// What a collector is sent, and how.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Otlp {
    /// Its base URL, before `/v1/logs` and the like.
    pub url: UpstreamUrl,
    /// What it asks for besides.
    pub headers: Headers,
    /// Who sends, besides what dripline knows of itself.
    pub resource: Attributes,
    /// What it is sent.
    pub signals: Signals,
    /// How often.
    pub interval: Duration,
}

const SHAPE: &str = "write it like http://127.0.0.1:4318 or https://otlp.example.com";

/// A collector's base URL, or `off`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Collector(pub Option<UpstreamUrl>);

impl FromStr for Collector {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text == "off" {
            return Ok(Collector(None));
        }
        // What may hold a secret is not repeated.
        if text.contains(['?', '#', '@']) {
            return Err(format!(
                "a collector's URL has no user, password, query or fragment; a key goes into --otlp-headers; {SHAPE}"
            ));
        }
        let url: UpstreamUrl = text
            .parse()
            .map_err(|problem: String| problem.replace(upstream::SHAPE, SHAPE))?;
        for path in ["/v1/logs", "/v1/traces", "/v1/metrics"] {
            if let Some(base) = url.prefix.strip_suffix(path) {
                return Err(format!(
                    "'{text}' is the URL of one signal; write what stands before {path}, for example http://{}{base}",
                    url.authority
                ));
            }
        }
        Ok(Collector(Some(url)))
    }
}

/// Which signals are sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Signals {
    /// A log record for each request.
    pub logs: bool,
    /// A span for each request.
    pub traces: bool,
    /// The metrics.
    pub metrics: bool,
}

impl FromStr for Signals {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let mut signals = Signals {
            logs: false,
            traces: false,
            metrics: false,
        };
        for word in text.split(',').map(str::trim) {
            match word {
                "logs" => signals.logs = true,
                "traces" => signals.traces = true,
                "metrics" => signals.metrics = true,
                _ => {
                    return Err(format!(
                        "'{word}' is no signal; write one or more of logs,traces,metrics"
                    ));
                }
            }
        }
        Ok(signals)
    }
}

impl fmt::Display for Signals {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let all = [
            (self.logs, "logs"),
            (self.traces, "traces"),
            (self.metrics, "metrics"),
        ];
        let wanted = all.iter().filter(|(is_wanted, _)| *is_wanted);
        let words: Vec<&str> = wanted.map(|(_, word)| *word).collect();
        f.write_str(&words.join(", "))
    }
}

/// How often something is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Interval(pub Duration);

impl FromStr for Interval {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        const LEAST: Duration = Duration::from_millis(100);
        match text.parse()? {
            Span(interval) if interval >= LEAST => Ok(Interval(interval)),
            _ => Err(format!(
                "'{text}' is less than 100ms; write for example 10s"
            )),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error<T: FromStr<Err = String> + fmt::Debug>(text: &str) -> String {
        text.parse::<T>().unwrap_err()
    }

    #[test]
    fn a_collector_is_a_base_url_or_off() {
        assert_eq!("off".parse(), Ok(Collector(None)));
        for text in ["http://127.0.0.1:4318", "https://otlp.example.com/tenant"] {
            let Collector(url) = text.parse().unwrap();
            assert_eq!(url.unwrap().to_string(), text);
        }
        assert!(error::<Collector>("127.0.0.1:4318").ends_with("or https://127.0.0.1:4318"));
        assert!(error::<Collector>("ftp://h").ends_with(SHAPE));
        let one = error::<Collector>("http://h:4318/a/v1/logs");
        assert!(one.ends_with("http://h:4318/a"), "{one}");
        for secret in ["http://me:planted@h", "http://h?key=planted"] {
            let error = error::<Collector>(secret);
            assert!(
                error.contains("--otlp-headers") && !error.contains("planted"),
                "{error}"
            );
        }
    }

    #[test]
    fn signals_are_words() {
        let some: Signals = "logs, metrics".parse().unwrap();
        assert_eq!((some.logs, some.traces, some.metrics), (true, false, true));
        assert_eq!(some.to_string(), "logs, metrics");
        assert!(error::<Signals>("spans").contains("logs,traces,metrics"));
        assert!(error::<Signals>("").contains("'' is no signal"));
    }

    #[test]
    fn an_interval_is_long_enough_to_be_one() {
        assert_eq!("100ms".parse(), Ok(Interval(Duration::from_millis(100))));
        assert!(error::<Interval>("0s").contains("write for example 10s"));
    }
}
