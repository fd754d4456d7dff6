//! What OpenTelemetry's conventions for generative AI call the parts of a record.
//!
//! Source: the page `gen-ai-metrics` of OpenTelemetry's semantic conventions, which are marked as in
//! development: dripline follows the names of version 1.41. It sees what a client sees, so it has the
//! metrics of clients. Their "chunk" is an event that carries output, as reasoning and tool calls do.

use crate::observe::dialect::Api;
use crate::observe::record::{End, ErrorKind, RequestRecord, Upstream};
use crate::sink::console::text::word;

/// A call of a generative AI.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Operation {
    /// `gen_ai.operation.name`.
    pub name: &'static str,
    /// `gen_ai.provider.name`: whose API it is, whoever serves it.
    pub provider: &'static str,
    /// `server.address`, that of the upstream.
    pub address: String,
    /// `server.port`.
    pub port: String,
    /// `error.type`; empty where nothing failed.
    pub error: String,
}

impl Operation {
    /// What a record says of it; `None` where the path is that of no API known here.
    pub fn of(record: &RequestRecord) -> Option<Operation> {
        let path = record.request.path.as_deref()?;
        if record.request.method.as_deref() != Some("POST") {
            return None; // asks for answers that are kept, or deletes them
        }
        let (name, provider) = called(path)?;
        let (address, port) = server(&record.upstream);
        Some(Operation {
            name,
            provider,
            address: address.to_owned(),
            port: port.to_owned(),
            error: error(record),
        })
    }
}

/// The names of the operation and of the provider whose API it is.
fn called(path: &str) -> Option<(&'static str, &'static str)> {
    let ends = |with: &str| path.trim_end_matches('/').ends_with(with);
    Some(match Api::of_path(path) {
        Some(Api::Chat | Api::Responses) => ("chat", "openai"),
        Some(Api::Completions) => ("text_completion", "openai"),
        Some(Api::Messages) => ("chat", "anthropic"),
        Some(Api::OllamaChat) => ("chat", "ollama"),
        Some(Api::OllamaGenerate) => ("text_completion", "ollama"),
        Some(Api::Gemini) => ("generate_content", "gcp.gemini"),
        Some(_) => return None,
        None if ends("/api/embed") || ends("/api/embeddings") => ("embeddings", "ollama"),
        None if ends("/embeddings") => ("embeddings", "openai"),
        None if ends(":embedContent") || ends(":batchEmbedContents") => {
            ("embeddings", "gcp.gemini")
        }
        None => return None,
    })
}

/// Address and port of the upstream; the port that its scheme implies where the name has none.
pub fn server(upstream: &Upstream) -> (&str, &str) {
    let name = upstream.name.as_deref().unwrap_or_default();
    let is_port = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let (address, port) = match name.rsplit_once(':') {
        Some((address, port)) if is_port(port) => (address, port),
        _ => (
            name,
            upstream
                .tls
                .map_or("", |tls| if tls { "443" } else { "80" }),
        ),
    };
    (address.trim_matches(['[', ']']), port)
}

/// The status where that is what failed, else the record's word for it. Also who ended the operation before
/// its time is told here: its duration is none of a whole one.
pub fn error(record: &RequestRecord) -> String {
    match (&record.error, record.end, record.response.status) {
        (Some(error), _, Some(status @ 400..=599)) if error.kind == ErrorKind::HttpError => {
            status.to_string()
        }
        (Some(error), ..) => word(&error.kind),
        (None, end @ (End::ClientGone | End::ProxyStopped), _) => word(&end),
        (None, ..) => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::observe::record::{ErrorInfo, Request, Response};
    use crate::sink::sample::sample;

    fn posted(path: &str) -> RequestRecord {
        RequestRecord {
            request: Request {
                method: Some("POST".into()),
                path: Some(path.into()),
                ..Request::default()
            },
            ..sample()
        }
    }

    #[test]
    fn an_operation_has_the_name_of_its_api() {
        for (path, expected) in [
            ("/v1/chat/completions", Some(("chat", "openai"))),
            (
                "/openai/v1/completions/",
                Some(("text_completion", "openai")),
            ),
            ("/v1/responses", Some(("chat", "openai"))),
            ("/v1/messages", Some(("chat", "anthropic"))),
            ("/api/chat", Some(("chat", "ollama"))),
            ("/api/generate", Some(("text_completion", "ollama"))),
            (
                "/v1beta/models/m:streamGenerateContent",
                Some(("generate_content", "gcp.gemini")),
            ),
            ("/v1/embeddings", Some(("embeddings", "openai"))),
            ("/api/embeddings", Some(("embeddings", "ollama"))),
            (
                "/v1beta/models/m:embedContent",
                Some(("embeddings", "gcp.gemini")),
            ),
            ("/v1/models", None),
            ("/health", None),
        ] {
            let operation = Operation::of(&posted(path));
            let names = operation.map(|operation| (operation.name, operation.provider));
            assert_eq!(names, expected, "{path}");
        }
        let mut listed = posted("/v1/chat/completions");
        listed.request.method = Some("GET".into());
        assert_eq!(Operation::of(&listed), None);
    }

    #[test]
    fn the_server_is_the_one_behind_the_proxy() {
        for (name, tls, address, port) in [
            (Some("vllm.internal:8000"), None, "vllm.internal", "8000"),
            (Some("[::1]:8000"), Some(false), "::1", "8000"),
            (Some("[::1]"), Some(false), "::1", "80"),
            (Some("api.openai.com"), Some(true), "api.openai.com", "443"),
            (Some("api.openai.com"), None, "api.openai.com", ""),
            (None, None, "", ""),
        ] {
            let record = RequestRecord {
                upstream: Upstream {
                    name: name.map(str::to_owned),
                    tls,
                    ..Upstream::default()
                },
                ..posted("/v1/chat/completions")
            };
            let operation = Operation::of(&record).unwrap();
            assert_eq!(
                (operation.address.as_str(), operation.port.as_str()),
                (address, port)
            );
        }
    }

    #[test]
    fn what_failed_has_a_type_of_few() {
        let failed = |kind: Option<ErrorKind>, end, status| {
            error(&RequestRecord {
                error: kind.map(|kind| ErrorInfo {
                    kind,
                    server_type: Some("whatever the server says".into()),
                }),
                end,
                response: Response {
                    status,
                    ..Response::default()
                },
                ..sample()
            })
        };
        for (kind, end, status, expected) in [
            (None, End::Complete, Some(200), ""),
            (Some(ErrorKind::HttpError), End::HttpError, Some(429), "429"),
            (
                Some(ErrorKind::HttpError),
                End::HttpError,
                Some(999),
                "http_error",
            ),
            (
                Some(ErrorKind::ConnectRefused),
                End::UpstreamUnreachable,
                Some(502),
                "connect_refused",
            ),
            (
                Some(ErrorKind::InBandError),
                End::InBandError,
                Some(200),
                "in_band_error",
            ),
            (
                Some(ErrorKind::Truncated),
                End::Truncated,
                Some(200),
                "truncated",
            ),
            (None, End::ClientGone, Some(200), "client_gone"),
            (None, End::ProxyStopped, None, "proxy_stopped"),
            (None, End::NotAStream, Some(200), ""),
        ] {
            assert_eq!(failed(kind, end, status), expected, "{end:?}");
        }
    }
}
