//! The simulated server in this process.

use std::future::Future;
use std::net::SocketAddr;
use std::sync::mpsc::channel;
use std::thread;

use dripline::tools::simulate::{Scenario, Simulator};

/// Plays these on a thread of its own until `end`; `set_up` may change the simulator before it runs.
pub fn play(
    scenarios: Vec<Scenario>,
    set_up: impl FnOnce(Simulator) -> Simulator + Send + 'static,
    end: impl Future<Output = ()> + Send + 'static,
) -> SocketAddr {
    let (bound, addr) = channel();
    thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build();
        runtime.expect("a runtime").block_on(async {
            let simulator = Simulator::bind(([127, 0, 0, 1], 0).into(), scenarios).await;
            let simulator = set_up(simulator.expect("a free port"));
            let _ = bound.send(simulator.local_addr());
            simulator.run(end).await;
        });
    });
    addr.recv().expect("the server starts")
}

/// Plays `scenario` to every model that is no ready scenario's name. It ends with the test process.
pub fn simulated(scenario: &str) -> SocketAddr {
    let mut scenarios = vec![Scenario::from_toml("t", scenario).expect("a good script")];
    scenarios.extend(Scenario::ready());
    play(scenarios, |simulator| simulator, std::future::pending())
}
