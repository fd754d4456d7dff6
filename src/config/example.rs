//! `config/example.toml`, written from the flags' own definitions so that it cannot fall behind
//! them.

use clap::{Args, Command};

use super::settings::{DEFAULTS, EXAMPLES, Settings};

const HEAD: &str = "\
# Settings of `dripline proxy --config FILE`: every key, with its default where it has one.
# A key is the long flag's name; the same setting is also a variable (pool-idle: DRIPLINE_POOL_IDLE).
# Flags win over variables, variables over this file, this file over the defaults.
# Relative paths start in the folder dripline runs in. Durations: 500ms, 30s, 1m30s.
# This file is generated; `cargo test` tells when it is out of date.
";

/// The text of the example file: all keys, commented out, each under its help.
pub fn example() -> String {
    let value_lines: Vec<&str> = DEFAULTS.lines().chain(EXAMPLES.lines()).collect();
    let mut text = HEAD.to_owned();
    let mut section = None;
    for arg in Settings::augment_args(Command::new("")).get_arguments() {
        let Some(line) = arg.get_long().and_then(|key| {
            value_lines
                .iter()
                .find(|line| line.split(" = ").next() == Some(key))
        }) else {
            continue; // --config itself is no key
        };
        if section != arg.get_help_heading() {
            section = arg.get_help_heading();
            text += &format!("\n## {}\n", section.unwrap_or_default());
        }
        let help = arg.get_help().map(ToString::to_string).unwrap_or_default();
        text += &format!("\n# {help}.\n# {line}\n");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn uncommented_it_is_a_file_that_sets_every_key() {
        let keys = Settings::augment_args(Command::new(""))
            .get_arguments()
            .count()
            - 1;
        let lines: Vec<String> = example()
            .lines()
            .filter_map(|line| line.strip_prefix("# ").filter(|line| line.contains(" = ")))
            .map(str::to_owned)
            .collect();
        assert_eq!(lines.len(), keys);
        let all: Settings = toml::from_str(&lines.join("\n")).unwrap();
        let [defaults, examples] =
            [DEFAULTS, EXAMPLES].map(|layer| toml::from_str::<Settings>(layer).unwrap());
        assert_eq!(all, defaults.over(examples));
    }
}
