//! Why a run failed, in a sentence that says what to do.

use crate::observe::record::{End, ErrorKind, RequestRecord};
use crate::sink::console::text::{shown, word};

/// Columns that a server's own word may take.
const NAME: usize = 48;

/// What went wrong and what to try, or nothing where the answer came whole.
pub(super) fn failure(record: &RequestRecord) -> Option<String> {
    let server = record.upstream.name.as_deref().unwrap_or("the server");
    let spoken = Spoken::of(record);
    let error = record.error.as_ref();
    let kind = error.map(|error| error.kind);
    let named = error
        .and_then(|error| error.server_type.as_deref())
        .map_or(String::new(), |name| format!(" ({})", shown(name, NAME)));
    Some(match record.end {
        End::Complete => return None,
        End::UpstreamUnreachable => unreachable(server, kind, spoken),
        End::HttpError => {
            let status = record.response.status.unwrap_or_default();
            format!(
                "{server} answered with status {status}{named}; {}",
                try_for(status)
            )
        }
        End::InBandError => format!(
            "{server} sent an error{named} in an answer of status 200; its own log says more"
        ),
        End::NotAStream => format!(
            "{server} answered in one piece though a stream was asked for; look for a hop or a setting that takes streaming away"
        ),
        End::EmptyStream => {
            format!("{server} sent a stream without an event; its own log says more")
        }
        End::EndedWithoutDone => format!(
            "the stream of {server} ended without an end marker or a finish reason; see whether the server stopped early"
        ),
        End::Truncated | End::UpstreamReset
            if spoken == Spoken::Http2InClear && record.response.status.is_none() =>
        {
            format!(
                "{server} closed the connection without an answer; if it does not speak HTTP/2 in the clear, leave out --http 2"
            )
        }
        End::Truncated | End::UpstreamReset => {
            format!("{server} cut the answer off; look for a limit of time or size on the way")
        }
        End::UpstreamTimeout => {
            format!("{server} had not finished in time; --timeout gives it more")
        }
        End::UpstreamInvalid => format!("what {server} sends is {}", spoken.is_not_this()),
        end => format!("the run ended as {}", word(&end)),
    })
}

/// What the server was spoken to in.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Spoken {
    Http1,
    /// Without having been asked whether it speaks it.
    Http2InClear,
    /// After it agreed to, in the TLS handshake.
    Http2Agreed,
}

impl Spoken {
    fn of(record: &RequestRecord) -> Spoken {
        match (record.request.http.as_deref(), record.upstream.tls) {
            (Some("2"), Some(true)) => Spoken::Http2Agreed,
            (Some("2"), _) => Spoken::Http2InClear,
            _ => Spoken::Http1,
        }
    }

    fn is_not_this(self) -> &'static str {
        match self {
            Spoken::Http1 => {
                "no HTTP/1.1; is it the right port, and http or https as it should be?"
            }
            Spoken::Http2InClear => {
                "no HTTP/2; if it does not speak that in the clear, leave out --http 2"
            }
            Spoken::Http2Agreed => {
                "no HTTP/2, though it agreed on that in the TLS handshake (ALPN); leave out --http 2"
            }
        }
    }
}

fn unreachable(server: &str, kind: Option<ErrorKind>, spoken: Spoken) -> String {
    let why = match kind {
        Some(ErrorKind::Dns) => "has a name that could not be resolved; see how it is spelt",
        Some(ErrorKind::ConnectRefused) => {
            "refused the connection: nothing listens there; start the server, or name its port in the URL"
        }
        Some(ErrorKind::NoRoute) => {
            "cannot be reached: no route; see whether this machine's network is up"
        }
        Some(ErrorKind::ConnectTimeout) => {
            "did not accept a connection in time; look for a firewall on the way"
        }
        Some(ErrorKind::Tls) if spoken == Spoken::Http1 => {
            "failed the TLS handshake: it speaks no TLS (write http://), its certificate is not trusted (see --ca), or it does not speak HTTP/1.1 (see --http)"
        }
        Some(ErrorKind::Tls) => {
            "failed the TLS handshake: it speaks no TLS (write http://), its certificate is not trusted (see --ca), or it does not agree on HTTP/2 (ALPN; leave out --http 2)"
        }
        _ => "could not be connected to; see whether it is up",
    };
    format!("{server} {why}")
}

fn try_for(status: u16) -> &'static str {
    match status {
        401 | 403 => "set API_TOKEN to a key that it takes, or give one with --header",
        404 => {
            "name a model that it has with --model, or write the endpoint's whole path in the URL"
        }
        400 | 422 => "name a model that it has with --model, or another API with --api",
        413 => "the prompt is too long for it",
        429 => "it is asked too often: lower --concurrency or --rate",
        500.. => "its own log, or that of the hop before it, says more",
        _ => "see whether the URL is the right one",
    }
}

#[cfg(test)]
mod tests {
    use super::super::run::sample;
    use super::*;
    use crate::observe::record::ErrorInfo;

    #[test]
    fn a_whole_answer_is_no_failure_and_every_other_end_has_its_sentence() {
        let mut record = sample(Some(1), 80.0).record;
        assert_eq!(failure(&record), None);
        for end in [
            End::Refused,
            End::UpstreamTimeout,
            End::UpstreamInvalid,
            End::InBandError,
            End::UpstreamReset,
            End::Truncated,
            End::NotAStream,
            End::EmptyStream,
            End::EndedWithoutDone,
        ] {
            record.end = end;
            assert!(failure(&record).is_some_and(|told| told.len() > 20));
        }
    }

    #[test]
    fn over_http_2_it_is_http_2_that_may_not_be_spoken() {
        let told = |http: &str, tls: bool, end: End, status: Option<u16>| {
            let mut record = sample(Some(1), 80.0).record;
            record.end = end;
            record.response.status = status;
            record.request.http = Some(http.to_owned());
            record.upstream.tls = Some(tls);
            record.error = Some(ErrorInfo {
                kind: ErrorKind::Tls,
                server_type: None,
            });
            failure(&record).unwrap()
        };
        let invalid = |http, tls| told(http, tls, End::UpstreamInvalid, None);
        assert!(invalid("1.1", false).contains("no HTTP/1.1"));
        assert!(invalid("2", false).contains("in the clear, leave out --http 2"));
        assert!(invalid("2", true).contains("ALPN"));
        let handshake = |http| told(http, true, End::UpstreamUnreachable, None);
        assert!(handshake("2").contains("leave out --http 2"));
        assert!(handshake("1.1").contains("HTTP/1.1 (see --http)"));
        let cut = |http, status| told(http, false, End::Truncated, status);
        assert!(cut("2", None).contains("leave out --http 2"));
        assert!(cut("2", Some(200)).contains("cut the answer off"));
        assert!(cut("1.1", None).contains("cut the answer off"));
    }

    #[test]
    fn what_the_server_calls_its_error_cannot_steer_the_terminal() {
        let mut record = sample(Some(1), 80.0).record;
        record.end = End::HttpError;
        record.response.status = Some(401);
        record.error = Some(ErrorInfo {
            kind: ErrorKind::HttpError,
            server_type: Some("bad\u{1b}[2J".to_owned()),
        });
        let told = failure(&record).unwrap();
        assert!(
            told.contains("status 401 (bad") && told.contains("API_TOKEN"),
            "{told}"
        );
        assert!(!told.contains('\u{1b}'));
    }

    #[test]
    fn no_connection_says_why_and_what_to_do() {
        let mut record = sample(Some(1), 80.0).record;
        record.end = End::UpstreamUnreachable;
        for (kind, words) in [
            (ErrorKind::Dns, "could not be resolved"),
            (
                ErrorKind::ConnectRefused,
                "nothing listens there; start the server",
            ),
            (ErrorKind::Tls, "--ca"),
            (ErrorKind::NoRoute, "no route"),
        ] {
            record.error = Some(ErrorInfo {
                kind,
                server_type: None,
            });
            let told = failure(&record).unwrap();
            assert!(
                told.starts_with("127.0.0.1:8000 ") && told.contains(words),
                "{told}"
            );
        }
    }
}
