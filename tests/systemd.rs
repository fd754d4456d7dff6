//! The proxy as systemd starts it: with a socket that stays open when the process ends, and told how it is.

mod support;

use std::fs;
use std::net::{SocketAddr, TcpListener};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixDatagram;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use support::*;
use tempfile::TempDir;

/// systemd's side: the socket, what it is told, and the process that has both.
struct Service {
    socket: TcpListener,
    told: UnixDatagram,
    dir: TempDir,
}

impl Service {
    fn new() -> Service {
        let dir = TempDir::new().unwrap();
        let told = UnixDatagram::bind(dir.path().join("notify")).unwrap();
        told.set_read_timeout(Some(PATIENCE)).unwrap();
        let socket = TcpListener::bind("127.0.0.1:0").unwrap();
        Service { socket, told, dir }
    }

    fn addr(&self) -> SocketAddr {
        self.socket.local_addr().unwrap()
    }

    /// The socket becomes descriptor 3 of a process that knows its own number, which only a shell can tell beforehand.
    fn command(&self, upstream: &Upstream, instance: &str) -> Command {
        let socket = OwnedFd::from(self.socket.try_clone().unwrap());
        let mut command = Command::new("sh");
        command
            .args([
                "-c",
                "exec 3<&0 </dev/null; LISTEN_PID=$$ exec \"$@\"",
                "sh",
            ])
            .args([
                env!("CARGO_BIN_EXE_dripline"),
                "proxy",
                "--upstream",
                &upstream.url(),
            ])
            // the address is systemd's
            .args(["--listen", &self.addr().to_string(), "--instance", instance])
            .args([
                "--record",
                "all",
                "--log",
                &self.log(),
                "--admin",
                "127.0.0.1:0",
            ])
            .env("LISTEN_FDS", "1")
            .env("NOTIFY_SOCKET", self.dir.path().join("notify"))
            .env("WATCHDOG_USEC", "200000")
            .stdin(Stdio::from(socket))
            .stdout(Stdio::null());
        command
    }

    fn start(&self, upstream: &Upstream, instance: &str) -> Process {
        let process = Process(self.command(upstream, instance).spawn().unwrap());
        self.wait_for("READY=1\n");
        process
    }

    /// Waits until it is told this.
    fn wait_for(&self, state: &str) {
        let mut buffer = [0; 100];
        loop {
            let n = self
                .told
                .recv(&mut buffer)
                .expect("systemd is told in time");
            if &buffer[..n] == state.as_bytes() {
                return;
            }
        }
    }

    fn stop(&self, mut process: Process) {
        let pid = process.0.id().to_string();
        assert!(Command::new("kill").arg(&pid).status().unwrap().success());
        self.wait_for("STOPPING=1\n");
        assert_eq!(process.0.wait().unwrap().code(), Some(0));
    }

    fn log(&self) -> String {
        self.dir.path().join("log.jsonl").display().to_string()
    }
}

/// Killed when dropped.
struct Process(Child);

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn quick() -> Upstream {
    Upstream::start(|x| {
        x.request();
        x.send(OK);
    })
}

#[test]
fn the_socket_is_systemd_s_and_it_is_told_how_the_service_is() {
    let (up, service) = (quick(), Service::new());
    let process = service.start(&up, "a");
    assert_eq!(
        Client::connect(service.addr())
            .ask(chat_request(""))
            .status(),
        200
    );
    for _ in 0..3 {
        service.wait_for("WATCHDOG=1\n");
    }
    service.stop(process);
}

/// Each client sends a request on a connection of its own, again and again, while the service is restarted under them.
#[test]
fn no_request_is_lost_over_restarts() {
    const RESTARTS: usize = 5;
    let (up, service) = (quick(), Service::new());
    let (addr, over) = (service.addr(), AtomicBool::new(false));
    let client = || {
        let mut answered = 0;
        while !over.load(Ordering::Relaxed) {
            let response = Client::connect(addr).ask(chat_request("Connection: close\r\n"));
            assert_eq!((response.status(), response.end), (200, Some(End::Whole)));
            answered += 1;
        }
        answered
    };
    let answered: usize = thread::scope(|scope| {
        let clients: Vec<_> = (0..4).map(|_| scope.spawn(client)).collect();
        let mut process = service.start(&up, "0");
        for restart in 1..=RESTARTS {
            pause(100);
            service.stop(process);
            pause(50); // nobody is there: who connects now waits in the socket
            process = service.start(&up, &restart.to_string());
        }
        pause(100);
        over.store(true, Ordering::Relaxed);
        let answered = clients
            .into_iter()
            .map(|client| client.join().unwrap())
            .sum();
        service.stop(process);
        answered
    });
    let log = fs::read_to_string(service.log()).unwrap();
    assert_eq!(log.lines().count(), answered, "a record each");
    for instance in 0..=RESTARTS {
        assert!(
            log.contains(&format!("\"instance\":\"{instance}\"")),
            "{instance} served"
        );
    }
}

#[test]
fn what_is_passed_wrongly_is_told() {
    let (up, service) = (quick(), Service::new());
    let said = |dress: &dyn Fn(&mut Command)| {
        let mut command = service.command(&up, "a");
        dress(&mut command);
        let Output { status, stderr, .. } = command.output().unwrap();
        assert!(!status.success());
        String::from_utf8(stderr).unwrap()
    };
    let file = |command: &mut Command| {
        command.stdin(Stdio::from(
            fs::File::open(Path::new("Cargo.toml")).unwrap(),
        ));
    };
    assert!(said(&file).contains("ListenStream="), "{}", said(&file));
    let fds = |number: &'static str| {
        move |command: &mut Command| {
            command.env("LISTEN_FDS", number);
        }
    };
    assert!(said(&fds("one")).contains("LISTEN_FDS"));
    let several = said(&fds("7"));
    assert!(
        several.contains("takes one") || several.contains("LISTEN_FDS"),
        "{several}"
    );
}
