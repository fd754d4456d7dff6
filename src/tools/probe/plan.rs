//! Everything that is settled before the first run: where requests go, what they say, what they are called.

use std::time::Duration;

use anyhow::bail;
use bytes::Bytes;
use http::HeaderValue;
use http::header::{AUTHORIZATION, HeaderName};

use super::body::{self, Question};
use super::key::Key;
use super::run::{Run, Side};
use crate::cli;
use crate::config::probe::{Field, Http};
use crate::config::{self, Limit, UpstreamUrl};
use crate::relay::client::{Client, Request};
use crate::sink::console::text::shown;

/// An idle server counts as cold from here on, as it does for the proxy by default.
const COLD_AFTER: Duration = Duration::from_secs(60);
/// Columns that a model's name may take.
const NAME: usize = 40;

/// What is sent where.
pub(super) struct Plan {
    roads: Vec<Road>,
    keep_timeline: bool,
    /// What is asked of which API, in words, without the prompt.
    pub told: String,
    /// What a plot calls these runs.
    pub legend: String,
    /// What the user should know before.
    pub notes: Vec<String>,
}

/// One way to the server.
struct Road {
    side: Side,
    client: Client,
    request: Request,
}

impl Plan {
    /// Settles it all. `variable` reads the environment.
    ///
    /// # Errors
    ///
    /// A sentence that says what cannot be and what to do.
    pub fn of(
        probe: &cli::Probe,
        variable: impl Fn(&str) -> Option<String>,
    ) -> anyhow::Result<Plan> {
        if let Some(path) = probe.ca.as_deref()
            && let Err(problem) = config::check_certificates(path)
        {
            bail!("--ca {}: {problem}", path.display());
        }
        // cli has seen that it fits
        let (api, path) = probe.url.endpoint(probe.api).map_err(anyhow::Error::msg)?;
        let server = &probe.url.server;
        let question = Question {
            api,
            model: probe.model.as_deref(),
            prompt: &probe.prompt,
            max_tokens: probe.max_tokens,
            host: &server.host,
        };
        let fields = with(&probe.headers, body::fields(api));
        let template = Request {
            target: probe.url.target(&path),
            fields,
            body: Bytes::from(body::body(question)),
            label: probe.label.clone().filter(|label| !label.is_empty()),
            instance: config::instance(),
        };
        let keys = Keys {
            key: Key::of(variable).filter(|_| !names_a_key(&probe.headers)),
            api,
            asked: probe.send_key,
        };
        let mut notes = Vec::new();
        let mut roads = vec![Road {
            side: Side::Direct,
            request: keys.added_to(template.clone(), server, &mut notes)?,
            client: client(server.clone(), probe),
        }];
        if let Some(via) = &probe.via {
            let through = Request {
                target: format!("{}{}", via.prefix, template.target),
                ..template.clone()
            };
            roads.push(Road {
                side: Side::Through,
                request: keys.added_to(through, via, &mut notes)?,
                client: client(via.clone(), probe),
            });
        }
        Ok(Plan {
            roads,
            keep_timeline: probe.timeline,
            told: told(probe, api.name()),
            legend: template.label.unwrap_or_else(|| legend(probe)),
            notes,
        })
    }

    /// Whether requests go two ways.
    pub fn is_paired(&self) -> bool {
        self.roads.len() > 1
    }

    /// Requests of one number: one, or a pair, of which each goes first in turn.
    ///
    /// # Errors
    ///
    /// A request cannot be made; no answer is no error.
    pub async fn ask(&self, number: Option<u64>) -> anyhow::Result<Vec<Run>> {
        let mut runs = Vec::with_capacity(self.roads.len());
        let backwards = number.is_some_and(|number| number % 2 == 0);
        for i in 0..self.roads.len() {
            let road = match backwards {
                true => &self.roads[self.roads.len() - 1 - i],
                false => &self.roads[i],
            };
            let record = road.client.send(road.request.clone()).await?;
            runs.push(Run::new(number, road.side, record, self.keep_timeline));
        }
        Ok(runs)
    }
}

/// The key, and where it may go.
struct Keys {
    key: Option<Key>,
    api: crate::config::probe::ProbeApi,
    asked: bool,
}

impl Keys {
    fn added_to(
        &self,
        mut request: Request,
        server: &UpstreamUrl,
        notes: &mut Vec<String>,
    ) -> anyhow::Result<Request> {
        if let Some(key) = &self.key {
            match key.withheld(server, self.asked) {
                Some(note) => notes.push(note),
                None => request.fields.push(key.field(self.api)?),
            }
        }
        Ok(request)
    }
}

fn client(url: UpstreamUrl, probe: &cli::Probe) -> Client {
    let Limit(limit) = probe.timeout;
    Client::new(url, probe.http, probe.ca.as_deref(), limit, COLD_AFTER)
}

/// The user's fields, and those of ours whose names are not among them.
fn with(given: &[Field], ours: Vec<(HeaderName, HeaderValue)>) -> Vec<(HeaderName, HeaderValue)> {
    let is_given = |name: &HeaderName| given.iter().any(|field| field.name == *name);
    let kept = ours.into_iter().filter(|(name, _)| !is_given(name));
    let given = given
        .iter()
        .map(|field| (field.name.clone(), field.value.clone()));
    kept.chain(given).collect()
}

/// Whether the user gave a key of their own, beside which no other is to be sent.
fn names_a_key(given: &[Field]) -> bool {
    let is_key = |name: &HeaderName| {
        *name == AUTHORIZATION || ["api-key", "x-api-key"].contains(&name.as_str())
    };
    given.iter().any(|field| is_key(&field.name))
}

fn told(probe: &cli::Probe, api: &str) -> String {
    let model = match &probe.model {
        Some(model) => format!("model {}", shown(model, NAME)),
        None => "no model named".to_owned(),
    };
    let http = match probe.http {
        Http::One => "",
        Http::Two => " over HTTP/2",
    };
    format!(
        "{api}{http}, {model}, prompt of {} characters, at most {} tokens",
        probe.prompt.chars().count(),
        probe.max_tokens
    )
}

/// What may differ from another probe's runs, for want of a label: model, server, load, prompt.
fn legend(probe: &cli::Probe) -> String {
    let model = probe
        .model
        .as_deref()
        .map_or("no model".to_owned(), |model| shown(model, NAME));
    let load = match (probe.rate, probe.concurrency.get()) {
        (Some(rate), _) => format!(", {rate} per second"),
        (None, 1) => String::new(),
        (None, at_once) => format!(", {at_once} at a time"),
    };
    let prompt = probe.prompt.chars().count();
    let http = match probe.http {
        Http::One => "",
        Http::Two => ", HTTP/2",
    };
    format!(
        "{model} at {}{http}{load}, prompt of {prompt}",
        probe.url.server.authority
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::Job;

    fn probe(args: &[&str]) -> cli::Probe {
        let args = ["dripline", "probe"]
            .iter()
            .chain(args)
            .map(std::ffi::OsString::from);
        match cli::parse(args).unwrap().command {
            Job::Probe(probe) => *probe,
            job => panic!("{job:?}"),
        }
    }

    fn plan(args: &[&str]) -> Plan {
        Plan::of(&probe(args), |name| {
            (name == "API_TOKEN").then(|| "sk-planted".to_owned())
        })
        .unwrap()
    }

    fn sent(plan: &Plan, road: usize, name: &str) -> Vec<String> {
        let of_name = plan.roads[road]
            .request
            .fields
            .iter()
            .filter(|(own, _)| own == name);
        of_name
            .map(|(_, value)| String::from_utf8_lossy(value.as_bytes()).into_owned())
            .collect()
    }

    #[test]
    fn the_same_is_sent_both_ways_and_the_key_only_where_it_may_go() {
        let plan = plan(&["https://h/v1?a=1", "--via", "http://10.0.0.7:8080/edge"]);
        let targets: Vec<_> = plan
            .roads
            .iter()
            .map(|road| road.request.target.as_str())
            .collect();
        assert_eq!(
            targets,
            ["/v1/chat/completions?a=1", "/edge/v1/chat/completions?a=1"]
        );
        assert_eq!(plan.roads[0].request.body, plan.roads[1].request.body);
        assert_eq!(sent(&plan, 0, "authorization"), ["Bearer sk-planted"]);
        assert!(sent(&plan, 1, "authorization").is_empty());
        assert!(plan.notes[0].contains("http://10.0.0.7:8080/edge") && plan.notes.len() == 1);
    }

    #[test]
    fn the_users_fields_stand_in_place_of_ours_and_of_the_key() {
        let args = [
            "http://127.0.0.1:1",
            "-H",
            "user-agent: mine",
            "-H",
            "Authorization: mine",
        ];
        let plan = plan(&args);
        assert_eq!(sent(&plan, 0, "user-agent"), ["mine"]);
        assert_eq!(sent(&plan, 0, "authorization"), ["mine"]);
        assert_eq!(sent(&plan, 0, "content-type"), ["application/json"]);
    }

    #[test]
    fn a_legend_names_what_may_differ_unless_there_is_a_label() {
        let legend = |args: &[&str]| plan(args).legend;
        assert_eq!(
            legend(&[
                "http://127.0.0.1:1",
                "hi",
                "--model",
                "m",
                "--concurrency",
                "4"
            ]),
            "m at 127.0.0.1:1, 4 at a time, prompt of 2"
        );
        assert_eq!(
            legend(&["http://h", "hi", "--rate", "0.5"]),
            "no model at h, 0.5 per second, prompt of 2"
        );
        assert_eq!(legend(&["http://h", "--label", "flush off"]), "flush off");
    }

    #[test]
    fn no_prompt_is_told() {
        let plan = plan(&["http://h", "the prompt itself", "--model", "m"]);
        assert_eq!(
            plan.told,
            "chat, model m, prompt of 17 characters, at most 128 tokens"
        );
    }

    #[test]
    fn a_file_that_is_no_certificate_is_told_with_its_name() {
        let error = Plan::of(&probe(&["https://h", "--ca", "/no/such.pem"]), |_| None);
        let error = error.err().unwrap().to_string();
        assert!(
            error.starts_with("--ca /no/such.pem: cannot be read"),
            "{error}"
        );
    }
}
