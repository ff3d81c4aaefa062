//! The migrations: those of a release are not changed, both engines have the same ones, and each states which older programs can use
//! its tables.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use super::Findings;
use crate::Failure;
use crate::releases::{self, FOLDERS, Release};

/// Sets the row that lets older programs use newer tables.
const STATEMENT: &str = "UPDATE schema_compatibility SET compatible_from = ";

pub(super) fn check(root: &Path, found: &mut Findings) -> Result<(), Failure> {
    let migrations = releases::migrations(root)?;
    found.errors(changed(&releases::read(root)?, &migrations));
    for [sqlite, postgres] in FOLDERS {
        let names = [sqlite, postgres].map(|folder| names_in(folder, &migrations));
        found.errors(misnumbered(sqlite, &names[0]));
        if names[0] != names[1] {
            found.error(format!("{sqlite} and {postgres} have different migrations"));
        }
    }
    for path in migrations.keys().filter(|path| number(path) != Some(1)) {
        let text = fs::read_to_string(root.join(path)).map_err(|error| format!("{path}: {error}"))?;
        found.errors(undeclared(path, &text));
    }
    Ok(())
}

/// Migrations of releases that are gone or differ.
fn changed(releases: &[Release], migrations: &BTreeMap<String, String>) -> Vec<String> {
    let mut errors = Vec::new();
    for release in releases {
        for (path, hash) in release.migrations.iter().filter(|(path, hash)| migrations.get(*path) != Some(*hash)) {
            let what = if migrations.contains_key(path) { "changed" } else { "deleted" };
            errors.push(format!(
                "{path}: {what} after the release of {}; undo that, and write a migration with the next number ({hash})",
                release.version
            ));
        }
    }
    errors
}

fn names_in<'a>(folder: &str, migrations: &'a BTreeMap<String, String>) -> Vec<&'a str> {
    migrations.keys().filter_map(|path| path.strip_prefix(folder)?.strip_prefix('/')).collect()
}

/// The number of a migration `…/V2__bids.sql`.
fn number(path: &str) -> Option<i32> {
    path.rsplit('/').next()?.strip_prefix('V')?.split_once("__")?.0.parse().ok()
}

/// Numbers have to be 1, 2 and so on.
fn misnumbered(folder: &str, names: &[&str]) -> Vec<String> {
    let mut numbers: Vec<Option<i32>> = names.iter().map(|name| number(name)).collect();
    numbers.sort();
    let is_right = numbers.iter().zip(1..).all(|(found, expected)| *found == Some(expected));
    if is_right {
        Vec::new()
    } else {
        vec![format!("{folder}: migrations are named V1__what.sql, V2__what.sql and so on")]
    }
}

/// A migration after the first has to state the oldest version whose programs can use its tables.
fn undeclared(path: &str, text: &str) -> Vec<String> {
    let stated = text.split_once(STATEMENT).and_then(|(_, rest)| rest.split(';').next()?.trim().parse::<i32>().ok());
    let own = number(path).unwrap_or_default();
    match stated {
        Some(version) if (1..=own).contains(&version) => Vec::new(),
        _ => vec![format!(
            "{path}: has no line `{STATEMENT}N;` with N from 1 to {own}: the oldest version whose programs can use the tables"
        )],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn migrations(files: &[(&str, &str)]) -> BTreeMap<String, String> {
        files.iter().map(|(path, hash)| ((*path).to_owned(), (*hash).to_owned())).collect()
    }

    #[test]
    fn a_migration_of_a_release_is_not_changed_and_not_deleted() {
        let release = Release {
            version: "0.1.0".to_owned(),
            commit: String::new(),
            migrations: migrations(&[("m/V1__lots.sql", "aa"), ("m/V2__bids.sql", "bb")]),
        };
        let now = [("m/V1__lots.sql", "aa"), ("m/V2__bids.sql", "bb"), ("m/V3__more.sql", "cc")];
        assert_eq!(changed(std::slice::from_ref(&release), &migrations(&now)), Vec::<String>::new());
        let errors = changed(&[release], &migrations(&[("m/V1__lots.sql", "dd")]));
        assert!(errors[0].starts_with("m/V1__lots.sql: changed after the release of 0.1.0"), "{errors:?}");
        assert!(errors[1].starts_with("m/V2__bids.sql: deleted after"), "{errors:?}");
    }

    #[test]
    fn numbers_have_no_gap() {
        assert!(misnumbered("m", &["V1__a.sql", "V10__b.sql", "V2__c.sql"]).len() == 1);
        let ten: Vec<String> = (1..=10).map(|number| format!("V{number}__a.sql")).collect();
        let mut ten: Vec<&str> = ten.iter().map(String::as_str).collect();
        ten.sort_unstable();
        assert!(misnumbered("m", &ten).is_empty());
        assert!(misnumbered("m", &["lots.sql"]).len() == 1);
        let both = migrations(&[("m/V1__a.sql", ""), ("mm/V1__b.sql", "")]);
        assert_eq!(names_in("m", &both), ["V1__a.sql"]);
    }

    #[test]
    fn a_later_migration_states_which_programs_can_use_its_tables() {
        for right in [
            "UPDATE schema_compatibility SET compatible_from = 1;",
            "A;\nUPDATE schema_compatibility SET compatible_from = 3;\n",
        ] {
            assert!(undeclared("m/V3__more.sql", right).is_empty(), "{right}");
        }
        for wrong in [
            "",
            "UPDATE schema_compatibility SET compatible_from = 4;",
            "UPDATE schema_compatibility SET compatible_from = x;",
        ] {
            assert!(undeclared("m/V3__more.sql", wrong).len() == 1, "{wrong}");
        }
    }
}
