use super::*;

fn scan(body: &str) -> RequestFacts {
    let mut whole = RequestScan::new();
    whole.push(body.as_bytes());
    let mut cut = RequestScan::new();
    body.as_bytes().chunks(1).for_each(|byte| cut.push(byte));
    assert_eq!(whole.facts(), cut.facts(), "{body}");
    whole.facts()
}

fn facts(model: Option<&str>, stream: Option<bool>, has_tools: bool) -> RequestFacts {
    RequestFacts {
        model: model.map(str::to_owned),
        stream,
        has_tools,
    }
}

#[test]
fn fields_anywhere_at_the_top_level() {
    let body = r#" {"messages":[{"role":"user","content":"\"model\":\"x\" \\"}], "model" : "gpt-4o" ,
        "stream":true,"n":1,"tools":[{"type":"function"}]}"#;
    assert_eq!(scan(body), facts(Some("gpt-4o"), Some(true), true));
    assert_eq!(
        scan("\u{FEFF}{\"stream\":false}"),
        facts(None, Some(false), false)
    );
}

#[test]
fn fields_below_the_top_level_do_not_count() {
    let body = r#"{"metadata":{"model":"x","stream":true,"tools":[1]},"a":[{"model":"y"}]}"#;
    assert_eq!(scan(body), facts(None, None, false));
}

#[test]
fn tools_count_if_there_are_any() {
    for (body, has) in [
        (r#"{"tools":[]}"#, false),
        (r#"{"tools":[ ]}"#, false),
        (r#"{"tools":null}"#, false),
        (r#"{"tools":[[]]}"#, true),
        (r#"{"tools":["a"]}"#, true),
        (r#"{"tools":[1]}"#, true),
        (r#"{"functions":[{}]}"#, true),
        (r#"{"tools":{"a":1}}"#, false),
    ] {
        assert_eq!(scan(body).has_tools, has, "{body}");
    }
}

#[test]
fn values_of_another_type_are_none() {
    assert_eq!(
        scan(r#"{"stream":"true","model":5}"#),
        facts(None, None, false)
    );
    assert_eq!(
        scan(r#"{"stream":1,"model":null}"#),
        facts(None, None, false)
    );
    assert_eq!(scan("{\"stream\":tr ue}"), facts(None, None, false));
    assert_eq!(scan("{\"stream\":true \n}"), facts(None, Some(true), false));
}

#[test]
fn the_last_of_two_counts() {
    let body = r#"{"model":"a","stream":true,"tools":[1],"functions":[1],"model":"b","stream":0,"tools":[]}"#;
    assert_eq!(scan(body), facts(Some("b"), None, true));
    assert_eq!(
        scan(r#"{"tools":[1],"tools":[],"model":"a","model":null}"#),
        facts(None, None, false)
    );
}

#[test]
fn escapes_are_read_in_names_and_keys() {
    let body = r#"{"mod\u0065l":"b\u002Fc\n\"","str\eam":true,"\\":"\\"}"#;
    assert_eq!(scan(body), facts(Some("b/c\""), None, false));
}

#[test]
fn of_a_broken_name_remains_what_can_be_read() {
    assert_eq!(scan(r#"{"model":"a\ud83c"}"#).model.as_deref(), Some("a"));
    assert_eq!(scan(r#"{"model":"\q"}"#).model.as_deref(), Some(""));
    let cut_in_escape = format!(r#"{{"model":"{}\u00e9"}}"#, "m".repeat(KEPT - 3));
    assert_eq!(scan(&cut_in_escape).model.map(|m| m.len()), Some(KEPT - 3));
    let mut scan = RequestScan::new();
    scan.push(b"{\"model\":\"a\xFF\x00b\xE9\x82\"}");
    assert_eq!(scan.facts().model.as_deref(), Some("a"));
}

#[test]
fn long_names_are_cut_and_long_values_are_not_held() {
    let body = format!(
        r#"{{"model":"{}","x":"{}","stream":true}}"#,
        "m".repeat(999),
        "y".repeat(99_999)
    );
    let mut scan = RequestScan::new();
    scan.push(body.as_bytes());
    assert!(scan.token.capacity() < 4 * KEPT && scan.key.capacity() < 4 * KEPT);
    let facts = scan.facts();
    assert_eq!(
        (facts.model.map(|m| m.len()), facts.stream),
        (Some(KEPT), Some(true))
    );
}

#[test]
fn what_is_no_object_yields_nothing() {
    for body in [
        "",
        "[1]",
        "hello",
        "\"model\"",
        "{",
        "}{",
        "{]}",
        "{\"model\"",
        "--boundary\r\n{\"stream\":true}",
    ] {
        assert_eq!(scan(body), facts(None, None, false), "{body}");
    }
}
