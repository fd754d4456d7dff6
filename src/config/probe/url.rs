//! The URL of `dripline probe`: a base URL such as apps have, or the very endpoint.

use std::fmt;
use std::str::FromStr;

use clap::ValueEnum;

use crate::config::UpstreamUrl;

/// An API that a probe can speak.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ProbeApi {
    /// OpenAI chat completions
    Chat,
    /// OpenAI legacy completions
    Completions,
    /// OpenAI responses
    Responses,
    /// Anthropic messages
    Messages,
    /// Ollama's own chat
    Ollama,
    /// Ollama's own generate: only by its path
    #[value(skip)]
    OllamaGenerate,
}

/// What paths end with; the first that fits.
const ENDS: [(&str, ProbeApi); 6] = [
    ("/chat/completions", ProbeApi::Chat),
    ("/completions", ProbeApi::Completions),
    ("/responses", ProbeApi::Responses),
    ("/messages", ProbeApi::Messages),
    ("/api/chat", ProbeApi::Ollama),
    ("/api/generate", ProbeApi::OllamaGenerate),
];

impl ProbeApi {
    fn of_path(path: &str) -> Option<ProbeApi> {
        let (_, api) = ENDS.iter().find(|(end, _)| path.ends_with(end))?;
        Some(*api)
    }

    fn end(self) -> &'static str {
        let (end, _) = ENDS
            .iter()
            .find(|(_, api)| *api == self)
            .expect("the table has all");
        end
    }

    fn is_ollama(self) -> bool {
        matches!(self, ProbeApi::Ollama | ProbeApi::OllamaGenerate)
    }

    /// What it is called on the command line and in texts.
    pub fn name(self) -> &'static str {
        match self {
            ProbeApi::Chat => "chat",
            ProbeApi::Completions => "completions",
            ProbeApi::Responses => "responses",
            ProbeApi::Messages => "messages",
            ProbeApi::Ollama | ProbeApi::OllamaGenerate => "ollama",
        }
    }
}

/// Where a probe goes.
#[derive(Clone, PartialEq, Eq)]
pub struct ProbeUrl {
    /// The server; its prefix is the path as given, which may be the endpoint's.
    pub server: UpstreamUrl,
    /// May hold a key: sent, and never shown.
    query: Option<String>,
}

impl ProbeUrl {
    /// The API, and the path of its endpoint without the query.
    ///
    /// # Errors
    ///
    /// The URL is the endpoint of another API than the one asked for.
    pub fn endpoint(&self, asked: Option<ProbeApi>) -> Result<(ProbeApi, String), String> {
        let path = self.server.prefix.as_str();
        if let Some(api) = ProbeApi::of_path(path) {
            return match asked {
                Some(asked) if asked.name() != api.name() => Err(format!(
                    "the URL ends in {}, which is --api {}; leave one of the two out",
                    api.end(),
                    api.name()
                )),
                _ => Ok((api, path.to_owned())),
            };
        }
        let api = asked.unwrap_or(ProbeApi::Chat);
        let last = path.rsplit('/').next().unwrap_or_default();
        let digits = last.strip_prefix('v').unwrap_or_default();
        let is_versioned = digits.starts_with(|c: char| c.is_ascii_digit());
        let path = match (api.is_ollama(), is_versioned) {
            // Ollama's own API stands beside the /v1 that it shares with others.
            (true, true) => format!("{}{}", &path[..path.len() - last.len() - 1], api.end()),
            (true, false) | (false, true) => format!("{path}{}", api.end()),
            (false, false) => format!("{path}/v1{}", api.end()),
        };
        Ok((api, path))
    }

    /// The path with the query: what is sent.
    pub fn target(&self, path: &str) -> String {
        match &self.query {
            Some(query) => format!("{path}?{query}"),
            None => path.to_owned(),
        }
    }
}

/// Whether what is sent there can be read by nobody on the way: https, or this machine.
pub fn is_private(server: &UpstreamUrl) -> bool {
    let local = match server.host.parse::<std::net::IpAddr>() {
        Ok(ip) => ip.is_loopback(),
        Err(_) => server.host == "localhost" || server.host.ends_with(".localhost"),
    };
    server.tls || local
}

impl FromStr for ProbeUrl {
    type Err = String;

    /// Messages never repeat what may be a secret: user, password, query.
    fn from_str(text: &str) -> Result<Self, String> {
        let text = text.split('#').next().unwrap_or_default();
        let (base, query) = match text.split_once('?') {
            Some((base, query)) => (base, Some(query)),
            None => (text, None),
        };
        if base.contains('@') {
            return Err(
                "a user or password in the URL is not sent; use --header 'Authorization: …'"
                    .to_owned(),
            );
        }
        Ok(ProbeUrl {
            server: base.parse()?,
            query: query.filter(|query| !query.is_empty()).map(str::to_owned),
        })
    }
}

/// Without the query.
impl fmt::Display for ProbeUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.server.fmt(f)
    }
}

impl fmt::Debug for ProbeUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ProbeUrl({self})")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(url: &str, api: Option<ProbeApi>) -> String {
        let url: ProbeUrl = url.parse().unwrap();
        let (_, path) = url.endpoint(api).unwrap();
        url.target(&path)
    }

    #[test]
    fn a_base_url_becomes_the_endpoint_of_the_api() {
        use ProbeApi::{Chat, Completions, Messages, Ollama, Responses};
        for (url, api, endpoint) in [
            ("http://h", None, "/v1/chat/completions"),
            ("http://h/", Some(Chat), "/v1/chat/completions"),
            ("http://h/v1", None, "/v1/chat/completions"),
            ("http://h/v1/", Some(Completions), "/v1/completions"),
            (
                "http://h/openai/v1",
                Some(Responses),
                "/openai/v1/responses",
            ),
            (
                "http://h/anthropic",
                Some(Messages),
                "/anthropic/v1/messages",
            ),
            ("http://h/v1beta2", None, "/v1beta2/chat/completions"),
            ("http://h", Some(Ollama), "/api/chat"),
            ("http://h/v1", Some(Ollama), "/api/chat"),
            ("http://h/x/v1", Some(Ollama), "/x/api/chat"),
        ] {
            assert_eq!(path(url, api), endpoint, "{url}");
        }
    }

    #[test]
    fn an_endpoint_stays_and_says_its_api() {
        let azure = "https://h/openai/deployments/d/chat/completions?api-version=1#x";
        assert_eq!(
            path(azure, None),
            "/openai/deployments/d/chat/completions?api-version=1"
        );
        let of = |url: &str| url.parse::<ProbeUrl>().unwrap().endpoint(None).unwrap().0;
        assert_eq!(of("http://h/v1/messages"), ProbeApi::Messages);
        assert_eq!(of("http://h/api/generate"), ProbeApi::OllamaGenerate);
        let url: ProbeUrl = "http://h/v1/messages".parse().unwrap();
        let error = url.endpoint(Some(ProbeApi::Chat)).unwrap_err();
        assert!(
            error.contains("/messages, which is --api messages"),
            "{error}"
        );
        let url: ProbeUrl = "http://h/api/generate".parse().unwrap();
        assert!(url.endpoint(Some(ProbeApi::Ollama)).is_ok());
    }

    #[test]
    fn no_secret_is_shown() {
        let url: ProbeUrl = "https://h/v1?key=sk-planted".parse().unwrap();
        assert_eq!(
            format!("{url} {url:?}"),
            "https://h/v1 ProbeUrl(https://h/v1)"
        );
        let error = "http://me:sk-planted@h".parse::<ProbeUrl>().unwrap_err();
        assert!(
            !error.contains("planted") && error.contains("--header"),
            "{error}"
        );
    }

    #[test]
    fn keys_are_safe_over_tls_and_on_this_machine() {
        for (url, private) in [
            ("https://api.example.com", true),
            ("http://127.0.0.1:1", true),
            ("http://[::1]:1", true),
            ("http://localhost", true),
            ("http://10.0.0.7", false),
            ("http://localhost.example.com", false),
        ] {
            let url: ProbeUrl = url.parse().unwrap();
            assert_eq!(is_private(&url.server), private, "{url}");
        }
    }
}
