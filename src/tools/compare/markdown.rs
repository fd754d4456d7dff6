//! The comparison as GitHub-flavoured Markdown, for a pull request.
//!
//! Names come from logs, so from whoever sent a request. They stand as code, in which nothing is a link, a mention, HTML
//! or markup; the table has only words of our own.

use super::limits::Checked;
use super::print::{about, notes};
use super::sentences::sentences;
use super::unit::relative;
use super::unlike::unlike;
use super::{Compared, table};
use crate::sink::console::text::{NONE, shown};

/// Characters of a name.
const NAME: usize = 80;

/// The comparison, and what became of the conditions.
pub fn text(compared: &Compared, checked: &[Checked]) -> String {
    let Compared {
        before,
        after,
        figures,
        seed,
    } = compared;
    let mut text = String::new();
    let mut line = |line: &str| {
        text.push_str(line);
        text.push('\n');
    };
    for sentence in sentences(figures, before, after) {
        line(&format!("- {sentence}"));
    }
    for checked in checked {
        line(&format!(
            "- `--fail-if` {}: {}",
            code(&checked.condition),
            checked.found
        ));
    }
    for unlike in unlike(before, after, code) {
        line("");
        line(&format!("> **Not alike.** {}", unlike.sentence));
    }
    line("");
    line("| | before | after | change | | 95% CI | differs |");
    line("|---|---:|---:|---:|---:|:---:|---|");
    for figure in figures.all.iter().filter(|figure| table::is_known(figure)) {
        let (estimate, unit) = (&figure.estimate, figure.unit);
        let by = estimate
            .difference()
            .map_or(NONE.to_owned(), |difference| unit.signed(difference));
        let part = match unit {
            super::unit::Unit::Share => String::new(),
            _ => relative(estimate).unwrap_or(NONE.to_owned()),
        };
        let answer = match table::answer(figure.differs) {
            "clear" => "**clear**",
            answer => answer,
        };
        line(&format!(
            "| {} | {} | {} | {by} | {part} | {} | {answer} |",
            figure.name,
            unit.value(estimate.before),
            unit.value(estimate.after),
            table::interval(figure)
        ));
    }
    line("");
    line("<details><summary>How this was measured</summary>");
    line("");
    line(&format!("- before: {}", about(before, code)));
    line(&format!("- after: {}", about(after, code)));
    for note in notes(figures, *seed) {
        line(&format!("- {note}"));
    }
    line("");
    line("</details>");
    text
}

/// A name as code. A fence longer than any within ends it and nothing else does.
pub fn code(name: &str) -> String {
    let name = shown(name, NAME);
    if name.trim().is_empty() {
        return "(empty)".to_owned();
    }
    let longest = name.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest + 1);
    // a space beside a fence is taken off again
    match longest {
        0 => format!("{fence}{name}{fence}"),
        _ => format!("{fence} {name} {fence}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_stay_code() {
        assert_eq!(code("llama"), "`llama`");
        assert_eq!(code("a`b"), "`` a`b ``");
        assert_eq!(code("``"), "``` `` ```");
        assert_eq!(code("@everyone <b>|x|"), "`@everyone <b>|x|`");
        assert_eq!(code("a\n\n# b\u{202e}"), "`a\\n\\n# b\\u{202e}`");
        assert_eq!((code(""), code("  ")), ("(empty)".into(), "(empty)".into()));
        assert!(code(&"x".repeat(500)).chars().count() <= NAME + 2);
    }
}
