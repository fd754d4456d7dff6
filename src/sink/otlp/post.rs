//! One request to the collector, and what its answer means.

use std::fmt;
use std::io::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::Duration;

use flate2::Compression;
use flate2::write::GzEncoder;
use http::header::{CONTENT_ENCODING, CONTENT_TYPE, DATE, RETRY_AFTER};
use http::{HeaderMap, HeaderName, HeaderValue};
use jiff::fmt::rfc2822;
use opentelemetry_proto::tonic::collector::logs::v1::ExportLogsServiceResponse;
use prost::Message;
use ureq::Agent;
use ureq::tls::{Certificate, RootCerts, TlsConfig};

use super::Signal;
use crate::sink::console::text::shown;

/// How long one request may take, as OpenTelemetry's exporters have it.
const TIMEOUT: Duration = Duration::from_secs(10);

/// The longest pause that a collector gets if it asks for one.
const MOST_PAUSE: Duration = Duration::from_secs(300);

/// An answer is a few bytes; no more than this is read of one.
const MOST_ANSWER: u64 = 64 << 10;

/// Columns of what a collector says.
const SAID: usize = 200;

/// What became of a message.
#[derive(Debug, PartialEq, Eq)]
pub enum Answer {
    /// It was taken, but for so many of its items.
    Taken {
        /// Items that the collector did not take.
        rejected: u64,
    },
    /// It may be taken later, at the earliest after what the collector asks for.
    Again {
        /// `Retry-After`.
        after: Option<Duration>,
    },
    /// It is never taken.
    Refused,
}

/// The way to one collector.
pub struct Client {
    agent: Agent,
    base: String,
    headers: Vec<(HeaderName, HeaderValue)>,
    /// The last message did not get there.
    fails: AtomicBool,
}

impl Client {
    /// To the collector at `base`, with these `headers`. Nothing is sent yet.
    pub fn new(base: impl Into<String>, headers: &[(HeaderName, HeaderValue)]) -> Self {
        let base = base.into();
        let mut config = Agent::config_builder()
            .timeout_global(Some(TIMEOUT))
            .http_status_as_error(false)
            .max_redirects(0)
            .max_redirects_will_error(false)
            .user_agent(concat!("dripline/", env!("CARGO_PKG_VERSION")))
            // As the relay: straight to where it was told.
            .proxy(None);
        if base.starts_with("https:") {
            config = config.tls_config(tls());
        }
        Client {
            agent: config.build().into(),
            base,
            headers: headers.to_vec(),
            fails: AtomicBool::new(false),
        }
    }

    /// Where a signal goes.
    pub fn url(&self, signal: Signal) -> String {
        format!("{}{}", self.base, signal.path())
    }

    /// Sends a message and waits for the answer, 10 s at most. Failures are told when they begin and when they are over.
    pub(super) fn post(&self, signal: Signal, message: &[u8]) -> Answer {
        let url = self.url(signal);
        let mut request = self
            .agent
            .post(&url)
            .header(CONTENT_TYPE, "application/x-protobuf")
            .header(CONTENT_ENCODING, "gzip");
        for (name, value) in &self.headers {
            request = request.header(name, value);
        }
        let (answer, problem) = match request.send(&gzip(message)) {
            Ok(mut response) => {
                let status = response.status().as_u16();
                let headers = response.headers().clone();
                let body = response.body_mut().with_config().limit(MOST_ANSWER);
                understood(status, headers, body.read_to_vec())
            }
            Err(error) => (Answer::Again { after: None }, Some(error.to_string())),
        };
        self.tell(&url, problem);
        answer
    }

    fn tell(&self, url: &str, problem: Option<String>) {
        let failed = self.fails.swap(problem.is_some(), Relaxed);
        match problem {
            Some(problem) if !failed => {
                let grpc = match self.base.ends_with(":4317") {
                    true => {
                        "; port 4317 is most often OTLP over gRPC, what is wanted is HTTP, most often 4318"
                    }
                    false => "",
                };
                tracing::warn!(
                    "{url} does not take what it is sent ({}){grpc}; requests are not affected",
                    shown(&problem, SAID)
                );
            }
            None if failed => tracing::info!("{url} takes again what it is sent"),
            _ => {}
        }
    }
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Client").field(&self.base).finish()
    }
}

/// What an answer means, and what is wrong with it.
fn understood(
    status: u16,
    headers: HeaderMap,
    body: Result<Vec<u8>, ureq::Error>,
) -> (Answer, Option<String>) {
    match status {
        200..=299 => {
            // An answer that cannot be read is still a good one. All signals have the same shape of it.
            let answer = body.ok().and_then(|body| {
                let answer = ExportLogsServiceResponse::decode(body.as_slice());
                answer.ok()?.partial_success
            });
            let answer = answer.unwrap_or_default();
            let rejected = u64::try_from(answer.rejected_log_records).unwrap_or(0);
            let said = answer.error_message;
            let problem = (rejected > 0 || !said.is_empty())
                .then(|| format!("{rejected} of the last were rejected: {said}"));
            (Answer::Taken { rejected }, problem)
        }
        429 | 502 | 503 | 504 => {
            let after = retry_after(&headers).map(|after| after.min(MOST_PAUSE));
            (Answer::Again { after }, Some(format!("status {status}")))
        }
        404 => (
            Answer::Refused,
            Some(
                "status 404: it has no receiver for this; --otlp-signals says what is sent".into(),
            ),
        ),
        _ => (Answer::Refused, Some(format!("status {status}"))),
    }
}

/// How long the collector asks to wait: seconds, or a date (RFC 9110, section 10.2.3), which is taken by the collector's
/// own clock.
fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let text = |name| headers.get(name)?.to_str().ok().map(str::trim);
    let date = |text: &str| rfc2822::parse(text).ok();
    let after = text(RETRY_AFTER)?;
    match after.parse() {
        Ok(seconds) => Some(Duration::from_secs(seconds)),
        Err(_) => {
            let pause = date(after)?.duration_since(&date(text(DATE)?)?);
            Some(pause.try_into().unwrap_or_default())
        }
    }
}

fn gzip(message: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    // Into memory it cannot fail.
    let _ = encoder.write_all(message);
    encoder.finish().unwrap_or_default()
}

/// The system's certificates, or those of `SSL_CERT_FILE`. Without any no https collector is reached, which is told then.
fn tls() -> TlsConfig {
    let certificates = rustls_native_certs::load_native_certs().unwrap_or_default();
    let roots: Vec<_> = certificates
        .iter()
        .map(|der| Certificate::from_der(der).to_owned())
        .collect();
    TlsConfig::builder()
        .root_certs(RootCerts::new_with_certs(&roots))
        .unversioned_rustls_crypto_provider(Arc::new(rustls::crypto::ring::default_provider()))
        .build()
}

#[cfg(test)]
mod tests {
    use opentelemetry_proto::tonic::collector::logs::v1::ExportLogsPartialSuccess;

    use super::*;

    fn answered(status: u16, retry_after: Option<&'static str>, body: &[u8]) -> Answer {
        let after = retry_after.map(|after| (RETRY_AFTER, HeaderValue::from_static(after)));
        understood(status, after.into_iter().collect(), Ok(body.to_vec())).0
    }

    #[test]
    fn only_what_may_pass_is_tried_again() {
        for status in [429, 502, 503, 504] {
            assert_eq!(answered(status, None, b""), Answer::Again { after: None });
        }
        let after = Some(Duration::from_secs(7));
        assert_eq!(answered(503, Some("7"), b""), Answer::Again { after });
        let after = Some(MOST_PAUSE);
        assert_eq!(
            answered(503, Some("999999999"), b""),
            Answer::Again { after }
        );
        for odd in ["-1", "soon", "Wed, 02 Dec 2026 12:00:00 GMT"] {
            assert_eq!(answered(429, Some(odd), b""), Answer::Again { after: None });
        }
        for status in [301, 400, 401, 404, 413, 500, 501] {
            assert_eq!(
                answered(status, Some("7"), b""),
                Answer::Refused,
                "{status}"
            );
        }
    }

    #[test]
    fn a_date_is_as_far_away_as_the_collector_s_clock_says() {
        let asked = |after: &'static str| {
            let now = HeaderValue::from_static("Wed, 02 Dec 2026 12:00:00 GMT");
            let after = (RETRY_AFTER, HeaderValue::from_static(after));
            retry_after(&[(DATE, now), after].into_iter().collect())
        };
        let seconds = |n| Some(Duration::from_secs(n));
        assert_eq!(asked("Wed, 02 Dec 2026 12:01:30 GMT"), seconds(90));
        assert_eq!(asked("Wed, 02 Dec 2026 11:00:00 GMT"), seconds(0));
        assert_eq!(asked("Wed, 99 Dec 2026"), None);
    }

    #[test]
    fn what_a_collector_rejects_is_counted() {
        let answer = |rejected_log_records, said: &str| {
            ExportLogsServiceResponse {
                partial_success: Some(ExportLogsPartialSuccess {
                    rejected_log_records,
                    error_message: said.to_owned(),
                }),
            }
            .encode_to_vec()
        };
        let taken = |rejected| Answer::Taken { rejected };
        assert_eq!(answered(200, None, &answer(3, "too old")), taken(3));
        assert_eq!(answered(200, None, &answer(-3, "")), taken(0));
        assert_eq!(answered(200, None, &answer(0, "a warning")), taken(0));
        assert_eq!(answered(202, None, b"not protobuf"), taken(0));
    }
}
