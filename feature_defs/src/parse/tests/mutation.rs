//! Definitions with random damage: refused with a place, never a panic.

use std::path::Path;

use crate::parse::{parse, read_files};

/// A small generator, so that a failing run can be repeated.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).expect("31 bits") % sides.max(1)
    }
}

#[test]
fn mutated_definitions_never_panic_and_every_refusal_has_a_place() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/cdnow");
    let files = read_files(&root).expect("reads");
    let mut refused = 0;
    for seed in 0..200_u64 {
        let mut dice = Dice(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) + 1);
        let mut mutated = files.clone();
        let chosen = dice.roll(mutated.len());
        mutated[chosen].text = mutate(&mut dice, &mutated[chosen].text);
        let Err(problems) = parse(&root, mutated) else {
            continue;
        };
        refused += 1;
        assert!(!problems.problems.is_empty(), "seed {seed}");
        for problem in &problems.problems {
            let file = problems
                .files
                .iter()
                .find(|file| file.path == problem.span.file)
                .expect("the file is known");
            assert!(
                file.text.get(problem.span.bytes.clone()).is_some(),
                "seed {seed}: {problem:?}"
            );
            assert!(
                !problem.message.is_empty() && !problem.message.contains("DataFusion"),
                "seed {seed}: {problem:?}"
            );
        }
        assert!(!problems.to_string().is_empty());
    }
    assert!(
        refused > 100,
        "only {refused} of 200 mutations were refused"
    );
}

fn mutate(dice: &mut Dice, text: &str) -> String {
    const INSERTED: [&str; 12] = [
        "é", "{", "]", "\"", "'", ": ", "- ", "\t", "\n", "*", "&a ", "名",
    ];
    if dice.roll(3) == 0 {
        let mut lines: Vec<&str> = text.lines().collect();
        let (at, other) = (dice.roll(lines.len()), dice.roll(lines.len()));
        match dice.roll(3) {
            0 => {
                lines.remove(at);
            }
            1 => lines.insert(other, lines[at]),
            _ => lines.swap(at, other),
        }
        return lines.join("\n");
    }
    let mut characters: Vec<char> = text.chars().collect();
    for _ in 0..=dice.roll(3) {
        let at = dice.roll(characters.len());
        match dice.roll(3) {
            0 => {
                characters.remove(at);
            }
            1 => characters[at] = char::from(u8::try_from(32 + dice.roll(95)).expect("ASCII")),
            _ => {
                let inserted = INSERTED[dice.roll(INSERTED.len())];
                characters.splice(at..at, inserted.chars());
            }
        }
    }
    characters.into_iter().collect()
}
