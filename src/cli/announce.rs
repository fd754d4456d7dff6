//! What `dripline proxy` says when it has begun to listen.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use crate::config::{LogTarget, ProxyConfig};

/// Where it listens (`local`, as bound), what it does with requests, where it shows them (`live`), and how to point an
/// app at it.
pub fn announcement(config: &ProxyConfig, local: SocketAddr, live: Option<SocketAddr>) -> String {
    let log = match &config.log {
        LogTarget::File(path) => format!("{} (JSON Lines, appended)", path.display()),
        LogTarget::Stdout => "standard output (JSON Lines)".to_owned(),
        LogTarget::Off => "none (--log off)".to_owned(),
    };
    // A path in the upstream that ends in /v1 already is what an app's base URL ends in.
    let path = if config.upstream.prefix.ends_with("/v1") {
        ""
    } else {
        "/v1"
    };
    let mut lines = vec![
        format!(
            "dripline {} as '{}'",
            env!("CARGO_PKG_VERSION"),
            config.instance
        ),
        format!("  listening on  http://{local}"),
        format!("  upstream      {}", config.upstream),
        format!("  records       {log}"),
    ];
    lines.extend(live.map(|live| format!("  live          http://{}", reachable(live))));
    let otlp = config.otlp.as_ref();
    lines.extend(otlp.map(|otlp| format!("  otlp          {} ({})", otlp.url, otlp.signals)));
    lines.extend(
        config
            .label
            .as_ref()
            .map(|label| format!("  label         {label}")),
    );
    lines.push(String::new());
    lines.push(format!(
        "Point an app at it:  OPENAI_BASE_URL=http://{}{path}",
        reachable(local)
    ));
    if local.ip().is_unspecified() {
        lines.push(format!(
            "From other machines: this machine's name or address, port {}",
            local.port()
        ));
    }
    lines.push(format!(
        "Ctrl-C ends it; open streams get up to {} to finish.",
        seconds(config.drain)
    ));
    lines.join("\n") + "\n"
}

/// An address that this machine can connect to.
fn reachable(local: SocketAddr) -> SocketAddr {
    let ip = match local.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => Ipv4Addr::LOCALHOST.into(),
        IpAddr::V6(ip) if ip.is_unspecified() => Ipv6Addr::LOCALHOST.into(),
        ip => ip,
    };
    SocketAddr::new(ip, local.port())
}

fn seconds(duration: std::time::Duration) -> String {
    format!("{} s", duration.as_secs_f64())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Settings, load};

    fn of(toml: &str, local: &str) -> String {
        let settings: Settings = toml::from_str(toml).unwrap();
        let config = load(Settings {
            instance: Some("edge-1".into()),
            ..settings
        })
        .unwrap();
        let live = config.admin.as_ref().map(|admin| admin.addr);
        announcement(&config, local.parse().unwrap(), live)
    }

    #[test]
    fn says_what_listens_where_and_how_to_use_it() {
        insta::assert_snapshot!(of("upstream = 'http://127.0.0.1:8000'", "127.0.0.1:8080"), @r"
        dripline 0.1.0 as 'edge-1'
          listening on  http://127.0.0.1:8080
          upstream      http://127.0.0.1:8000
          records       dripline.jsonl (JSON Lines, appended)
          live          http://127.0.0.1:8090

        Point an app at it:  OPENAI_BASE_URL=http://127.0.0.1:8080/v1
        Ctrl-C ends it; open streams get up to 30 s to finish.
        ");
    }

    #[test]
    fn the_line_to_paste_fits_the_address_and_the_prefix() {
        let text = of(
            "upstream = 'https://h/openai/v1'\nlabel = 'flush off'\nlog = 'off'\notlp = 'http://c:4318'",
            "[::]:81",
        );
        assert!(text.contains("OPENAI_BASE_URL=http://[::1]:81\n"), "{text}");
        assert!(
            text.contains("From other machines")
                && text.contains("flush off")
                && text.contains("--log off")
                && text.contains("  otlp          http://c:4318 (logs, traces, metrics)\n"),
            "{text}"
        );
    }
}
