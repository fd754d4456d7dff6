//! Values of settings that a person types: an address, a time, a limit, where the log goes, which
//! requests to keep.
//!
//! Each is read by `FromStr`, whichever layer it comes from (flag, environment, file), so that the
//! same text means the same everywhere and a mistake gets the same sentence: what is wrong, then
//! what to write instead.

use std::fmt;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use serde::de::{Deserializer, Error, Visitor};

/// An address to listen on, such as `127.0.0.1:8080`; port 0 takes a free one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ListenAddr(pub SocketAddr);

impl FromStr for ListenAddr {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let port = text.rsplit(':').next().unwrap_or_default();
        let fixed = match port.parse::<u16>() {
            Ok(port) => {
                format!("127.0.0.1:{port} (this machine only) or 0.0.0.0:{port} (every interface)")
            }
            Err(_) => "127.0.0.1:8080".to_owned(),
        };
        text.parse().map(ListenAddr).map_err(|_| {
            format!("'{text}' is not an IP address with a port; write for example {fixed}")
        })
    }
}

/// A length of time in words that people use: `30s`, `500ms`, `1m 30s`, `2 hours`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Span(pub Duration);

impl FromStr for Span {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = |why: &str| {
            format!("'{text}' is not a duration{why}; write for example 30s, 500ms or 1m30s")
        };
        if text.trim().parse::<f64>().is_ok() {
            return Err(format!(
                "'{text}' has no unit; write {0}s for seconds or {0}ms for milliseconds",
                text.trim()
            ));
        }
        let span: jiff::SignedDuration = text.parse().map_err(|_| wrong(""))?;
        span.try_into()
            .map(Span)
            .map_err(|_| wrong(" (it is negative)"))
    }
}

/// A time limit, or `off` for none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limit(pub Option<Duration>);

impl FromStr for Limit {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "off" => Ok(Limit(None)),
            _ => match text.parse()? {
                Span(Duration::ZERO) => Err(format!(
                    "'{text}' would end every request at once; write off for no limit"
                )),
                Span(limit) => Ok(Limit(Some(limit))),
            },
        }
    }
}

/// Where records go as JSON Lines.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LogTarget {
    /// Appended to this file, which is made if it is not there.
    File(PathBuf),
    /// Standard output (`-`).
    Stdout,
    /// Nowhere.
    Off,
}

impl FromStr for LogTarget {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "" => Err(
                "the name is empty; write a file name, - for standard output, or off".to_owned(),
            ),
            "-" => Ok(LogTarget::Stdout),
            "off" => Ok(LogTarget::Off),
            file => Ok(LogTarget::File(file.into())),
        }
    }
}

/// A word out of a short list: the type, what it is called in a message, and its variants with
/// their words.
macro_rules! words {
    ($(#[$doc:meta])* $name:ident, $what:literal { $($(#[$variant_doc:meta])* $variant:ident = $word:literal,)+ }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum $name { $($(#[$variant_doc])* $variant,)+ }

        impl FromStr for $name {
            type Err = String;

            fn from_str(text: &str) -> Result<Self, String> {
                match text {
                    $($word => Ok($name::$variant),)+
                    _ => Err(format!("'{text}' is not {}; write {}", $what, [$($word),+].join(" or "))),
                }
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(match self { $($name::$variant => $word,)+ })
            }
        }
    };
}

words! {
    /// Which requests leave a record.
    Recorded, "a choice of requests" {
        /// Generations and event streams.
        Generations = "generations",
        /// Every request, health polls and model lists too.
        All = "all",
    }
}

words! {
    /// The least severe diagnostics that are still printed to standard error.
    LogLevel, "a log level" {
        /// Only what stops something from working.
        Error = "error",
        /// And what may need a hand.
        Warn = "warn",
        /// And what happens, in few lines.
        Info = "info",
        /// And why.
        Debug = "debug",
        /// And everything else.
        Trace = "trace",
    }
}

/// Reads a TOML value of whatever type as the text it is written with, so that `listen = 8080` and
/// `drain = 30` are told what is missing by the setting itself rather than "invalid type: integer".
pub(super) fn text<'de, D, T>(deserializer: D) -> Result<Option<T>, D::Error>
where
    D: Deserializer<'de>,
    T: FromStr,
    T::Err: fmt::Display,
{
    struct Text;

    impl Visitor<'_> for Text {
        type Value = String;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("text in quotes")
        }
        fn visit_str<E: Error>(self, text: &str) -> Result<String, E> {
            Ok(text.to_owned())
        }
        fn visit_i64<E: Error>(self, number: i64) -> Result<String, E> {
            Ok(number.to_string())
        }
        fn visit_f64<E: Error>(self, number: f64) -> Result<String, E> {
            Ok(number.to_string())
        }
    }

    let text = deserializer.deserialize_any(Text)?;
    text.parse().map(Some).map_err(D::Error::custom)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error<T: FromStr<Err = String> + fmt::Debug>(text: &str) -> String {
        text.parse::<T>().unwrap_err()
    }

    #[test]
    fn durations_read_as_people_write_them() {
        for (text, millis) in [
            ("30s", 30_000),
            ("500ms", 500),
            ("1m30s", 90_000),
            ("1m 30s", 90_000),
            ("2 hours", 7_200_000),
            ("0s", 0),
        ] {
            assert_eq!(
                text.parse(),
                Ok(Span(Duration::from_millis(millis))),
                "{text}"
            );
        }
        assert_eq!(
            error::<Span>("30"),
            "'30' has no unit; write 30s for seconds or 30ms for milliseconds"
        );
        assert_eq!(
            error::<Span>("soon"),
            "'soon' is not a duration; write for example 30s, 500ms or 1m30s"
        );
        assert!(error::<Span>("-5s").contains("negative"));
    }

    #[test]
    fn a_limit_is_a_time_or_off_and_never_zero() {
        assert_eq!("off".parse(), Ok(Limit(None)));
        assert_eq!("90s".parse(), Ok(Limit(Some(Duration::from_secs(90)))));
        assert!(error::<Limit>("0s").contains("write off"));
    }

    #[test]
    fn a_listen_address_needs_both_parts_and_is_told_which_are_likely() {
        assert_eq!(
            "[::1]:0".parse(),
            Ok(ListenAddr("[::1]:0".parse().unwrap()))
        );
        for text in ["8080", ":8080", "localhost:8080"] {
            assert!(
                error::<ListenAddr>(text)
                    .contains("127.0.0.1:8080 (this machine only) or 0.0.0.0:8080"),
                "{text}"
            );
        }
        assert!(
            error::<ListenAddr>("127.0.0.1:99999").contains("write for example 127.0.0.1:8080")
        );
    }

    #[test]
    fn words_of_a_list_are_named_when_none_fits() {
        assert_eq!("all".parse(), Ok(Recorded::All));
        assert_eq!(
            error::<Recorded>("some"),
            "'some' is not a choice of requests; write generations or all"
        );
        assert_eq!(LogLevel::Debug.to_string().parse(), Ok(LogLevel::Debug));
    }
}
