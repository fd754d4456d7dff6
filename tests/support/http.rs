//! HTTP/1.1 messages as bytes: heads kept as they were on the wire, bodies freed of their framing.

/// A message head as it came, blank line included.
#[derive(Debug, Clone)]
pub struct Head(pub Vec<u8>);

impl Head {
    /// Takes a whole head off the front of `bytes`.
    pub fn take(bytes: &mut Vec<u8>) -> Option<Head> {
        let end = bytes.windows(4).position(|w| w == b"\r\n\r\n")? + 4;
        let rest = bytes.split_off(end);
        Some(Head(std::mem::replace(bytes, rest)))
    }

    /// The request line or status line.
    pub fn start_line(&self) -> String {
        self.lines().next().unwrap_or_default()
    }

    /// The method of a request.
    pub fn method(&self) -> String {
        self.start_line()
            .split(' ')
            .next()
            .unwrap_or_default()
            .to_owned()
    }

    /// The status of a response, 0 when there is none.
    pub fn status(&self) -> u16 {
        self.start_line()
            .split(' ')
            .nth(1)
            .and_then(|code| code.parse().ok())
            .unwrap_or(0)
    }

    /// The field lines in order, as they were written.
    pub fn fields(&self) -> Vec<String> {
        self.lines()
            .skip(1)
            .filter(|line| !line.is_empty())
            .collect()
    }

    /// The value of the first field of that name, whatever its case.
    pub fn get(&self, name: &str) -> Option<String> {
        self.fields().iter().find_map(|line| {
            let (field, value) = line.split_once(':')?;
            field
                .eq_ignore_ascii_case(name)
                .then(|| value.trim().to_owned())
        })
    }

    /// Whether the body is chunked.
    pub fn chunked(&self) -> bool {
        self.get("transfer-encoding")
            .is_some_and(|value| value.eq_ignore_ascii_case("chunked"))
    }

    fn length(&self) -> Option<usize> {
        self.get("content-length")?.parse().ok()
    }

    /// Bytes that are no UTF-8 become their Latin-1 character, so that no two heads look the same.
    fn lines(&self) -> impl Iterator<Item = String> {
        self.0.split(|byte| *byte == b'\n').map(|line| {
            line.strip_suffix(b"\r")
                .unwrap_or(line)
                .iter()
                .map(|byte| char::from(*byte))
                .collect()
        })
    }
}

/// A body freed of its framing, as far as it has come.
#[derive(Debug)]
pub struct Body {
    /// What came.
    pub bytes: Vec<u8>,
    /// Its framing says that it is whole. Never true for a body that ends with the connection.
    pub whole: bool,
    /// The length of each HTTP chunk that came whole.
    pub chunks: Vec<usize>,
    /// The trailer lines of a chunked body.
    pub trailers: Vec<String>,
    /// The chunked framing does not hold; nothing was taken from there on.
    pub broken: bool,
    state: State,
    line: Vec<u8>,
}

#[derive(Debug, PartialEq)]
enum State {
    Length(usize),
    UntilClose,
    ChunkHead,
    Chunk { size: usize, left: usize },
    ChunkEnd,
    Trailers,
}

impl Body {
    /// The body of the request with that head.
    pub fn of_request(head: &Head) -> Body {
        Body::new(if head.chunked() {
            State::ChunkHead
        } else {
            State::Length(head.length().unwrap_or(0))
        })
    }

    /// The body of the response with that head to a request of that method.
    pub fn of_response(head: &Head, method: &str) -> Body {
        Body::new(if method == "HEAD" || matches!(head.status(), 204 | 304) {
            State::Length(0)
        } else if head.status() == 101 {
            State::UntilClose
        } else if head.chunked() {
            State::ChunkHead
        } else {
            head.length().map_or(State::UntilClose, State::Length)
        })
    }

    fn new(state: State) -> Body {
        let whole = state == State::Length(0);
        Body {
            bytes: vec![],
            whole,
            chunks: vec![],
            trailers: vec![],
            broken: false,
            state,
            line: vec![],
        }
    }

    /// Whether the body ends with the connection.
    pub fn ends_with_connection(&self) -> bool {
        self.state == State::UntilClose
    }

    /// Takes what belongs to this body off `input` and says how many bytes that were.
    pub fn push(&mut self, input: &[u8]) -> usize {
        let mut at = 0;
        while at < input.len() && !self.whole && !self.broken {
            at += self.step(&input[at..]);
        }
        at
    }

    fn step(&mut self, input: &[u8]) -> usize {
        match self.state {
            State::UntilClose => self.keep(input, input.len()),
            State::Length(left) => {
                let n = self.keep(input, left);
                self.state = State::Length(left - n);
                self.whole = left == n;
                n
            }
            State::Chunk { size, left } => {
                let n = self.keep(input, left);
                self.state = State::Chunk {
                    size,
                    left: left - n,
                };
                if left == n {
                    self.chunks.push(size);
                    self.state = State::ChunkEnd;
                }
                n
            }
            State::ChunkHead | State::ChunkEnd | State::Trailers => {
                self.line.push(input[0]);
                if self.line.ends_with(b"\r\n") {
                    let line = std::mem::take(&mut self.line);
                    self.on_line(&String::from_utf8_lossy(&line[..line.len() - 2]));
                }
                1
            }
        }
    }

    fn on_line(&mut self, line: &str) {
        let size = line.split(';').next().unwrap_or_default().trim();
        let size = usize::from_str_radix(size, 16);
        self.state = match (&self.state, size) {
            (State::ChunkHead, Ok(0)) => State::Trailers,
            (State::ChunkHead, Ok(size)) => State::Chunk { size, left: size },
            (State::ChunkEnd, _) if line.is_empty() => State::ChunkHead,
            (State::Trailers, _) => {
                self.whole = line.is_empty();
                self.trailers
                    .extend((!line.is_empty()).then(|| line.to_owned()));
                State::Trailers
            }
            _ => {
                self.broken = true;
                return;
            }
        };
    }

    fn keep(&mut self, input: &[u8], most: usize) -> usize {
        let n = most.min(input.len());
        self.bytes.extend_from_slice(&input[..n]);
        n
    }
}
