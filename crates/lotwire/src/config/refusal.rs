//! What is said of a configuration that can't be used: where it stands, which key, which value, what the key takes, and an example.

use std::fmt::{self, Display};
use std::path::PathBuf;

use super::keys::{KEYS, Key};

/// Where a value stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Place {
    /// A line of the configuration file, from 1.
    File(PathBuf, usize),
    /// A variable of this name.
    Variable(String),
    Flag,
}

impl Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Place::File(path, line) => write!(f, "in the configuration file {}, line {line}", path.display()),
            Place::Variable(name) => write!(f, "variable {name}"),
            Place::Flag => f.write_str("a flag"),
        }
    }
}

/// Why a value was refused.
#[derive(Debug)]
pub(crate) struct Refusal {
    /// None for a default, which another value speaks against.
    pub(crate) place: Option<Place>,
    pub(crate) key: &'static Key,
    /// As it was written; it is not shown when it is a secret.
    pub(crate) given: Option<String>,
    /// Without the value, because it may be a secret.
    pub(crate) why: String,
}

impl Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { place, key, given, why } = self;
        if let Some(place) = place {
            write!(f, "{place}: ")?;
        }
        let given = given.as_deref().filter(|_| !key.is_secret()).unwrap_or("(not shown)");
        let form = key.form();
        let by_default = if place.is_none() { " by default" } else { "" };
        write!(f, "{} is {given}{by_default}: {why}; it takes {}", key.path, form.words)?;
        if form.example.is_empty() {
            return Ok(());
        }
        f.write_str(", such as ")?;
        match place {
            Some(Place::Variable(name)) => write!(f, "{name}={}", form.example),
            Some(Place::Flag) => f.write_str(form.example),
            Some(Place::File(..)) | None => f.write_str(&key.example_line()),
        }
    }
}

/// A name that is none of a key's or a section's.
#[derive(Debug)]
pub(crate) struct Unknown {
    pub(crate) place: Place,
    /// As it was written: a path in a file, a variable's name.
    pub(crate) name: String,
}

impl Display for Unknown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { place, name } = self;
        if KEYS.iter().any(|key| section(key) == Some(name)) {
            return write!(f, "{place}: {name} is a section: its keys stand in the lines after [{name}]");
        }
        let near = match place {
            Place::Variable(_) => nearest(name, KEYS.iter().map(Key::variable)),
            Place::File(..) | Place::Flag => {
                nearest(name, KEYS.iter().flat_map(|key| [Some(key.path), section(key)]).flatten().map(str::to_owned))
            }
        };
        write!(f, "{place}: there is no key {name}")?;
        if let Some(near) = near {
            write!(f, "; did you mean {near}?")?;
        }
        f.write_str(" (`lotwire config reference` lists them all)")
    }
}

/// The section that a key is in.
pub(crate) fn section(key: &Key) -> Option<&'static str> {
    key.path.split_once('.').map(|(section, _)| section)
}

/// What is like it: with at most a third of its letters to be written otherwise, not counting what all variables begin with.
fn nearest(name: &str, known: impl Iterator<Item = String>) -> Option<String> {
    let near = known.map(|known| (letters_between(name, &known), known)).min()?;
    (near.0 * 3 <= name.trim_start_matches("LOTWIRE_").chars().count()).then_some(near.1)
}

/// Letters to put in, leave out or exchange, to make one of the other.
fn letters_between(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.to_lowercase().chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (above, of_a) in a.to_lowercase().chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = above + 1;
        for (index, of_b) in b.iter().enumerate() {
            let exchanged = diagonal + usize::from(of_a != *of_b);
            diagonal = row[index + 1];
            row[index + 1] = exchanged.min(row[index] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}
