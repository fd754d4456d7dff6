//! OpenAI's Responses: API reference, "Streaming events". Output comes in items, each added, filled by deltas and done;
//! every event has its number; the end is `response.completed` or `response.incomplete`, with all of it once more.

use super::{Answer, Dialect, Pen, Said, quoted};

/// The dialect, and where in the response it is.
#[derive(Default)]
pub(super) struct Responses {
    begun: bool,
    /// Events so far.
    sequence: u64,
    /// Items that are done.
    items: Vec<String>,
    open: Option<Item>,
}

/// The item that is open.
struct Item {
    kind: Kind,
    id: String,
    /// The text or the arguments so far.
    text: String,
    /// The id of the call and the name of the function.
    call: (String, String),
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Message,
    Reasoning,
    Call,
}

impl Dialect for Responses {
    fn say(&mut self, said: &Said, answer: &Answer, pen: &mut Pen) {
        if answer.status >= 400 {
            if let Said::Error(message) = said {
                pen.event("", &self.error(answer.status, message));
            }
            return;
        }
        self.begin(answer, pen);
        match said {
            Said::Content(text) => self.delta(Kind::Message, text, answer, pen),
            Said::Reasoning(text) => self.delta(Kind::Reasoning, text, answer, pen),
            Said::Tool(_) => {
                self.close(pen);
                self.open(Kind::Call, answer, pen);
            }
            Said::Arguments(text) if self.is_open(Kind::Call) => {
                self.delta(Kind::Call, text, answer, pen);
            }
            Said::Finish(_) => self.close(pen),
            Said::Done => {
                self.close(pen);
                let (kind, status) = match answer.finish() {
                    "length" | "content_filter" => ("response.incomplete", "incomplete"),
                    _ => ("response.completed", "completed"),
                };
                let response = response(answer, status, &self.items.join(","));
                self.event(kind, &format!(r#""response":{response}"#), pen);
            }
            Said::Error(message) => {
                let rest = format!(
                    r#""code":"server_error","message":{},"param":null"#,
                    quoted(message)
                );
                self.event("error", &rest, pen);
            }
            Said::Role | Said::Arguments(_) | Said::Usage => {}
        }
    }

    fn whole(&self, answer: &Answer) -> String {
        // what the stream would have had in its last event
        let status = match answer.finish() {
            "length" | "content_filter" => "incomplete",
            _ => "completed",
        };
        let open = self.open.as_ref().map(|item| item.json(true));
        let items: Vec<String> = self.items.iter().cloned().chain(open).collect();
        response(answer, status, &items.join(","))
    }

    fn error(&self, status: u16, message: &str) -> String {
        super::error_object(status, message)
    }
}

impl Responses {
    fn begin(&mut self, answer: &Answer, pen: &mut Pen) {
        if !std::mem::replace(&mut self.begun, true) {
            let response = format!(r#""response":{}"#, response(answer, "in_progress", ""));
            self.event("response.created", &response, pen);
            self.event("response.in_progress", &response, pen);
        }
    }

    /// Text for an item of that kind, which is opened first if it is not.
    fn delta(&mut self, kind: Kind, text: &str, answer: &Answer, pen: &mut Pen) {
        if !self.is_open(kind) {
            self.close(pen);
            self.open(kind, answer, pen);
        }
        let place = self.place(kind);
        if let Some(item) = &mut self.open {
            item.text.push_str(text);
        }
        let rest = format!(r#"{place},"delta":{}"#, quoted(text));
        let rest = match kind {
            Kind::Message => format!(r#"{rest},"logprobs":[]"#),
            _ => rest,
        };
        self.event(&format!("{}.delta", kind.events()), &rest, pen);
    }

    fn is_open(&self, kind: Kind) -> bool {
        self.open.as_ref().is_some_and(|item| item.kind == kind)
    }

    fn open(&mut self, kind: Kind, answer: &Answer, pen: &mut Pen) {
        let number = self.items.len();
        let call = match (kind, answer.tools.last()) {
            (Kind::Call, Some(tool)) => (answer.call_id(answer.tools.len() - 1), tool.name.clone()),
            _ => Default::default(),
        };
        let item = Item {
            kind,
            id: format!("{}_simulated_{}_{number}", kind.prefix(), answer.number),
            text: String::new(),
            call,
        };
        let added = format!(r#""output_index":{number},"item":{}"#, item.json(false));
        let part = item.part();
        self.open = Some(item);
        self.event("response.output_item.added", &added, pen);
        if let Some(event) = kind.part_events() {
            let rest = format!(r#"{},"part":{part}"#, self.place(kind));
            self.event(&format!("{event}.added"), &rest, pen);
        }
    }

    /// Ends the open item.
    fn close(&mut self, pen: &mut Pen) {
        let Some(kind) = self.open.as_ref().map(|item| item.kind) else {
            return;
        };
        let place = self.place(kind);
        let Some(item) = self.open.take() else {
            return;
        };
        let key = if kind == Kind::Call {
            "arguments"
        } else {
            "text"
        };
        let mut rest = format!(r#"{place},"{key}":{}"#, quoted(&item.text));
        match kind {
            Kind::Message => rest.push_str(r#","logprobs":[]"#),
            Kind::Call => rest.push_str(&format!(r#","name":{}"#, quoted(&item.call.1))),
            Kind::Reasoning => {}
        }
        self.event(&format!("{}.done", kind.events()), &rest, pen);
        if let Some(event) = kind.part_events() {
            let rest = format!(r#"{place},"part":{}"#, item.part());
            self.event(&format!("{event}.done"), &rest, pen);
        }
        let number = self.items.len();
        self.items.push(item.json(true));
        let done = format!(r#""output_index":{number},"item":{}"#, self.items[number]);
        self.event("response.output_item.done", &done, pen);
    }

    /// Which item, and which part of it.
    fn place(&self, kind: Kind) -> String {
        let id = self.open.as_ref().map_or("", |item| &item.id);
        let index = self.items.len();
        let part = match kind {
            Kind::Message => r#","content_index":0"#,
            Kind::Reasoning => r#","summary_index":0"#,
            Kind::Call => "",
        };
        format!(r#""item_id":"{id}","output_index":{index}{part}"#)
    }

    fn event(&mut self, kind: &str, rest: &str, pen: &mut Pen) {
        let number = self.sequence;
        self.sequence += 1;
        let payload = format!(r#"{{"type":"{kind}","sequence_number":{number},{rest}}}"#);
        pen.event(kind, &payload);
    }
}

impl Kind {
    /// The start of the ids.
    fn prefix(self) -> &'static str {
        match self {
            Self::Message => "msg",
            Self::Reasoning => "rs",
            Self::Call => "fc",
        }
    }

    /// The events with its text, without `.delta` and `.done`.
    fn events(self) -> &'static str {
        match self {
            Self::Message => "response.output_text",
            Self::Reasoning => "response.reasoning_summary_text",
            Self::Call => "response.function_call_arguments",
        }
    }

    /// The events of its one part, without `.added` and `.done`.
    fn part_events(self) -> Option<&'static str> {
        match self {
            Self::Message => Some("response.content_part"),
            Self::Reasoning => Some("response.reasoning_summary_part"),
            Self::Call => None,
        }
    }
}

impl Item {
    fn part(&self) -> String {
        let text = quoted(&self.text);
        match self.kind {
            Kind::Message => {
                format!(r#"{{"type":"output_text","annotations":[],"logprobs":[],"text":{text}}}"#)
            }
            _ => format!(r#"{{"type":"summary_text","text":{text}}}"#),
        }
    }

    fn json(&self, done: bool) -> String {
        let status = if done { "completed" } else { "in_progress" };
        let part = if done { self.part() } else { String::new() };
        let id = &self.id;
        match self.kind {
            Kind::Message => format!(
                r#"{{"id":"{id}","type":"message","status":"{status}","content":[{part}],"role":"assistant"}}"#
            ),
            Kind::Reasoning => format!(r#"{{"id":"{id}","type":"reasoning","summary":[{part}]}}"#),
            Kind::Call => format!(
                r#"{{"id":"{id}","type":"function_call","status":"{status}","arguments":{},"call_id":"{}","name":{}}}"#,
                quoted(&self.text),
                self.call.0,
                quoted(&self.call.1)
            ),
        }
    }
}

fn response(answer: &Answer, status: &str, output: &str) -> String {
    let (usage, details) = match status {
        "in_progress" => ("null".to_owned(), "null".to_owned()),
        "incomplete" => (
            usage(answer),
            format!(r#"{{"reason":"{}"}}"#, reason(answer.finish())),
        ),
        _ => (usage(answer), "null".to_owned()),
    };
    format!(
        r#"{{"id":"resp_simulated_{}","object":"response","created_at":{},"status":"{status}","background":false,"error":null,"incomplete_details":{details},"instructions":null,"max_output_tokens":null,"model":{},"output":[{output}],"parallel_tool_calls":true,"previous_response_id":null,"reasoning":{{"effort":null,"summary":null}},"store":false,"temperature":1.0,"text":{{"format":{{"type":"text"}}}},"tool_choice":"auto","tools":[],"top_p":1.0,"truncation":"disabled","usage":{usage},"user":null,"metadata":{{}}}}"#,
        answer.number,
        answer.created,
        quoted(&answer.model)
    )
}

fn usage(answer: &Answer) -> String {
    let (input, output) = (answer.prompt_tokens, answer.tokens);
    format!(
        r#"{{"input_tokens":{input},"input_tokens_details":{{"cached_tokens":0}},"output_tokens":{output},"output_tokens_details":{{"reasoning_tokens":{}}},"total_tokens":{}}}"#,
        answer.reasoning_tokens,
        input + output
    )
}

/// Why a response is incomplete.
fn reason(finish: &str) -> &str {
    match finish {
        "length" => "max_output_tokens",
        other => other,
    }
}
