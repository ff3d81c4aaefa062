//! Each setting of the code is on the reference page. `cargo xtask generate --check` compares the whole page, after a build.

use std::fs;
use std::path::Path;

use super::Findings;
use crate::Failure;

const CODE: &str = "crates/lotwire/src/config/settings.rs";
const PAGE: &str = "docs/operate/configuration.md";

pub(super) fn check(root: &Path, found: &mut Findings) -> Result<(), Failure> {
    let read = |name: &str| fs::read_to_string(root.join(name)).map_err(|error| format!("{name}: {error}"));
    found.errors(undocumented(&read(CODE)?, &read(PAGE)?));
    Ok(())
}

fn undocumented(code: &str, page: &str) -> Vec<String> {
    let paths =
        code.split("setting(").skip(1).filter_map(|rest| rest.trim_start().strip_prefix('"')?.split('"').next());
    paths
        .filter(|path| !page.contains(&format!("| `{path}` |")))
        .map(|path| format!("{PAGE}: has no setting {path}; run `cargo xtask generate`"))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_setting_that_the_page_does_not_have_is_found() {
        let code = "const fn setting(path: &str) {}\n setting(\"data_dir\", Text), setting(\n \"log.level\", Text)";
        let page = "| `data_dir` | … |\n| `log.format` | … |";
        let found = undocumented(code, page);
        assert!(found.len() == 1 && found[0].contains("log.level"), "{found:?}");
    }
}
