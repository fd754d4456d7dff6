//! Which letter is which group, told below the scatter.

use ratatui_core::buffer::{Buffer, CellWidth};
use ratatui_core::style::Style;

use super::{Group, SHARED, TITLE, letter_style};

/// For groups past all letters and digits.
const NO_LETTER: char = '*';

/// A letter for each group: the first of its name that is free, else the first free one of all.
pub(super) fn letters(groups: &[Group]) -> Vec<char> {
    let mut used = Vec::new();
    for group in groups {
        let own = group
            .name
            .chars()
            .map(|c| c.to_ascii_lowercase())
            .filter(char::is_ascii_lowercase);
        let letter = own
            .chain('a'..='z')
            .chain('A'..='Z')
            .chain('0'..='9')
            .find(|letter| !used.contains(letter))
            .unwrap_or(NO_LETTER);
        used.push(letter);
    }
    used
}

/// What the letters mean, in as many columns as `width` takes, and how many requests have none.
pub(super) fn sheet(groups: &[Group], letters: &[char], any_shared: bool, width: u16) -> Buffer {
    let named = groups
        .iter()
        .zip(letters)
        .enumerate()
        .map(|(index, (group, &letter))| {
            let text = match (group.points.len(), group.without) {
                (_, 0) => group.name.clone(),
                (0, _) => format!("{} (no point)", group.name),
                (_, without) => format!("{} ({without} without)", group.name),
            };
            (letter, letter_style(index), text)
        });
    let shared = any_shared.then(|| (SHARED, TITLE, "several of them".to_owned()));
    let entries: Vec<_> = named.chain(shared).collect();

    let widest = entries
        .iter()
        .map(|(_, _, text)| text.cell_width())
        .max()
        .unwrap_or(0);
    // a letter and a space before, three spaces after
    let column = (widest + 5).min(width);
    let rows = entries.len().div_ceil(usize::from(width / column));
    let mut sheet = super::sheet(width, rows);
    for (index, (letter, style, text)) in entries.iter().enumerate() {
        // reads down, then right
        let (x, y) = ((index / rows) as u16 * column, (index % rows) as u16);
        sheet.set_string(x, y, letter.to_string(), *style);
        sheet.set_string(x + 2, y, text, Style::new());
    }
    sheet
}

#[cfg(test)]
mod tests {
    use super::*;

    fn groups(names: &[&str]) -> Vec<Group> {
        let group = |name: &&str| Group {
            name: (*name).to_owned(),
            ..Group::default()
        };
        names.iter().map(group).collect()
    }

    #[test]
    fn letters_come_from_names_and_never_twice() {
        let names = ["steady", "stall", "st", "", "日本", "Steady"];
        assert_eq!(letters(&groups(&names)), ['s', 't', 'a', 'b', 'c', 'e']);
        let many = groups(&["x"; 70]);
        assert_eq!(letters(&many)[62..], [NO_LETTER; 8]);
    }
}
