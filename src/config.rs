//! Settings of `dripline proxy`: flags, `DRIPLINE_*` variables and a TOML file become one typed
//! [`ProxyConfig`] before anything is bound.
//!
//! Flag > variable > file > default. clap reads the first two into one [`Settings`], [`load`] puts
//! the file and the defaults below it. A mistake is an error that names where it is and what to
//! write instead; nothing is guessed.

mod admin;
mod error;
mod example;
mod file;
mod host;
mod otlp;
pub mod probe;
mod settings;
pub mod threshold;
mod upstream;
mod values;

use std::net::{IpAddr, SocketAddr};
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::{Args, Command};

pub use admin::{Access, Admin, AdminAddr, Models, Recent, Token};
pub use error::ConfigError;
pub use example::example;
pub use otlp::{Attributes, Collector, Headers, Interval, Otlp, Signals};
pub use settings::{DEFAULTS, Settings};
pub use upstream::UpstreamUrl;
pub use values::{Limit, ListenAddr, LogLevel, LogTarget, Recorded, Span};

/// What `dripline proxy` runs with.
#[derive(Debug, Clone)]
pub struct ProxyConfig {
    /// Where requests go.
    pub upstream: UpstreamUrl,
    /// Address to listen on.
    pub listen: SocketAddr,
    /// Whether the client's `Host` passes unchanged.
    pub preserve_host: bool,
    /// PEM file that replaces the system's roots; readable and all certificates when this was
    /// loaded.
    pub upstream_ca: Option<PathBuf>,
    /// Whether a client that closed its sending side is still served.
    pub allow_half_close: bool,
    /// How long streams may go on after the first signal.
    pub drain: Duration,
    /// How long an unused upstream connection is kept.
    pub pool_idle: Duration,
    /// Limit on making one upstream connection; `None` for none.
    pub connect_timeout: Option<Duration>,
    /// Limit on the upstream's silence; `None` for none.
    pub read_timeout: Option<Duration>,
    /// Where JSON Lines go.
    pub log: LogTarget,
    /// Name of this proxy in its records.
    pub instance: String,
    /// Free text of the run.
    pub label: Option<String>,
    /// Which requests leave a record.
    pub record: Recorded,
    /// Whether records hold a row per chunk.
    pub timeline: bool,
    /// Whether records hold a hash of the response body.
    pub body_hash: bool,
    /// Whether records hold the client's address.
    pub log_client_addr: bool,
    /// Idle time of the upstream from which a request counts as cold.
    pub cold_after: Duration,
    /// The page, the API and the metrics; `None` for none.
    pub admin: Option<Admin>,
    /// The collector; `None` for none.
    pub otlp: Option<Otlp>,
    /// Models that have metrics of their own.
    pub metrics_models: usize,
    /// Whether the console line per request is left out.
    pub quiet: bool,
    /// Least severe diagnostics that are printed.
    pub log_level: LogLevel,
}

/// The name of this machine, as records have it where no other is given.
pub fn instance() -> String {
    host::name()
}

/// Whether the certificates in the file at `path` can be trusted in place of the system's.
///
/// # Errors
///
/// What is wrong with it, in words that follow the file's name.
pub fn check_certificates(path: &Path) -> Result<(), String> {
    check_ca(path)
}

/// Completes what the command line and environment set with the file and the defaults, and checks
/// the whole.
pub fn load(settings: Settings) -> Result<ProxyConfig, ConfigError> {
    let file = match &settings.config {
        Some(path) => file::read(path)?,
        None => Settings::default(),
    };
    let settings = settings.over(file);
    let admin_asked = settings.admin.is_some();
    let config = complete(settings, admin_asked)?;
    if is_loop(&config.upstream, config.listen) {
        return Err(ConfigError::Loop(config.listen));
    }
    if let Some(path) = &config.upstream_ca {
        check_ca(path).map_err(|problem| ConfigError::UpstreamCa {
            path: path.clone(),
            problem,
        })?;
    }
    Ok(config)
}

fn complete(settings: Settings, admin_asked: bool) -> Result<ProxyConfig, ConfigError> {
    let defaults: Settings =
        toml::from_str(DEFAULTS).expect("DEFAULTS is valid, as every start and test shows");
    let settings = settings.over(defaults);
    let Settings {
        listen: Some(ListenAddr(listen)),
        preserve_host: Some(preserve_host),
        allow_half_close: Some(allow_half_close),
        drain: Some(Span(drain)),
        pool_idle: Some(Span(pool_idle)),
        connect_timeout: Some(Limit(connect_timeout)),
        read_timeout: Some(Limit(read_timeout)),
        log: Some(log),
        record: Some(record),
        timeline: Some(timeline),
        no_body_hash: Some(no_body_hash),
        log_client_addr: Some(log_client_addr),
        cold_after: Some(Span(cold_after)),
        admin: Some(admin),
        admin_open: Some(admin_open),
        admin_recent: Some(recent),
        metrics_models: Some(Models(metrics_models)),
        otlp: Some(Collector(otlp)),
        otlp_signals: Some(signals),
        otlp_interval: Some(Interval(interval)),
        quiet: Some(quiet),
        log_level: Some(log_level),
        ..
    } = settings
    else {
        unreachable!("DEFAULTS sets each of these, as every start and test shows")
    };
    let token = settings.admin_token;
    Ok(ProxyConfig {
        admin: Admin::of(admin, admin_asked, token, admin_open, recent)?,
        upstream: settings.upstream.ok_or(ConfigError::NoUpstream)?,
        listen,
        preserve_host,
        upstream_ca: settings.upstream_ca,
        allow_half_close,
        drain,
        pool_idle,
        connect_timeout,
        read_timeout,
        log,
        instance: settings
            .instance
            .filter(|name| !name.is_empty())
            .unwrap_or_else(host::name),
        label: settings.label.filter(|label| !label.is_empty()),
        record,
        timeline,
        body_hash: !no_body_hash,
        log_client_addr,
        cold_after,
        otlp: otlp.map(|url| Otlp {
            url,
            headers: settings.otlp_headers.unwrap_or_default(),
            resource: settings.otlp_resource.unwrap_or_default(),
            signals,
            interval,
        }),
        metrics_models,
        quiet,
        log_level,
    })
}

/// Whether requests would come straight back. Other names of this machine are not looked up.
fn is_loop(upstream: &UpstreamUrl, listen: SocketAddr) -> bool {
    let host = match upstream.host.as_str() {
        "localhost" => Some(IpAddr::from([127, 0, 0, 1])),
        host => host.parse().ok(),
    };
    upstream.port == listen.port()
        && host.is_some_and(|host| {
            host == listen.ip() || (listen.ip().is_unspecified() && host.is_loopback())
        })
}

/// The TLS connector panics over a file that it cannot take whole, so the file is read here first,
/// in the same way.
fn check_ca(path: &Path) -> Result<(), String> {
    let pem = std::fs::read(path).map_err(|cause| format!("cannot be read ({cause})"))?;
    let mut certificates = 0;
    for item in rustls_pemfile::read_all(&mut pem.as_slice()) {
        match item {
            Ok(rustls_pemfile::Item::X509Certificate(der)) => {
                certificates += 1;
                webpki::anchor_from_trusted_cert(&der).map_err(|cause| {
                    format!("certificate {certificates} cannot be used ({cause})")
                })?;
            }
            Ok(_) => {
                return Err("it holds something else than certificates, such as a key".to_owned());
            }
            Err(_) => return Err("it is broken PEM".to_owned()),
        }
    }
    if certificates == 0 {
        Err("it holds no certificate".to_owned())
    } else {
        Ok(())
    }
}

/// A warning when `names` of environment variables hold some that begin like ours and are no
/// setting. No error: Kubernetes makes such names (`DRIPLINE_PORT`) for a service that is called
/// dripline.
pub fn unknown_variables(names: impl IntoIterator<Item = String>) -> Option<String> {
    let known: Vec<String> = Settings::augment_args(Command::new(""))
        .get_arguments()
        .filter_map(|arg| Some(arg.get_env()?.to_str()?.to_owned()))
        .collect();
    let mut unknown: Vec<String> = names
        .into_iter()
        .filter(|name| name.starts_with("DRIPLINE_") && !known.contains(name))
        .map(|name| {
            match file::closest(
                &name["DRIPLINE_".len()..],
                known.iter().map(|known| &known["DRIPLINE_".len()..]),
            ) {
                Some(close) => format!("{name} (did you mean DRIPLINE_{close}?)"),
                None => name,
            }
        })
        .collect();
    unknown.sort();
    (!unknown.is_empty()).then(|| format!("not a setting, so not used: {}", unknown.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn layer(toml: &str) -> Settings {
        toml::from_str(toml).unwrap()
    }

    #[test]
    fn the_defaults_stand_where_no_layer_speaks() {
        let config = load(layer("upstream = 'http://h:1'")).unwrap();
        assert_eq!(config.listen, "127.0.0.1:8080".parse().unwrap());
        assert_eq!(
            (config.drain, config.pool_idle),
            (Duration::from_secs(30), Duration::from_secs(4))
        );
        assert_eq!((config.connect_timeout, config.read_timeout), (None, None));
        assert_eq!(config.log, LogTarget::File("dripline.jsonl".into()));
        assert!(config.body_hash && !config.timeline && !config.log_client_addr);
        assert!(!config.instance.is_empty() && config.label.is_none());
    }

    #[test]
    fn the_file_lies_between_the_flags_and_the_defaults() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("d.toml");
        std::fs::write(
            &path,
            "upstream = 'http://file:1'\nlabel = 'file'\ndrain = '5s'\nquiet = true",
        )
        .unwrap();
        let flags = Settings {
            config: Some(path),
            ..layer("label = 'flag'\nquiet = false")
        };
        let config = load(flags).unwrap();
        assert_eq!(config.label.as_deref(), Some("flag"));
        assert!(!config.quiet);
        assert_eq!(config.upstream.host, "file");
        assert_eq!(config.drain, Duration::from_secs(5));
        assert_eq!(config.pool_idle, Duration::from_secs(4));
    }

    #[test]
    fn no_upstream_is_told_with_a_line_to_type() {
        let error = load(Settings::default()).unwrap_err().to_string();
        assert!(
            error.contains("dripline proxy --upstream http://127.0.0.1:8000"),
            "{error}"
        );
    }

    #[test]
    fn a_proxy_in_front_of_itself_is_refused() {
        for (upstream, listen, circles) in [
            ("http://127.0.0.1:8080", "127.0.0.1:8080", true),
            ("http://localhost:8080", "0.0.0.0:8080", true),
            ("http://[::1]:8080", "[::]:8080", true),
            ("http://127.0.0.1:8000", "127.0.0.1:8080", false),
            ("http://10.0.0.7:8080", "127.0.0.1:8080", false),
            ("http://example.com:8080", "0.0.0.0:8080", false),
        ] {
            let result = load(layer(&format!(
                "upstream = '{upstream}'\nlisten = '{listen}'"
            )));
            assert_eq!(
                matches!(result, Err(ConfigError::Loop(_))),
                circles,
                "{upstream} behind {listen}"
            );
        }
    }

    #[test]
    fn a_ca_file_that_would_panic_later_is_an_error_now() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("ca.pem");
        let pem = |kind: &str| {
            format!("-----BEGIN {kind}-----\nbm8gY2VydGlmaWNhdGU=\n-----END {kind}-----\n")
        };
        for (text, problem) in [
            ("nothing here".to_owned(), "holds no certificate"),
            (pem("PRIVATE KEY"), "something else than certificates"),
            (pem("CERTIFICATE"), "certificate 1 cannot be used"),
            (
                "-----BEGIN CERTIFICATE-----\n!!!\n-----END CERTIFICATE-----\n".to_owned(),
                "broken PEM",
            ),
        ] {
            std::fs::write(&path, text).unwrap();
            assert!(check_ca(&path).unwrap_err().contains(problem), "{problem}");
        }
        let error = load(layer(
            "upstream = 'https://h'\nupstream-ca = '/no/such.pem'",
        ))
        .unwrap_err()
        .to_string();
        assert!(
            error.starts_with("--upstream-ca /no/such.pem: cannot be read"),
            "{error}"
        );
    }

    #[test]
    fn variables_that_are_no_setting_are_named_in_one_warning() {
        let names = [
            "PATH",
            "DRIPLINE_UPSTREAM",
            "DRIPLINE_UPSTREM",
            "DRIPLINE_8X",
        ]
        .map(str::to_owned);
        assert_eq!(
            unknown_variables(names).unwrap(),
            "not a setting, so not used: DRIPLINE_8X, DRIPLINE_UPSTREM (did you mean DRIPLINE_UPSTREAM?)"
        );
        assert_eq!(unknown_variables(["DRIPLINE_LOG".to_owned()]), None);
    }
}
