//! What all events of one response said, added up. Texts go by; only numbers stay.

use xxhash_rust::xxh3::xxh3_64;

use super::dialect::{self, Api, InBandError, Payload, shape};
use super::framing::Frame;
use super::record::{ServerSays, Tokens};

/// Longest model name or answer id that is kept, in bytes.
const LABEL_LIMIT: usize = 256;

/// An API shows its shape in its first events or never.
const STRANGERS_LIMIT: u8 = 32;

/// What an event is to the clock.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Event {
    /// Carries reasoning.
    pub reasoning: bool,
    /// Carries answer output.
    pub answer: bool,
    /// Carries a piece of a tool call.
    pub tool: bool,
    /// Is the protocol's end marker.
    pub done: bool,
}

impl Event {
    /// Whether it carries generated output.
    pub fn is_token(&self) -> bool {
        self.reasoning || self.answer || self.tool
    }
}

/// The sum of all events so far.
#[derive(Debug)]
pub struct Content {
    /// The API, by the path until an event shows its shape.
    pub api: Api,
    recognised: bool,
    /// Events in which no shape was found.
    strangers: u8,
    /// Comments, pings and events without content.
    pub keepalives: u64,
    /// Events with an empty text and nothing else.
    pub empty_deltas: u64,
    /// End markers.
    pub done_markers: u64,
    /// Events that should be JSON and are not.
    pub parse_errors: u64,
    /// Events that were too large to look into.
    pub too_large: u64,
    /// The latest token counts.
    pub tokens: Tokens,
    /// The latest times of the server's own.
    pub server_says: ServerSays,
    /// The first model named.
    pub model: Option<String>,
    /// The first id given.
    pub id: Option<String>,
    /// The first error object.
    pub error: Option<InBandError>,
    /// Fields of Azure's content filter were seen.
    pub azure_filter: bool,
    /// A tool call came in one event with its name and its arguments.
    pub whole_tool_call: bool,
    /// Something came after the end marker.
    pub after_done: bool,
    /// The last event lacks its end.
    pub unterminated: bool,
    /// And cannot be read.
    pub broken_end: bool,
    choices: u64,
    finished: u64,
    chars: u64,
    repeats: Repeats,
}

impl Content {
    /// Nothing yet, of a response of `api`.
    pub fn new(api: Api) -> Self {
        Content {
            api,
            recognised: false,
            strangers: 0,
            keepalives: 0,
            empty_deltas: 0,
            done_markers: 0,
            parse_errors: 0,
            too_large: 0,
            tokens: Tokens::default(),
            server_says: ServerSays::default(),
            model: None,
            id: None,
            error: None,
            azure_filter: false,
            whole_tool_call: false,
            after_done: false,
            unterminated: false,
            broken_end: false,
            choices: 0,
            finished: 0,
            chars: 0,
            repeats: Repeats::default(),
        }
    }

    /// Takes what the decoder found; gives the event in it, if it is one.
    pub fn take(&mut self, frame: Frame<'_>) -> Option<Event> {
        if let Frame::Event { data, .. } = frame
            && self.is_farewell(data)
        {
            return Some(Event::default());
        }
        self.after_done |= self.done_markers > 0;
        match frame {
            Frame::Event { name, data } => {
                let payload = self.read(name, data);
                Some(self.add(payload))
            }
            Frame::Comment | Frame::Empty { .. } => {
                self.keepalives += 1;
                None
            }
            Frame::TooLarge { .. } => {
                self.too_large += 1;
                Some(Event::default())
            }
        }
    }

    /// Takes an event that the body's end left without a blank line. The grammar drops it, but it
    /// is evidence: it counts if it can be read.
    pub fn take_unterminated(&mut self, frame: Frame<'_>) -> Option<Event> {
        self.unterminated = true;
        self.after_done |= self.done_markers > 0;
        let Frame::Event { name, data } = frame else {
            return None;
        };
        let payload = self.read(name, data);
        self.broken_end = payload.not_json;
        (!payload.not_json).then(|| self.add(payload))
    }

    /// Takes a body that is one JSON value: it has no events, but it names its model and usage.
    pub fn take_whole(&mut self, body: &[u8]) {
        let payload = self.read(b"", body);
        if !payload.not_json {
            self.add(payload);
        }
    }

    /// How many choices there are.
    pub fn choices(&self) -> u64 {
        self.choices.count_ones().max(1).into()
    }

    /// Whether every choice has its finish reason.
    pub fn is_finished(&self) -> bool {
        self.choices != 0 && self.choices == self.finished
    }

    /// Unicode scalars of output on all channels.
    pub fn chars(&self) -> u64 {
        self.chars - self.repeats.repeated()
    }

    fn read<'a>(&mut self, name: &[u8], data: &'a [u8]) -> Payload<'a> {
        if !self.recognised && self.strangers < STRANGERS_LIMIT {
            match shape::of(name, data) {
                Some(api) => (self.api, self.recognised) = (api, true),
                None => self.strangers += 1,
            }
        }
        dialect::read(self.api, name, data)
    }

    /// Whether it is the end marker of OpenAI's chat after that of another API: gateways add it for
    /// clients that wait for nothing else. It is no second end.
    fn is_farewell(&self, data: &[u8]) -> bool {
        let has_own_end =
            self.api.has_end_marker() && !matches!(self.api, Api::Chat | Api::Completions);
        has_own_end && self.done_markers == 1 && data.trim_ascii() == b"[DONE]"
    }

    fn add(&mut self, payload: Payload<'_>) -> Event {
        self.keepalives += u64::from(payload.keepalive);
        self.empty_deltas += u64::from(payload.empty_delta);
        self.done_markers += u64::from(payload.done);
        self.azure_filter |= payload.azure_filter;
        self.whole_tool_call |= payload.whole_tool_call;
        self.choices |= payload.choices;
        self.finished |= payload.finished;
        self.parse_errors += u64::from(payload.not_json && self.api.is_json());
        if let Some(tokens) = payload.usage {
            self.tokens = tokens.over(self.tokens);
        }
        if let Some(says) = payload.server_says {
            self.server_says = says;
        }
        let label = |text: &dialect::Text<'_>| text.to_label(LABEL_LIMIT);
        if self.model.is_none() {
            self.model = payload.model.as_ref().map(label);
        }
        if self.id.is_none() {
            self.id = payload.id.as_ref().map(label);
        }
        self.chars += payload.reasoning.chars + payload.answer.chars + payload.tool.chars;
        if let Some(text) = &payload.text {
            self.repeats.take(text.as_bytes(), text.chars());
        }
        let event = Event {
            reasoning: payload.reasoning.present,
            answer: payload.answer.present,
            tool: payload.tool.present,
            done: payload.done,
        };
        if self.error.is_none() {
            self.error = payload.error;
        }
        event
    }
}

/// Finds out whether each text repeats the one before it and goes on, as some servers do, by
/// lengths and hashes alone.
#[derive(Debug, Default)]
struct Repeats {
    texts: u64,
    broken: bool,
    length: usize,
    hash: u64,
    /// Characters of all texts but the last.
    earlier: u64,
    chars: u64,
}

impl Repeats {
    /// So many texts that each begin with the one before are no chance ("1", "10" is).
    const PROOF: u64 = 3;

    fn take(&mut self, text: &[u8], chars: u64) {
        if self.broken {
            return;
        }
        let goes_on = text.len() > self.length && xxh3_64(&text[..self.length]) == self.hash;
        if self.texts > 0 && !goes_on {
            self.broken = true;
            return;
        }
        self.texts += 1;
        self.earlier += self.chars;
        (self.chars, self.length, self.hash) = (chars, text.len(), xxh3_64(text));
    }

    /// Characters that were counted more than once.
    fn repeated(&self) -> u64 {
        if self.broken || self.texts < Self::PROOF {
            0
        } else {
            self.earlier
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn content(events: &[&str]) -> Content {
        let mut content = Content::new(Api::Sse);
        for data in events {
            content.take(Frame::Event {
                name: b"",
                data: data.as_bytes(),
            });
        }
        content
    }

    #[test]
    fn texts_that_repeat_all_so_far_count_once() {
        let texts = |texts: &[&str]| {
            let events: Vec<String> = texts
                .iter()
                .map(|text| format!(r#"{{"text":"{text}"}}"#))
                .collect();
            content(&events.iter().map(String::as_str).collect::<Vec<_>>()).chars()
        };
        assert_eq!(texts(&["Al", "Alpha", "Alpha be", "Alpha beta"]), 10);
        assert_eq!(texts(&["w ", "w ", "w ", "w "]), 8);
        assert_eq!(texts(&["a", "ab"]), 3);
        assert_eq!(texts(&["a", "ab", "abc", "x"]), 7);
    }

    #[test]
    fn an_unknown_stream_is_named_by_what_it_carries() {
        assert_eq!(content(&[r#"{"x":1}"#]).api, Api::Sse);
        assert_eq!(content(&[r#"{"choices":[{"delta":{}}]}"#]).api, Api::Chat);
        assert_eq!(content(&["plain words"]).parse_errors, 0);
        let completion = r#"{"choices":[{"text":"a"}]}"#;
        assert_eq!(content(&[completion, "plain words"]).parse_errors, 1);
        // A bare text is anyone's, so what it comes in needs no end marker.
        assert_eq!(content(&[r#"{"text":"a"}"#]).api, Api::Sse);
    }

    #[test]
    fn finished_means_every_choice() {
        let one = r#"{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}"#;
        let two = r#"{"choices":[{"index":1,"delta":{"content":"x"}}]}"#;
        assert!(content(&[one]).is_finished());
        assert!(!content(&[one, two]).is_finished());
        assert!(!content(&[]).is_finished());
    }
}
