//! What the proxy costs: CPU per forwarded event and added transit, side by side in one run with no
//! proxy at all and with nginx (`proxy_buffering off`), since figures of a shared machine compare only
//! within a run. Each event carries the emitter's own stamp, and emitter and reader share one clock.
//!
//! `cargo bench --bench relay [-- STREAMS EVENTS_PER_S SECONDS]`; without nginx its row is left out, and said so.

#![allow(clippy::disallowed_methods)] // a bench has its own clock

use std::error::Error;
use std::net::SocketAddr;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};

type Outcome<T> = Result<T, Box<dyn Error + Send + Sync>>;

/// Bytes of one event with its framing.
const EVENT: usize = 250;
const ROUNDS: usize = 3;

#[derive(Clone, Copy)]
struct Load {
    streams: usize,
    events_per_s: usize,
    seconds: u64,
}

#[tokio::main]
async fn main() -> Outcome<()> {
    let numbers: Vec<usize> = std::env::args()
        .filter_map(|arg| arg.parse().ok())
        .collect();
    let number = |at: usize, default| numbers.get(at).copied().unwrap_or(default);
    let load = Load {
        streams: number(0, 32),
        events_per_s: number(1, 5000),
        seconds: number(2, 4) as u64,
    };
    let epoch = Instant::now();
    let emitter = TcpListener::bind("127.0.0.1:0").await?;
    let upstream = emitter.local_addr()?;
    tokio::spawn(emit(emitter, load, epoch));

    println!(
        "{} streams, {} events/s of {EVENT} bytes, {} s, {ROUNDS} rounds",
        load.streams, load.events_per_s, load.seconds
    );
    println!(
        "{:<18}{:>16}{:>14}{:>14}{:>14}",
        "path", "CPU us/event", "transit p50", "p99", "max (us)"
    );
    let folder = tempfile::tempdir()?;
    let mut paths = vec![("direct", None, upstream)];
    match start_nginx(folder.path(), upstream) {
        Ok((child, addr)) => paths.push(("nginx", Some(child), addr)),
        Err(error) => println!("nginx              left out: {error}"),
    }
    let (child, addr) = start_dripline(
        &[
            "--log",
            folder
                .path()
                .join("log.jsonl")
                .to_str()
                .expect("a plain path"),
        ],
        upstream,
    )
    .await?;
    paths.push(("dripline", Some(child), addr));
    for _ in 0..ROUNDS {
        for (name, child, addr) in &paths {
            let before = child.as_ref().map(cpu_of);
            let mut transits = read_all(*addr, load, epoch).await?;
            let spent = child
                .as_ref()
                .map(cpu_of)
                .zip(before)
                .map(|(after, before)| after - before);
            transits.sort_unstable();
            let cpu = spent.map_or("-".to_owned(), |spent| {
                format!("{:.1}", spent.as_secs_f64() * 1e6 / transits.len() as f64)
            });
            let at = |p: usize| transits[(transits.len() - 1) * p / 100];
            println!(
                "{name:<18}{cpu:>16}{:>14}{:>14}{:>14}",
                at(50),
                at(99),
                at(100)
            );
        }
    }
    for (_, child, _) in &mut paths {
        if let Some(child) = child {
            child.kill()?;
            child.wait()?;
        }
    }
    Ok(())
}

/// Answers every request with a stream of stamped events, evenly spaced, the streams out of step.
async fn emit(listener: TcpListener, load: Load, epoch: Instant) {
    let gap = Duration::from_secs(1) * load.streams as u32 / load.events_per_s as u32;
    let mut lane = 0;
    while let Ok((mut client, _)) = listener.accept().await {
        lane += 1;
        tokio::spawn(async move {
            client.set_nodelay(true)?;
            let mut head = [0; 4096];
            while client.read(&mut head).await? > 0 {
                client.write_all(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n").await?;
                tokio::time::sleep(gap * (lane % load.streams as u32) / load.streams as u32).await;
                let mut timer = tokio::time::interval(gap);
                for _ in 0..load.events_per_s * load.seconds as usize / load.streams {
                    timer.tick().await;
                    let start = format!(
                        "data: {{\"stamp\":{:>20},\"object\":\"chat.completion.chunk\",\"choices\":[{{\"index\":0,\"delta\":{{\"content\":\"",
                        epoch.elapsed().as_nanos()
                    );
                    let end = "\"},\"finish_reason\":null}]}\n\n";
                    let text = "w".repeat(EVENT - start.len() - end.len());
                    client
                        .write_all(format!("{EVENT:x}\r\n{start}{text}{end}\r\n").as_bytes())
                        .await?;
                }
                client.write_all(b"0\r\n\r\n").await?;
            }
            Outcome::Ok(())
        });
    }
}

/// Opens all streams and reads them to their end: microseconds from each event's stamp to its reading.
async fn read_all(addr: SocketAddr, load: Load, epoch: Instant) -> Outcome<Vec<u64>> {
    let readers: Vec<_> = (0..load.streams)
        .map(|_| tokio::spawn(read_stream(addr, epoch)))
        .collect();
    let mut transits = Vec::new();
    for reader in readers {
        transits.extend(reader.await??);
    }
    Ok(transits)
}

async fn read_stream(addr: SocketAddr, epoch: Instant) -> Outcome<Vec<u64>> {
    let mut server = TcpStream::connect(addr).await?;
    let body = r#"{"model":"m","stream":true,"messages":[{"role":"user","content":"hi"}]}"#;
    let request = format!(
        "POST /v1/chat/completions HTTP/1.1\r\nHost: bench\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    );
    server.write_all(request.as_bytes()).await?;
    let mut transits = Vec::new();
    let mut lines = BufReader::new(server).split(b'\n');
    while let Some(line) = lines.next_segment().await? {
        let now = epoch.elapsed();
        if let Some(stamp) = line.strip_prefix(b"data: {\"stamp\":") {
            let stamp: u64 = std::str::from_utf8(&stamp[..20])?.trim().parse()?;
            transits.push((now.as_nanos() as u64).saturating_sub(stamp) / 1000);
        } else if line == b"0\r" {
            break;
        }
    }
    Ok(transits)
}

async fn start_dripline(more: &[&str], upstream: SocketAddr) -> Outcome<(Child, SocketAddr)> {
    let listen = free_addr()?;
    let child = Command::new(env!("CARGO_BIN_EXE_dripline"))
        .args([
            "proxy",
            "--quiet",
            "--upstream",
            &format!("http://{upstream}"),
            "--listen",
            &listen.to_string(),
            "--admin",
            "127.0.0.1:0",
        ])
        .args(more)
        .stdout(Stdio::null())
        .spawn()?;
    wait_for(listen)?;
    Ok((child, listen))
}

fn start_nginx(folder: &std::path::Path, upstream: SocketAddr) -> Outcome<(Child, SocketAddr)> {
    let listen = free_addr()?;
    let dir = folder.display();
    let config = format!(
        "daemon off; master_process off; pid {dir}/pid; error_log {dir}/error.log; events {{ worker_connections 4096; }}
         http {{ access_log {dir}/access.log; client_body_temp_path {dir}/b; proxy_temp_path {dir}/p; fastcgi_temp_path {dir}/f; uwsgi_temp_path {dir}/u; scgi_temp_path {dir}/s;
         server {{ listen {listen}; location / {{ proxy_pass http://{upstream}; proxy_http_version 1.1; proxy_buffering off; }} }} }}"
    );
    let file = folder.join("nginx.conf");
    std::fs::write(&file, config)?;
    let program = ["/usr/sbin/nginx", "nginx"].into_iter().find(|path| {
        Command::new(path)
            .arg("-v")
            .stderr(Stdio::null())
            .status()
            .is_ok()
    });
    let child = Command::new(program.ok_or("it is not installed")?)
        .arg("-c")
        .arg(&file)
        .stderr(Stdio::null())
        .spawn()?;
    wait_for(listen)?;
    Ok((child, listen))
}

fn free_addr() -> Outcome<SocketAddr> {
    Ok(std::net::TcpListener::bind("127.0.0.1:0")?.local_addr()?)
}

fn wait_for(addr: SocketAddr) -> Outcome<()> {
    for _ in 0..100 {
        if std::net::TcpStream::connect(addr).is_ok() {
            return Ok(());
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    Err(format!("nothing listens on {addr}").into())
}

/// User and system time of a process so far (proc(5), fields 14 and 15, in ticks of 10 ms).
fn cpu_of(child: &Child) -> Duration {
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", child.id())).unwrap_or_default();
    let fields: Vec<&str> = stat
        .rsplit(") ")
        .next()
        .unwrap_or_default()
        .split(' ')
        .collect();
    let ticks = |at: usize| {
        fields
            .get(at)
            .and_then(|field| field.parse::<u64>().ok())
            .unwrap_or(0)
    };
    Duration::from_millis(10 * (ticks(11) + ticks(12)))
}
