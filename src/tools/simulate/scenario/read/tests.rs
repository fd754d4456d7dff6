use super::*;

fn read(text: &str) -> Scenario {
    scenario("t", "t.toml", text).unwrap()
}

fn error(text: &str) -> String {
    scenario("t", "t.toml", text).unwrap_err().to_string()
}

#[test]
fn a_script_reads_step_by_step() {
    let steps = r#"steps = [
        { wait = "1.5s" },
        { head = true },
        { write = ["role", { content = "a", repeat = 3 }], times = 2, every = "5ms..7ms", split = [2, -1], pad = 99, cut = 9 },
        { each = ["done", { hex = "e9 82A3" }, { words = "1..5" }, { finish = "stop", choice = 1 }], split = 7 },
        { end = "reset" },
    ]"#;
    let scenario = read(steps);
    let write = Write {
        writes: vec![vec![Piece::Role, Piece::Content("aaa".to_owned())]],
        times: 2,
        every: Pause {
            min: Duration::from_millis(5),
            max: Duration::from_millis(7),
        },
        split: Split::At(vec![2, -1]),
        pad: Some(99),
        cut: Some(9),
    };
    let each = Write {
        writes: vec![
            vec![Piece::Done],
            vec![Piece::Raw(vec![0xE9, 0x82, 0xA3])],
            vec![Piece::Words(1, 5)],
            vec![Piece::Choice(1, Piece::Finish("stop".to_owned()).into())],
        ],
        split: Split::Each(7),
        ..Write::once(vec![])
    };
    let wait = Step::Wait(Pause::exactly(Duration::from_millis(1500)));
    assert_eq!(
        scenario.steps,
        [wait, Step::Head, Step::Write(write), Step::Write(each)]
    );
    assert_eq!(scenario.end, End::Reset);
    assert_eq!((scenario.status, scenario.framing), (200, Framing::Chunked));
}

#[test]
fn what_stands_beside_the_steps() {
    let scenario = read(
        "status = 429\nframing = 'length'\nheaders = ['Retry-After: 7', 'Cache-Control:']\n\
         gzip = 'no-flush'\nhold = { bytes = 10 }\nsteps = [{ write = { text = 'busy' } }]",
    );
    assert_eq!((scenario.status, scenario.framing), (429, Framing::Length));
    assert_eq!(
        scenario.headers[0],
        ("Retry-After".to_owned(), "7".to_owned())
    );
    assert_eq!(
        scenario.headers[1],
        ("Cache-Control".to_owned(), String::new())
    );
    assert_eq!(
        (scenario.compression, scenario.hold),
        (
            Some(Compression {
                coding: Coding::Gzip,
                flush: false
            }),
            Some(Hold::Bytes(10))
        )
    );
}

#[test]
fn errors_name_file_line_key_and_a_fix() {
    let wrong = [
        (
            "steps = [\n  { wait = \"20\" },\n]",
            "t.toml:2: steps[1].wait = \"20\" is not a duration; write a number with its unit",
        ),
        (
            "\nframing = \"chunk\"\nsteps = []",
            "t.toml:2: framing = \"chunk\" is not known; write \"chunked\" or \"length\"",
        ),
        (
            "stat = 200\nsteps = []",
            "t.toml:1: a scenario has no key 'stat'; the keys here are about, status",
        ),
        ("status = 200", "has no steps; write steps = ["),
        (
            "status = 100\nsteps = []",
            "status = 100 is no final status code",
        ),
        (
            "steps = [{ write = [], times = 4000000000 }]",
            "longer than 256 MiB",
        ),
        ("steps = [{ wait = \"9000h\" }]", "is longer than a year"),
        (
            "status = 204\nsteps = []",
            "status = 204 has no body to script",
        ),
        (
            "steps = [{ writ = \"word\" }]",
            "steps[1] has no key 'writ'; the keys here are wait, interim, head, write",
        ),
        (
            "steps = [{ times = 3 }]",
            "steps[1] says nothing to do; give it one of wait, interim, head, write, each, end",
        ),
        (
            "steps = [{ write = \"wrod\" }]",
            "steps[1].write = \"wrod\" is not known; write \"role\" or \"word\"",
        ),
        (
            "steps = [{ each = [\"word\", 3] }]",
            "steps[1].each[2] is the number 3 and should be a text",
        ),
        (
            "steps = [{ write = { hex = \"E9 8\" } }]",
            "steps[1].write.hex is not hexadecimal; write two digits",
        ),
        (
            "steps = [{ write = \"word\", wait = \"1s\" }]",
            "has both wait and write; make two of it",
        ),
        (
            "steps = [{ wait = \"9ms..3ms\" }]",
            "runs backwards; write \"3ms..9ms\"",
        ),
        (
            "steps = [{ end = \"close\" }, { wait = \"1s\" }]",
            "steps follow it; make it the last step",
        ),
        (
            "steps = [{ write = \"word\" }, { head = true }]",
            "steps[2].head comes too late",
        ),
        (
            "steps = [{ write = \"word\", times = -1 }]",
            "steps[1].times is the number -1 and should be a whole number",
        ),
        (
            "steps = [{ write = \"word\", times = 4000000000 }]",
            "longer than 256 MiB; repeat it less often",
        ),
        (
            "headers = [\"X-Y\"]\nsteps = []",
            "headers[1] = \"X-Y\" is no header field; write headers as",
        ),
        (
            "br = \"flush\"\ngzip = \"flush\"\nsteps = []",
            "is a second compression; leave one",
        ),
        (
            "steps = [{ write = { words = \"5..1\" } }]",
            "words = \"5..1\" is no range; write how many",
        ),
        (
            "steps = [{ write = \"word\", split = 0 }]",
            "steps[1].split = 0 never ends",
        ),
        (
            "steps = [{ write = { error = \"x\", choice = 1 } }]",
            "choice stands beside what belongs to no choice",
        ),
        (
            "steps = [{ head = true }, { interim = 103 }]",
            "steps[2].interim comes too late",
        ),
        (
            "hold = { bytes = 0 }\nsteps = []",
            "hold.bytes = 0 holds nothing",
        ),
        ("status = \nsteps = []", "t.toml:1: this is not TOML"),
    ];
    for (text, expected) in wrong {
        let error = error(text);
        assert!(
            error.contains(expected),
            "\n  of {text}\n  got {error}\n  expected {expected}"
        );
    }
}
