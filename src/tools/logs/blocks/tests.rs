//! Blocks of texts, whole, growing and broken, against a naive look at the same text.

use super::*;
use proptest::prelude::*;

fn all(text: &[u8]) -> Vec<(u64, Vec<u8>, bool)> {
    let mut blocks = Blocks::of(text);
    let mut lines = Vec::new();
    while let Some(block) = blocks.read_block().unwrap() {
        let own = block.lines();
        lines.extend(own.map(|(number, line, ended)| (number, line.to_vec(), ended)));
    }
    lines
}

#[test]
fn lines_are_numbered_and_a_cut_one_is_told() {
    let line = |number, text: &[u8], ended| (number, text.to_vec(), ended);
    assert_eq!(
        all(b"a\n\n b \r\nc"),
        [
            line(1, b"a", true),
            line(3, b"b", true),
            line(4, b"c", false)
        ]
    );
    assert!(all(b"").is_empty() && all(b"\n\n").is_empty());
}

#[test]
fn a_line_that_is_too_long_is_left_out_and_the_next_is_read() {
    let mut text = vec![b'x'; LONGEST + 7];
    text.extend(b"\nb\n");
    let mut blocks = Blocks::of(&text[..]);
    let first = blocks.read_block().unwrap().unwrap();
    assert!(first.too_long && first.first == 1 && first.text.is_empty());
    let second = blocks.read_block().unwrap().unwrap();
    assert_eq!((second.first, &second.text[..]), (2, &b"b\n"[..]));
}

#[test]
fn what_was_read_before_a_failure_is_given_first() {
    struct Broken;
    impl Read for Broken {
        fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
            Err(io::Error::other("broken"))
        }
    }
    let mut blocks = Blocks::of((&b"a\nb"[..]).chain(Broken));
    assert_eq!(blocks.read_block().unwrap().unwrap().text, b"a\n");
    assert_eq!(blocks.read_block().unwrap().unwrap().text, b"b");
    assert_eq!(blocks.read_block().unwrap_err().to_string(), "broken");
    assert_eq!(blocks.read_block().unwrap(), None);
}

/// A file that others append to.
#[derive(Default)]
struct Growing(std::rc::Rc<std::cell::RefCell<std::collections::VecDeque<u8>>>);

impl Read for Growing {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.0.borrow_mut().read(buffer)
    }
}

proptest! {
    #[test]
    fn a_line_that_grows_is_given_once_it_has_its_end(pieces in prop::collection::vec("[a\n]{0,4}", 0..12)) {
        let file = Growing::default();
        let written = std::rc::Rc::clone(&file.0);
        let mut blocks = Blocks::of(file);
        let (mut text, mut given) = (String::new(), Vec::new());
        for piece in pieces {
            text += &piece;
            written.borrow_mut().extend(piece.bytes());
            while let Some(block) = blocks.read_whole().unwrap() {
                prop_assert_eq!(block.first, given.iter().filter(|c| **c == b'\n').count() as u64 + 1);
                given.extend(block.text);
            }
            let whole = text.rfind('\n').map_or(0, |end| end + 1);
            prop_assert_eq!(&given[..], &text.as_bytes()[..whole]);
        }
        given.extend(blocks.give_up().map_or(Vec::new(), |block| block.text));
        prop_assert_eq!(given, text.into_bytes());
    }

    #[test]
    fn blocks_have_the_lines_of_the_text(
        lines in prop::collection::vec(("[a-z ]{0,3}", 0usize..400_000), 0..12),
        ended: bool,
    ) {
        let lines: Vec<String> = lines.iter().map(|(text, more)| text.clone() + &"z".repeat(*more)).collect();
        let text = lines.join("\n") + if ended { "\n" } else { "" };
        let naive: Vec<_> = text
            .split('\n')
            .enumerate()
            .map(|(i, line)| (i as u64 + 1, line.trim().as_bytes().to_vec()))
            .filter(|(_, line)| !line.is_empty())
            .collect();
        let read: Vec<_> = all(text.as_bytes()).into_iter().map(|(number, line, _)| (number, line)).collect();
        prop_assert_eq!(read, naive);
    }
}
