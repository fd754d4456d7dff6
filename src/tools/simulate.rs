//! `dripline simulate`: a simulated LLM server. No model runs; each answer is played from a [`Scenario`], a script
//! of bytes and times, exact to a fraction of a millisecond. It says that it is simulated in its `Server` field, its ids,
//! its list of models and its text.
//!
//! - [`Scenario`]: what a script can say, and how to write one in TOML
//! - `events`: pieces of a script as bytes, a file for each API's dialect
//! - `script`: a scenario and a request made into timed writes: compression, holding, framing
//! - `request`, `route`, `pages`: HTTP in, which API it is for, and the answers that are no generations
//! - [`Simulator`], `alarm`: sockets and the clock
//! - [`Witness`]: who is told of each write, for tests

use std::fmt::Write as _;
use std::future::Future;
use std::io::Write as _;
use std::net::SocketAddr;

use anyhow::Context;

mod alarm;
pub(in crate::tools) mod draw;
mod events;
mod pages;
mod request;
mod route;
pub mod scenario;
mod script;
mod server;
mod witness;

pub use scenario::{Scenario, ScenarioError};
pub use server::Simulator;
pub use witness::{Act, Seen, Witness};

/// What `dripline simulate` was asked to do.
#[derive(Debug, Clone)]
pub struct Options {
    /// Where to listen; port 0 takes a free one.
    pub listen: SocketAddr,
    /// The scenario for requests whose model names none: a ready one, or a TOML file. The first ready one if not given.
    pub scenario: Option<String>,
}

/// Runs the server until `shutdown` is ready. Says first where it listens and what it has.
pub async fn run(options: Options, shutdown: impl Future<Output = ()>) -> anyhow::Result<()> {
    let scenarios = scenarios(options.scenario.as_deref())?;
    let simulator = Simulator::bind(options.listen, scenarios).await.with_context(|| {
        format!("cannot listen on {}; choose another address with --listen, port 0 takes a free one", options.listen)
    })?;
    let banner = banner(&simulator);
    // nobody may be reading; the server runs all the same
    let _ = std::io::stdout().write_all(banner.as_bytes());
    simulator.run(shutdown).await;
    Ok(())
}

/// The chosen scenario first, then all ready ones but that.
fn scenarios(chosen: Option<&str>) -> Result<Vec<Scenario>, ScenarioError> {
    let mut scenarios = Scenario::ready();
    if let Some(chosen) = chosen {
        let first = Scenario::find(chosen)?;
        scenarios.retain(|scenario| !scenario.is_called(&first.name));
        scenarios.insert(0, first);
    }
    Ok(scenarios)
}

fn banner(simulator: &Simulator) -> String {
    let address = simulator.local_addr();
    let default = &simulator.scenarios()[0].name; // `bind` refuses an empty list
    let mut text = format!(
        "Simulated OpenAI-style server on http://{address}/v1 (no model runs here, every answer is scripted)\n\n\
         The model name picks the scenario; any other name gets {default}:\n"
    );
    for scenario in simulator.scenarios() {
        // writing to a String cannot fail
        let _ = writeln!(text, "  {:<18} {}", scenario.name, scenario.about);
    }
    let _ = write!(
        text,
        "\nTry it:\n  curl -N http://{address}/v1/chat/completions -H 'Content-Type: application/json' \\\n    \
         -d '{{\"model\":\"{default}\",\"stream\":true,\"messages\":[{{\"role\":\"user\",\"content\":\"hi\"}}]}}'\n\n"
    );
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_chosen_scenario_comes_first_and_once() {
        let names = |chosen| {
            scenarios(chosen)
                .unwrap()
                .into_iter()
                .map(|s| s.name)
                .collect::<Vec<_>>()
        };
        assert_eq!(names(None)[0], "steady");
        assert_eq!(names(Some("tool-call"))[0], "tool_call");
        assert_eq!(names(Some("tool-call")).len(), 11);
        assert!(scenarios(Some("no-such-thing.toml")).is_err());
    }
}
