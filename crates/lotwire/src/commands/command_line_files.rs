//! Runs `lotwire command-line-files`: writes what a package contains besides the binary, made from the definition of the
//! command line.

use std::path::Path;
use std::process::ExitCode;

use clap::CommandFactory as _;
use clap_complete::Shell;

use crate::cli::Cli;
use crate::error::{CommandError, ErrorContext as _};

/// The shells of Debian's packages that have a directory for completions.
const SHELLS: [Shell; 3] = [Shell::Bash, Shell::Fish, Shell::Zsh];

/// Writes the man pages to `man`, and the completions to `completions`, below a directory.
pub(crate) fn run(directory: &Path) -> Result<ExitCode, CommandError> {
    let (man, completions) = (directory.join("man"), directory.join("completions"));
    for folder in [&man, &completions] {
        std::fs::create_dir_all(folder).context(format!("creating {}", folder.display()))?;
    }
    clap_mangen::generate_to(Cli::command(), &man).context(format!("writing man pages to {}", man.display()))?;
    for shell in SHELLS {
        clap_complete::generate_to(shell, &mut Cli::command(), "lotwire", &completions)
            .context(format!("writing completions to {}", completions.display()))?;
    }
    Ok(ExitCode::SUCCESS)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use clap::Command;

    use super::*;

    /// The names of the pages of a command and of the commands below it, such as `lotwire-config-check.1`.
    fn pages(command: &Command, name: &str, into: &mut BTreeSet<String>) {
        into.insert(format!("{name}.1"));
        for below in command.get_subcommands().filter(|below| !below.is_hide_set()) {
            pages(below, &format!("{name}-{}", below.get_name()), into);
        }
    }

    fn names_in(folder: &Path) -> BTreeSet<String> {
        let entries = std::fs::read_dir(folder).unwrap();
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
    }

    #[test]
    fn every_command_has_a_man_page_that_shows_its_examples() {
        let directory = tempfile::tempdir().unwrap();
        run(directory.path()).unwrap();
        let man = directory.path().join("man");
        let mut expected = BTreeSet::new();
        pages(&Cli::command(), "lotwire", &mut expected);
        assert!(expected.contains("lotwire-provider-endpoint-retry-now.1"), "{expected:?}");
        assert_eq!(names_in(&man), expected);
        for page in &expected {
            let text = std::fs::read_to_string(man.join(page)).unwrap();
            assert!(text.contains("Examples:"), "{page} has no example");
        }
        let main = std::fs::read_to_string(man.join("lotwire.1")).unwrap();
        assert!(main.contains("lotwire\\-serve(1)") && !main.contains("command\\-line"), "{main}");
    }

    #[test]
    fn every_shell_completes_commands_and_their_flags() {
        let directory = tempfile::tempdir().unwrap();
        run(directory.path()).unwrap();
        let completions = directory.path().join("completions");
        assert_eq!(names_in(&completions), ["_lotwire", "lotwire.bash", "lotwire.fish"].map(str::to_owned).into());
        for file in names_in(&completions) {
            let text = std::fs::read_to_string(completions.join(&file)).unwrap();
            for word in ["retry-now", "api-key-stdin"] {
                assert!(text.contains(word), "{file} does not know {word}");
            }
        }
    }
}
