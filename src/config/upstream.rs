//! The upstream's URL, taken apart once into what the relay needs for a connection and a request
//! line.

use std::fmt;
use std::str::FromStr;

use http::Uri;

/// Where requests go: `http(s)://host[:port][/prefix]`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UpstreamUrl {
    /// Whether the connection is TLS (`https`).
    pub tls: bool,
    /// Name or address to connect to and to name in SNI; an IPv6 address without its brackets.
    pub host: String,
    /// Port to connect to: the URL's, else 80 or 443.
    pub port: u16,
    /// The `Host` header: host, with brackets where IPv6, and port unless it is the scheme's own.
    pub authority: String,
    /// Path put before each request's path, without a slash at its end: `""` or `/prefix`.
    pub prefix: String,
}

/// What a URL is like, at the end of a message.
pub(super) const SHAPE: &str = "write it like http://127.0.0.1:8000 or https://api.example.com";

impl FromStr for UpstreamUrl {
    type Err = String;

    /// Messages repeat the URL only where it can hold no secret (neither user info nor a query).
    fn from_str(text: &str) -> Result<Self, String> {
        if text.contains(['?', '#']) {
            return Err(format!(
                "an upstream has no query or fragment, they come with each request; {SHAPE}"
            ));
        }
        if text.contains('@') {
            return Err(format!(
                "an upstream has no user or password, the app sends its own key with each request; {SHAPE}"
            ));
        }
        if text.trim() != text || text.is_empty() {
            return Err(format!(
                "'{text}' is empty or has spaces around it; {SHAPE}"
            ));
        }
        let Some((scheme, rest)) = text.split_once("://") else {
            return Err(format!(
                "'{text}' has no scheme; write http://{text} or https://{text}"
            ));
        };
        let tls = match scheme.to_ascii_lowercase().as_str() {
            "http" => false,
            "https" => true,
            _ => return Err(format!("'{text}' is neither http:// nor https://; {SHAPE}")),
        };
        let uri: Uri = text
            .parse()
            .map_err(|_| format!("'{text}' is not a URL; {SHAPE}"))?;
        let authority = uri
            .authority()
            .ok_or_else(|| format!("'{text}' names no host; {SHAPE}"))?;
        let named = authority.host().to_ascii_lowercase();
        let host = named
            .trim_start_matches('[')
            .trim_end_matches(']')
            .to_owned();
        let standard = if tls { 443 } else { 80 };
        // `http::Uri` takes `host:` and `host:99999` and then only says that there is no port.
        let port = match authority.as_str().strip_prefix(authority.host()) {
            Some("") => standard,
            Some(port) => match port.trim_start_matches(':').parse() {
                Ok(port) if port > 0 => port,
                _ => {
                    return Err(format!(
                        "'{rest}' has no port between 1 and 65535 after its colon; {SHAPE}"
                    ));
                }
            },
            None => return Err(format!("'{text}' is not a URL; {SHAPE}")),
        };
        if host.is_empty() {
            return Err(format!("'{text}' names no host; {SHAPE}"));
        }
        Ok(UpstreamUrl {
            tls,
            authority: if port == standard {
                named
            } else {
                format!("{named}:{port}")
            },
            host,
            port,
            prefix: uri.path().trim_end_matches('/').to_owned(),
        })
    }
}

impl fmt::Display for UpstreamUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let scheme = if self.tls { "https" } else { "http" };
        write!(f, "{scheme}://{}{}", self.authority, self.prefix)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(text: &str) -> (bool, String, u16, String, String) {
        let url: UpstreamUrl = text.parse().unwrap();
        (url.tls, url.host, url.port, url.authority, url.prefix)
    }

    fn error(text: &str) -> String {
        text.parse::<UpstreamUrl>().unwrap_err()
    }

    #[test]
    fn taken_apart() {
        let own = |tls, host: &str, port, authority: &str, prefix: &str| {
            (tls, host.into(), port, authority.into(), prefix.into())
        };
        assert_eq!(
            parts("http://127.0.0.1:8000"),
            own(false, "127.0.0.1", 8000, "127.0.0.1:8000", "")
        );
        assert_eq!(
            parts("https://API.example.com/openai/"),
            own(true, "api.example.com", 443, "api.example.com", "/openai")
        );
        assert_eq!(parts("HTTPS://h:443"), own(true, "h", 443, "h", ""));
        assert_eq!(
            parts("http://h:443/a/b"),
            own(false, "h", 443, "h:443", "/a/b")
        );
        assert_eq!(
            parts("http://[::1]:8000/"),
            own(false, "::1", 8000, "[::1]:8000", "")
        );
        assert_eq!(parts("http://[::1]"), own(false, "::1", 80, "[::1]", ""));
    }

    #[test]
    fn shown_as_it_can_be_typed_again() {
        for text in [
            "http://127.0.0.1:8000",
            "https://h/openai",
            "http://[::1]:8000",
        ] {
            assert_eq!(text.parse::<UpstreamUrl>().unwrap().to_string(), text);
        }
    }

    #[test]
    fn mistakes_are_told_with_what_to_write() {
        assert!(
            error("127.0.0.1:8000")
                .ends_with("write http://127.0.0.1:8000 or https://127.0.0.1:8000")
        );
        assert!(error("localhost:8000").contains("no scheme"));
        assert!(error("ftp://h").contains("neither http:// nor https://"));
        for text in [
            "http://",
            "http:///v1",
            "http://:80",
            "http://a b",
            "http://h:0",
            "http://h:99999",
            "http://h:",
            "",
            " http://h",
        ] {
            assert!(
                error(text).contains("http://127.0.0.1:8000"),
                "{text}: {}",
                error(text)
            );
        }
    }

    #[test]
    fn a_secret_in_the_url_is_never_repeated() {
        for text in [
            "https://me:sk-planted@h",
            "https://h/v1?key=sk-planted",
            "https://h/#sk-planted",
            "sk-planted@h",
        ] {
            assert!(!error(text).contains("sk-planted"), "{}", error(text));
        }
    }
}
