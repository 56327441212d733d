//! Random damage to texts, the same for the same seed.

/// A small generator, so that a failing run can be repeated.
pub(crate) struct Dice(u64);

impl Dice {
    /// Dice that fall the same for the same seed.
    pub(crate) const fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15).wrapping_add(1))
    }

    /// A number below `sides`, 0 for none.
    pub(crate) fn roll(&mut self, sides: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).expect("31 bits") % sides.max(1)
    }

    /// One of these.
    pub(crate) fn pick<'a, T>(&mut self, of: &'a [T]) -> &'a T {
        &of[self.roll(of.len())]
    }
}

const SIGNS: [&str; 24] = [
    "é", "名", "🎵", "{", "}", "[", "]", "(", ")", "\"", "'", ": ", "- ", "\t", "\n", "\r\n", "*",
    "&a ", "#", "|", ",", "%", "\u{feff}", "\0",
];

/// The bytes of a text after one to four kinds of damage.
pub(crate) fn damage(dice: &mut Dice, text: &str) -> Vec<u8> {
    let mut text = text.to_owned();
    for _ in 0..=dice.roll(4) {
        text = match dice.roll(6) {
            0 | 1 => damage_lines(dice, &text),
            2 => damage_indentation(dice, &text),
            3 => damage_words(dice, &text),
            _ => damage_characters(dice, &text),
        };
    }
    let mut bytes = text.into_bytes();
    if dice.roll(12) == 0 {
        bytes.truncate(dice.roll(bytes.len()));
    }
    if dice.roll(12) == 0 {
        let at = dice.roll(bytes.len() + 1);
        let inserted: Vec<u8> = (0..=dice.roll(4)).map(|_| byte(dice)).collect();
        bytes.splice(at..at, inserted);
    }
    bytes
}

fn byte(dice: &mut Dice) -> u8 {
    u8::try_from(dice.roll(256)).expect("a byte")
}

/// Deletes, repeats or swaps lines.
fn damage_lines(dice: &mut Dice, text: &str) -> String {
    let mut lines: Vec<&str> = text.split('\n').collect();
    let (at, other) = (dice.roll(lines.len()), dice.roll(lines.len()));
    match dice.roll(3) {
        0 => {
            lines.remove(at);
        }
        1 => lines.insert(other, lines[at]),
        _ => lines.swap(at, other),
    }
    lines.join("\n")
}

/// Moves a line to the left or to the right.
fn damage_indentation(dice: &mut Dice, text: &str) -> String {
    let lines: Vec<&str> = text.split('\n').collect();
    let at = dice.roll(lines.len());
    let moved = match dice.roll(3) {
        0 => lines[at].trim_start().to_owned(),
        1 => lines[at].strip_prefix(' ').unwrap_or(lines[at]).to_owned(),
        _ => format!("{}{}", " ".repeat(1 + dice.roll(4)), lines[at]),
    };
    let mut lines = lines;
    lines[at] = &moved;
    lines.join("\n")
}

/// Puts a word of the text in the place of another.
fn damage_words(dice: &mut Dice, text: &str) -> String {
    let mut words = Vec::new();
    let mut start = None;
    for (at, character) in text.char_indices().chain([(text.len(), ' ')]) {
        let inside = character.is_alphanumeric() || character == '_';
        match (inside, start) {
            (true, None) => start = Some(at),
            (false, Some(from)) => {
                words.push(from..at);
                start = None;
            }
            _ => {}
        }
    }
    if words.is_empty() {
        return text.to_owned();
    }
    let (from, to) = (dice.pick(&words).clone(), dice.pick(&words).clone());
    let mut changed = text.to_owned();
    changed.replace_range(from, &text[to]);
    changed
}

/// Removes, changes or inserts a character.
fn damage_characters(dice: &mut Dice, text: &str) -> String {
    let mut characters: Vec<char> = text.chars().collect();
    if characters.is_empty() {
        return (*dice.pick(&SIGNS)).to_owned();
    }
    let at = dice.roll(characters.len());
    match dice.roll(3) {
        0 => {
            characters.remove(at);
        }
        1 => characters[at] = char::from(u8::try_from(32 + dice.roll(95)).expect("ASCII")),
        _ => {
            let sign = dice.pick(&SIGNS);
            characters.splice(at..at, sign.chars());
        }
    }
    characters.into_iter().collect()
}
