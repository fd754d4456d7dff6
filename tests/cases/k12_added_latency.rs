//! A constant addition to every request.

use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::thread;
use std::time::Duration;

use socket2::{Domain, Socket, Type};

use super::rig::{Ask, Run, Server, played, run};
use crate::support::{Client, Proxy, pause};

/// Asserts where the time went, in ms: connecting, and from the request to the header.
fn phases(run: &Run, connect: (f64, f64), header: f64) {
    run.between("/upstream/connect_ms", connect.0, connect.1);
    let (sent, head) = (run.number("/at/sent_ms"), run.number("/at/header_ms"));
    let late = run.answer.late.as_secs_f64() * 1000.0;
    assert!(
        (head - sent - header).abs() < header / 4.0 + 50.0 + late,
        "{sent} ms sent, {head} ms header"
    );
    run.near("/gaps/token/p50_ms", 20.0).end("complete");
    for code in run.findings() {
        assert!(
            !code.contains("burst") && code != "transport_coalesced" && code != "proxy_held",
            "{:#}",
            run.record
        );
    }
}

#[test]
fn a18_a_request_that_is_passed_on_late_is_a_wait_for_the_header() {
    let direct = run("A18-direct");
    direct.near("/ttft_ms", 100.0).verdict("steady", "");
    phases(&direct, (0.0, 100.0), 100.0);

    let hop = run("A18-hop");
    hop.near("/ttft_ms", 2300.0)
        .verdict("late_header", "upstream");
    phases(&hop, (0.0, 100.0), 2300.0);
    hop.says("2.3");
}

#[test]
fn a18_a_connection_that_is_accepted_late_is_connect_time() {
    let server = Server::start(&["A18-direct"]);
    let [run] = played(|| {
        let (addr, open) = busy(server.addr);
        let proxy = Proxy::with(&format!("http://{addr}"), &[]);
        let mut client = Client::connect(proxy.addr);
        thread::spawn(move || {
            pause(600);
            open();
        });
        [server.exchange(&mut client, Ask::chat(), &proxy)]
    });
    run.bytes_are_the_servers();
    // the kernel tries again after 1 s, then after 2 more
    phases(&run, (600.0, 8000.0), 100.0);
    run.verdict("steady", "");
    let rest = run.number("/ttft_ms") - run.number("/upstream/connect_ms");
    assert!(rest < 600.0, "{:#}", run.record);
}

/// A relay to `target` whose queue of new connections is full until it is opened.
fn busy(target: SocketAddr) -> (SocketAddr, impl FnOnce() + Send) {
    let socket = Socket::new(Domain::IPV4, Type::STREAM, None).expect("a TCP socket");
    let any: SocketAddr = ([127, 0, 0, 1], 0).into();
    socket.bind(&any.into()).expect("a free port");
    socket.listen(0).expect("it is bound");
    let listener = TcpListener::from(socket);
    let addr = listener.local_addr().expect("it is bound");
    let patience = Duration::from_millis(100);
    let mut queued = vec![];
    while let Ok(one) = TcpStream::connect_timeout(&addr, patience) {
        queued.push(one);
        assert!(queued.len() < 50, "the queue has no end");
    }
    let open = move || {
        drop(queued);
        for client in listener.incoming().flatten() {
            let server = TcpStream::connect(target).expect("the server listens");
            let clones = || [&client, &server].map(|one| one.try_clone().expect("a TCP socket"));
            let ([up, to], [back, from]) = (clones(), clones());
            thread::spawn(move || relay(up, to));
            thread::spawn(move || relay(from, back));
        }
    };
    (addr, open)
}

fn relay(mut from: TcpStream, mut to: TcpStream) {
    let _ = to.set_nodelay(true);
    let mut piece = [0; 16 * 1024];
    while let Ok(n @ 1..) = from.read(&mut piece) {
        if to.write_all(&piece[..n]).is_err() {
            return;
        }
    }
    let _ = to.shutdown(Shutdown::Write);
}
