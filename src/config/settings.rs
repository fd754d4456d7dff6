//! The settings of `dripline proxy`, each written down once: the flag, its variable, its key in the
//! file and its help.
//!
//! All fields are optional, because a layer (command line and environment, file, defaults) rarely
//! sets them all.

use std::path::PathBuf;

use clap::Args;
use serde::Deserialize;

use super::admin::{AdminAddr, Models, Recent, Token};
use super::otlp::{Attributes, Collector, Headers, Interval, Signals};
use super::upstream::UpstreamUrl;
use super::values::{Limit, ListenAddr, LogLevel, LogTarget, Recorded, Span, text};

/// The lowest layer, in the language of the file. A boolean here makes its flag a switch
/// (`--quiet`, `--quiet=false`).
pub const DEFAULTS: &str = r#"
listen = "127.0.0.1:8080"
preserve-host = false
allow-half-close = false
drain = "30s"
pool-idle = "4s"
connect-timeout = "off"
read-timeout = "off"
log = "dripline.jsonl"
record = "generations"
timeline = false
no-body-hash = false
log-client-addr = false
cold-after = "60s"
admin = "127.0.0.1:8090"
admin-open = false
admin-recent = "10000"
metrics-models = "100"
otlp = "off"
otlp-signals = "logs,traces,metrics"
otlp-interval = "10s"
quiet = false
log-level = "info"
"#;

/// Values that show the shape of the settings without a default.
pub(super) const EXAMPLES: &str = r#"
upstream = "http://127.0.0.1:8000"
upstream-ca = "/etc/ssl/private-ca.pem"
instance = "edge-1"
label = "client flush off"
admin-token = "from-openssl-rand-hex-16"
otlp-headers = "authorization=Bearer%20KEY"
otlp-resource = "service.name=edge,k8s.pod.name=llm-0"
"#;

/// One layer of settings. The flag `--pool-idle` is the variable `DRIPLINE_POOL_IDLE` and the key
/// `pool-idle`.
#[derive(Debug, Clone, Default, PartialEq, Args, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
#[command(next_help_heading = "Relaying")]
pub struct Settings {
    /// Server that requests go to; a path in it is put before each request's path
    #[arg(long, env = "DRIPLINE_UPSTREAM", value_name = "URL")]
    #[serde(deserialize_with = "text")]
    pub upstream: Option<UpstreamUrl>,

    /// Address to listen on; 0.0.0.0 for every interface, port 0 for a free one
    #[arg(long, env = "DRIPLINE_LISTEN", value_name = "ADDR:PORT")]
    #[serde(deserialize_with = "text")]
    pub listen: Option<ListenAddr>,

    /// Keep the client's Host header; without it Host names the upstream, as hosted APIs need
    #[arg(long, env = "DRIPLINE_PRESERVE_HOST", value_name = "BOOL")]
    pub preserve_host: Option<bool>,

    /// Trust the certificates in this PEM file for an https upstream, instead of the system's
    #[arg(long, env = "DRIPLINE_UPSTREAM_CA", value_name = "FILE")]
    pub upstream_ca: Option<PathBuf>,

    /// Go on relaying after the client has closed its sending side (else it counts as gone)
    #[arg(long, env = "DRIPLINE_ALLOW_HALF_CLOSE", value_name = "BOOL")]
    pub allow_half_close: Option<bool>,

    /// How long streams may go on after Ctrl-C or SIGTERM before they are cut
    #[arg(long, env = "DRIPLINE_DRAIN", value_name = "DURATION")]
    #[serde(deserialize_with = "text")]
    pub drain: Option<Span>,

    /// How long an unused upstream connection is kept; must stay below the server's own keep-alive
    #[arg(long, env = "DRIPLINE_POOL_IDLE", value_name = "DURATION")]
    #[serde(deserialize_with = "text")]
    pub pool_idle: Option<Span>,

    /// Give up connecting to the upstream after this long, or off
    #[arg(long, env = "DRIPLINE_CONNECT_TIMEOUT", value_name = "DURATION")]
    #[serde(deserialize_with = "text")]
    pub connect_timeout: Option<Limit>,

    /// Cut a request whose upstream was silent for this long, or off; a thinking model may be
    /// silent for an hour
    #[arg(long, env = "DRIPLINE_READ_TIMEOUT", value_name = "DURATION")]
    #[serde(deserialize_with = "text")]
    pub read_timeout: Option<Limit>,

    /// Log of records in JSON Lines: a file to append to, - for standard output, or off
    #[arg(
        long,
        env = "DRIPLINE_LOG",
        value_name = "FILE|-|off",
        help_heading = "Recording"
    )]
    #[serde(deserialize_with = "text")]
    pub log: Option<LogTarget>,

    /// Name of this proxy in its records, so that two hops can be told apart (the host name, if not
    /// given)
    #[arg(
        long,
        env = "DRIPLINE_INSTANCE",
        value_name = "NAME",
        help_heading = "Recording"
    )]
    pub instance: Option<String>,

    /// Free text in each record of this run, such as 'client flush off'
    #[arg(
        long,
        env = "DRIPLINE_LABEL",
        value_name = "TEXT",
        help_heading = "Recording"
    )]
    pub label: Option<String>,

    /// Which requests leave a record: generations (and event streams), or all
    #[arg(
        long,
        env = "DRIPLINE_RECORD",
        value_name = "WHICH",
        help_heading = "Recording"
    )]
    #[serde(deserialize_with = "text")]
    pub record: Option<Recorded>,

    /// Put a row for each chunk into the record (at most 100,000)
    #[arg(
        long,
        env = "DRIPLINE_TIMELINE",
        value_name = "BOOL",
        help_heading = "Recording"
    )]
    pub timeline: Option<bool>,

    /// Leave out the hash of the response body
    #[arg(
        long,
        env = "DRIPLINE_NO_BODY_HASH",
        value_name = "BOOL",
        help_heading = "Recording"
    )]
    pub no_body_hash: Option<bool>,

    /// Record the client's address
    #[arg(
        long,
        env = "DRIPLINE_LOG_CLIENT_ADDR",
        value_name = "BOOL",
        help_heading = "Recording"
    )]
    pub log_client_addr: Option<bool>,

    /// Record a request as cold when the upstream had been idle for this long
    #[arg(
        long,
        env = "DRIPLINE_COLD_AFTER",
        value_name = "DURATION",
        help_heading = "Recording"
    )]
    #[serde(deserialize_with = "text")]
    pub cold_after: Option<Span>,

    /// Address of the page, the API and the metrics, or off
    #[arg(
        long,
        env = "DRIPLINE_ADMIN",
        value_name = "ADDR:PORT|off",
        help_heading = "Admin"
    )]
    #[serde(deserialize_with = "text")]
    pub admin: Option<AdminAddr>,

    /// Secret that the admin side asks for (better as the variable: others see a command line); needed
    /// where others can reach it
    #[arg(
        long,
        env = "DRIPLINE_ADMIN_TOKEN",
        value_name = "TOKEN",
        help_heading = "Admin"
    )]
    #[serde(deserialize_with = "text")]
    pub admin_token: Option<Token>,

    /// Let everyone who reaches the admin side see it
    #[arg(
        long,
        env = "DRIPLINE_ADMIN_OPEN",
        value_name = "BOOL",
        help_heading = "Admin"
    )]
    pub admin_open: Option<bool>,

    /// How many recent requests the page keeps, about 4 kB each
    #[arg(
        long,
        env = "DRIPLINE_ADMIN_RECENT",
        value_name = "N",
        help_heading = "Admin"
    )]
    #[serde(deserialize_with = "text")]
    pub admin_recent: Option<Recent>,

    /// How many models have metrics of their own, about 300 series each; the others share the label "other"
    #[arg(
        long,
        env = "DRIPLINE_METRICS_MODELS",
        value_name = "N",
        help_heading = "Admin"
    )]
    #[serde(deserialize_with = "text")]
    pub metrics_models: Option<Models>,

    /// Send records, spans and metrics to this OpenTelemetry collector (OTLP over HTTP), or off
    #[arg(
        long,
        env = "DRIPLINE_OTLP",
        value_name = "URL|off",
        help_heading = "Export"
    )]
    #[serde(deserialize_with = "text")]
    pub otlp: Option<Collector>,

    /// Header fields for the collector, such as its key (better as the variable: others see a command line)
    #[arg(
        long,
        env = "DRIPLINE_OTLP_HEADERS",
        value_name = "NAME=VALUE,…",
        help_heading = "Export"
    )]
    #[serde(deserialize_with = "text")]
    pub otlp_headers: Option<Headers>,

    /// Resource attributes of all that the collector is sent, besides dripline's own
    #[arg(
        long,
        env = "DRIPLINE_OTLP_RESOURCE",
        value_name = "NAME=VALUE,…",
        help_heading = "Export"
    )]
    #[serde(deserialize_with = "text")]
    pub otlp_resource: Option<Attributes>,

    /// What the collector is sent
    #[arg(
        long,
        env = "DRIPLINE_OTLP_SIGNALS",
        value_name = "SIGNALS",
        help_heading = "Export"
    )]
    #[serde(deserialize_with = "text")]
    pub otlp_signals: Option<Signals>,

    /// How often the collector is sent what there is
    #[arg(
        long,
        env = "DRIPLINE_OTLP_INTERVAL",
        value_name = "DURATION",
        help_heading = "Export"
    )]
    #[serde(deserialize_with = "text")]
    pub otlp_interval: Option<Interval>,

    /// Print no line per request
    #[arg(
        long,
        env = "DRIPLINE_QUIET",
        value_name = "BOOL",
        help_heading = "Terminal"
    )]
    pub quiet: Option<bool>,

    /// Least severe diagnostics on standard error: error, warn, info, debug or trace
    #[arg(
        long,
        env = "DRIPLINE_LOG_LEVEL",
        value_name = "LEVEL",
        help_heading = "Terminal"
    )]
    #[serde(deserialize_with = "text")]
    pub log_level: Option<LogLevel>,

    /// Read settings from this TOML file; flags and environment win over it
    #[arg(
        long,
        env = "DRIPLINE_CONFIG",
        value_name = "FILE",
        help_heading = None
    )]
    #[serde(skip)]
    pub config: Option<PathBuf>,
}

impl Settings {
    /// This layer on top of a `lower` one.
    pub(super) fn over(self, lower: Settings) -> Settings {
        Settings {
            upstream: self.upstream.or(lower.upstream),
            listen: self.listen.or(lower.listen),
            preserve_host: self.preserve_host.or(lower.preserve_host),
            upstream_ca: self.upstream_ca.or(lower.upstream_ca),
            allow_half_close: self.allow_half_close.or(lower.allow_half_close),
            drain: self.drain.or(lower.drain),
            pool_idle: self.pool_idle.or(lower.pool_idle),
            connect_timeout: self.connect_timeout.or(lower.connect_timeout),
            read_timeout: self.read_timeout.or(lower.read_timeout),
            log: self.log.or(lower.log),
            instance: self.instance.or(lower.instance),
            label: self.label.or(lower.label),
            record: self.record.or(lower.record),
            timeline: self.timeline.or(lower.timeline),
            no_body_hash: self.no_body_hash.or(lower.no_body_hash),
            log_client_addr: self.log_client_addr.or(lower.log_client_addr),
            cold_after: self.cold_after.or(lower.cold_after),
            admin: self.admin.or(lower.admin),
            admin_token: self.admin_token.or(lower.admin_token),
            admin_open: self.admin_open.or(lower.admin_open),
            admin_recent: self.admin_recent.or(lower.admin_recent),
            metrics_models: self.metrics_models.or(lower.metrics_models),
            otlp: self.otlp.or(lower.otlp),
            otlp_headers: self.otlp_headers.or(lower.otlp_headers),
            otlp_resource: self.otlp_resource.or(lower.otlp_resource),
            otlp_signals: self.otlp_signals.or(lower.otlp_signals),
            otlp_interval: self.otlp_interval.or(lower.otlp_interval),
            quiet: self.quiet.or(lower.quiet),
            log_level: self.log_level.or(lower.log_level),
            config: self.config.or(lower.config),
        }
    }
}
