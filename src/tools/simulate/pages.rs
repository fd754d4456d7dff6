//! What the simulated server answers beside generations: what it is, its scenarios as models, errors. All of it JSON.

use serde_json::{Value, json};

use super::events::error_object;
use super::route::Route;
use super::scenario::Scenario;
use super::script::reason;

/// A short answer: status and body.
pub(super) struct Page {
    pub status: u16,
    body: String,
}

impl Page {
    /// The answer to a request that starts no generation.
    pub fn of(method: &str, path: &str, scenarios: &[Scenario], created: u64) -> Self {
        let read = matches!(method, "GET" | "HEAD");
        match path {
            "/" if read => Self::ok(about(scenarios)),
            "/v1/models" if read => {
                let models: Vec<Value> = scenarios
                    .iter()
                    .map(|scenario| model(scenario, created))
                    .collect();
                Self::ok(json!({"object": "list", "data": models}))
            }
            path if Route::known(path, "").is_some() => {
                Self::error(405, &format!("{method} is not possible on {path}"))
            }
            _ => {
                let name = path.strip_prefix("/v1/models/").filter(|_| read);
                match name
                    .and_then(|name| scenarios.iter().find(|scenario| scenario.is_called(name)))
                {
                    Some(scenario) => Self::ok(model(scenario, created)),
                    None => Self::error(
                        404,
                        "the simulated server has nothing to read here; try POST /v1/chat/completions or GET /v1/models",
                    ),
                }
            }
        }
    }

    /// An error in OpenAI's shape.
    pub fn error(status: u16, message: &str) -> Self {
        Self {
            status,
            body: error_object(status, message),
        }
    }

    /// The answer's bytes. To HEAD it is the head alone.
    pub fn bytes(&self, method: &str, keep_alive: bool) -> Vec<u8> {
        let close = if keep_alive {
            ""
        } else {
            "Connection: close\r\n"
        };
        let body = if method == "HEAD" { "" } else { &self.body };
        format!(
            "HTTP/1.1 {} {}\r\nServer: dripline-simulate\r\nContent-Type: application/json\r\nContent-Length: {}\r\n{close}\r\n{body}",
            self.status,
            reason(self.status),
            self.body.len(),
        )
        .into_bytes()
    }

    fn ok(body: Value) -> Self {
        Self {
            status: 200,
            body: body.to_string(),
        }
    }
}

fn about(scenarios: &[Scenario]) -> Value {
    let names: Vec<&str> = scenarios
        .iter()
        .map(|scenario| scenario.name.as_str())
        .collect();
    json!({
        "server": "dripline-simulate",
        "simulated": true,
        "note": "No model runs here. Answers are scripted: a request's model name picks the scenario.",
        "scenarios": names,
    })
}

fn model(scenario: &Scenario, created: u64) -> Value {
    json!({
        "id": scenario.name,
        "object": "model",
        "created": created,
        "owned_by": "dripline-simulate",
        "description": scenario.about,
    })
}
