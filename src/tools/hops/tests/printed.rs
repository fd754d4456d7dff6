//! What is printed: text, JSON, errors.

use std::fs::OpenOptions;
use std::io::Write as _;
use std::path::Path;

use super::streams::*;
use crate::observe::record::RequestRecord;
use crate::sink::console::text::columns;
use crate::tools::hops::{Options, run};
use crate::tools::plot::Look;

/// Both logs of these requests in a folder.
pub fn in_folder(requests: &[[RequestRecord; 2]]) -> (tempfile::TempDir, Options) {
    let dir = tempfile::TempDir::new().unwrap();
    let [inner, outer] = ["inner.jsonl", "outer.jsonl"].map(|name| dir.path().join(name));
    for (side, path) in [&inner, &outer].into_iter().enumerate() {
        let lines = requests.iter().map(|records| line(&records[side]));
        std::fs::write(path, lines.collect::<String>()).unwrap();
    }
    let options = Options {
        inner,
        outer,
        ..Options::default()
    };
    (dir, options)
}

fn line(record: &RequestRecord) -> String {
    serde_json::to_string(record).unwrap() + "\n"
}

/// Two logs of several requests, with damaged lines in them.
fn logs() -> (tempfile::TempDir, Options) {
    let chunks = stream(60, 20_000, 250, 0.3);
    let hops = [
        ("p", passing as Hop),
        ("b", blocks),
        ("w", whole),
        ("l", late),
    ];
    let requests = hops.map(|(id, hop)| both(id, &chunks, hop, id != "l"));
    let (dir, options) = in_folder(&requests);
    let append = |path: &Path, text: &str| {
        let mut file = OpenOptions::new().append(true).open(path).unwrap();
        write!(file, "{text}").unwrap();
    };
    let mut alone = record("xo", "gateway", &chunks, false);
    alone.response.id = None;
    alone.response.body_hash = None;
    append(&options.outer, &line(&alone));
    append(&options.inner, "{\"schema\":1,\"id\":");
    (dir, options)
}

/// What a run prints on both its outputs, without the folder's name.
pub fn printed(options: &Options, dir: &tempfile::TempDir) -> String {
    let (mut out, mut notes) = (vec![], vec![]);
    run(options, &mut out, &mut notes).unwrap();
    let text = String::from_utf8([out, notes].concat()).unwrap();
    text.replace(&format!("{}/", dir.path().display()), "")
}

#[test]
fn the_text_as_it_is_printed() {
    let (dir, options) = logs();
    insta::assert_snapshot!("text", printed(&options, &dir));
    let one = Options {
        id: Some("trace-b".to_owned()),
        ..options
    };
    insta::assert_snapshot!("one", printed(&one, &dir));
}

#[test]
fn the_json_as_it_is_printed() {
    let (dir, options) = logs();
    let json = Options {
        json: true,
        ..options
    };
    let text = printed(&json, &dir);
    let (lines, notes): (Vec<&str>, Vec<&str>) =
        text.lines().partition(|line| line.starts_with('{'));
    assert_eq!(lines.len(), 4);
    assert!(
        notes
            .iter()
            .any(|line| line.contains("inner.jsonl, line 5")),
        "{notes:?}"
    );
    let mut first: serde_json::Value = serde_json::from_str(lines[0]).unwrap();
    let releases = first["waits"]["releases"].as_array_mut().unwrap();
    releases.truncate(1);
    insta::assert_snapshot!("json", serde_json::to_string_pretty(&first).unwrap());
}

#[test]
fn no_name_from_outside_breaks_a_line_or_steers_the_terminal() {
    let mut records = both("a", &stream(60, 20_000, 250, 0.3), passing, true);
    records[1].request.model = Some("\u{1b}[2J模型 模型 ".repeat(20));
    records[1].instance = "門\u{7}".to_owned();
    records[1].response.content_type = Some("text/\u{1b}plain".to_owned());
    let (dir, options) = in_folder(&[records]);
    let text = printed(&options, &dir);
    assert!(
        text.contains("模型") && text.contains("…") && text.contains("門"),
        "{text}"
    );
    assert!(
        !text.chars().any(|c| c.is_control() && c != '\n'),
        "{text:?}"
    );
    for line in text.lines() {
        assert!(columns(line) <= 80, "{line}");
    }
}

#[test]
fn no_line_is_wider_than_the_terminal() {
    let (dir, options) = logs();
    for width in [60, 80, 120] {
        let look = Look {
            width,
            ..Look::default()
        };
        let all = Options {
            all: true,
            look,
            ..options.clone()
        };
        for line in printed(&all, &dir).lines() {
            assert!(
                line.chars().count() <= usize::from(width),
                "{width}: {line}"
            );
        }
    }
}

#[test]
fn what_cannot_be_done_is_said_with_what_to_do() {
    let (dir, options) = logs();
    let error = |options: &Options| {
        let error = run(options, &mut vec![], &mut vec![]).unwrap_err();
        format!("{error:#}").replace(&format!("{}/", dir.path().display()), "")
    };
    let unknown = error(&Options {
        id: Some("nobody".to_owned()),
        ..options.clone()
    });
    assert!(
        unknown.contains("nobody") && unknown.contains("without --id")
            || unknown.contains("Without --id")
    );
    let missing = error(&Options {
        outer: dir.path().join("missing.jsonl"),
        ..options.clone()
    });
    assert!(missing.contains("missing.jsonl"), "{missing}");
    let same = error(&Options {
        outer: options.inner.clone(),
        ..options.clone()
    });
    assert!(same.contains("of the same dripline"), "{same}");
    let other = dir.path().join("other.jsonl");
    let mut record = record("zo", "gateway", &stream(5, 20_000, 250, 0.0), false);
    record.response.id = Some("z".to_owned());
    record.response.body_hash = None;
    std::fs::write(&other, serde_json::to_string(&record).unwrap()).unwrap();
    let apart = error(&Options {
        outer: other,
        ..options.clone()
    });
    insta::assert_snapshot!("nothing_joined", apart);
    let empty = dir.path().join("empty.jsonl");
    std::fs::write(&empty, "{\"a\":1}\n").unwrap();
    let nothing = error(&Options {
        inner: empty,
        ..options
    });
    assert!(
        nothing.starts_with("empty.jsonl has no record (empty.jsonl, line 1: is no record"),
        "{nothing}"
    );
}
