//! Rules for one Rust source: its size, its module documentation, nothing unfinished, no ignored test, no real sleep.

use super::{Findings, Kind};

/// Longer files are an error.
const FILE_LINES_MAX: usize = 600;
/// Longer files are a warning: do they still have one subject?
const FILE_LINES_WARNING: usize = 400;

/// Words that mark unfinished work; written in halves, so that this file does not contain them.
const UNFINISHED: &[&str] = &[concat!("FIX", "ME"), concat!("XX", "X"), concat!("HA", "CK")];
const UNFINISHED_CALLS: &[&str] = &[concat!("todo", "!("), concat!("unimplemented", "!(")];

/// Calls that wait for the real clock.
const SLEEPS: &[&str] =
    &[concat!("time::sle", "ep("), concat!("thread::sle", "ep("), concat!("time::sleep_", "until(")];
/// Where they are allowed: the clock itself, and programs that test or measure from outside.
const SLEEPS_ALLOWED: &[&str] = &["crates/kit/runtime/", "crates/testing/"];

pub(super) fn check(name: &str, text: &str, found: &mut Findings) {
    let lines = text.lines().count();
    if lines > FILE_LINES_MAX {
        found.error(format!("{name} has {lines} lines; the limit is {FILE_LINES_MAX}: split it by subject"));
    } else if lines > FILE_LINES_WARNING {
        found.warning(format!("{name} has {lines} lines; does it still have one subject?"));
    }
    if !text.trim_start().starts_with("//!") && !text.trim_start().starts_with("#!") {
        found.error(format!("{name} does not begin with module documentation (//!)"));
    }
    let may_sleep = SLEEPS_ALLOWED.iter().any(|folder| name.starts_with(folder));
    for (number, line) in (1..).zip(text.lines()) {
        let prose = Kind::Rust.prose(line);
        if UNFINISHED.iter().any(|word| prose.contains(word)) || UNFINISHED_CALLS.iter().any(|call| line.contains(call))
        {
            found.error(format!("{name}:{number} is unfinished"));
        }
        if line.trim_start().starts_with("#[ignore") {
            found.error(format!("{name}:{number} ignores a test; mend it or delete it"));
        }
        if !may_sleep && prose.is_empty() && SLEEPS.iter().any(|call| line.contains(call)) {
            found.error(format!("{name}:{number} sleeps in real time; take a kit_runtime::clock::Clock"));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn errors(name: &str, text: &str) -> usize {
        let mut found = Findings::default();
        check(name, text, &mut found);
        found.errors.len()
    }

    #[test]
    fn a_source_that_breaks_a_rule_is_an_error() {
        assert_eq!(errors("a.rs", "//! Fine.\nfn a() {}\n"), 0);
        assert_eq!(errors("a.rs", "fn a() {}\n"), 1);
        assert_eq!(errors("a.rs", &format!("//! Long.\n{}", "\n".repeat(601))), 1);
        assert_eq!(errors("a.rs", &format!("//! Later.\n{}x)\n", concat!("todo", "!("))), 1);
        assert_eq!(errors("a.rs", &format!("//! Skipped.\n#[{}]\n", "ignore")), 1);
    }

    #[test]
    fn a_real_sleep_is_an_error_outside_the_clock_and_the_test_programs() {
        let sleeping = format!("//! Waits.\nfn a() {{ std::{}d) }}\n", SLEEPS[1]);
        assert_eq!(errors("crates/provider/core/src/a.rs", &sleeping), 1);
        assert_eq!(errors("crates/kit/runtime/src/a.rs", &sleeping), 0);
        assert_eq!(errors("crates/testing/stories/tests/a.rs", &sleeping), 0);
    }

    #[test]
    fn a_long_file_is_a_warning_first() {
        let mut found = Findings::default();
        check("a.rs", &format!("//! Long.\n{}", "\n".repeat(401)), &mut found);
        assert_eq!((found.errors.len(), found.warnings.len()), (0, 1));
    }
}
