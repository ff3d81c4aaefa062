//! The command line: names, flags and help texts. [`crate::commands`] runs the commands.

mod api_key;
mod application_target;
mod backup;
mod customer_publishing;
mod listen;
#[cfg(test)]
mod named_commands;
mod provider;
mod sale;
mod secrets;
mod support_bundle;
mod user;
mod verify;

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueHint};
use uuid::Uuid;

use crate::config::{Overrides, Role};

pub(crate) use api_key::ApiKeyCommand;
pub(crate) use application_target::ApplicationTarget;
pub(crate) use backup::{Backup, Restore, Resume};
pub(crate) use customer_publishing::{CustomerPublishing, Quarantine, QuarantineSend};
pub(crate) use listen::{ListenCommand, Trigger};
pub(crate) use provider::{
    AlertScopeRef, Confirmation, EndpointRef, EndpointRemoval, PayloadCheckMode, PortalLink, Provider, ProviderAccount,
    ProviderAccountSet, ProviderAlertRecipient, ProviderApplication, ProviderEndpoint, ProviderKey, Skip, Stuck, Tail,
    UnknownEventTypesMode,
};
pub(crate) use sale::SaleCommand;
pub(crate) use secrets::Secrets;
pub(crate) use support_bundle::SupportBundle;
pub(crate) use user::User;
pub(crate) use verify::Verify;

/// Run auctions and announce every status change by webhook.
///
/// One binary contains the auction platform and the embedded, Svix-compatible delivery provider.
#[derive(Debug, Parser)]
#[command(
    name = "lotwire",
    version,
    propagate_version = true,
    max_term_width = 110,
    after_help = "\
Examples:
  lotwire demo                                   run a sale from import to the last webhook, in about a minute
  lotwire serve                                  run the platform on 127.0.0.1:8080 and the provider on :8071
  lotwire provider account create \"Hartley & Sons\"
  lotwire customer create \"Hartley & Sons\"
  lotwire listen --application app_2b…           receive, verify and print events on this machine
  lotwire doctor                                 check this installation and print how to repair it"
)]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) common: Common,
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// Heading of the flags that every command takes.
const EVERY_COMMAND: &str = "Options of every command";

/// Flags that every command takes.
#[derive(Debug, Args)]
pub(crate) struct Common {
    /// Configuration file (TOML). Without it, variables, flags and defaults apply.
    #[arg(long, global = true, help_heading = EVERY_COMMAND, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) config: Option<PathBuf>,
    /// Directory of the SQLite files and of the file secret.key [default: ./lotwire-data].
    #[arg(long, global = true, help_heading = EVERY_COMMAND, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub(crate) data_dir: Option<PathBuf>,
    /// Use PostgreSQL instead of SQLite: postgres://user:password@host/database.
    ///
    /// To encrypt the connection and verify the server's certificate, add ?sslmode=verify-full&sslrootcert=FILE, or
    /// sslrootcert=system for the system's certificate authorities.
    #[arg(long, global = true, help_heading = EVERY_COMMAND, value_name = "postgres://…", hide_env_values = true)]
    pub(crate) database_url: Option<String>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Sell a catalogue in two demonstration auctions and verify every webhook.
    ///
    /// The demonstration starts a server, a webhook receiver, a clerk and 16 bidders on this machine. It takes about a
    /// minute and prints how many webhooks arrived, and how fast. Without a mail server, a page on this machine shows the mails
    /// that the server would send.
    Demo(Demo),
    /// Run the platform, the embedded delivery provider, or both, until SIGINT or SIGTERM.
    Serve(Serve),
    /// Manage accounts, API keys, applications and endpoints of the embedded delivery provider.
    ///
    /// Where a command takes an application or an endpoint, it accepts the id or the uid. The commands change the
    /// database directly, so they work with or without a running server. A running server applies a change within
    /// seconds.
    #[command(
        subcommand,
        after_help = "\
Examples:
  lotwire provider account create \"Hartley & Sons\"
  lotwire provider key create --account org_2b… --name platform
  lotwire provider application list
  lotwire provider endpoint list app_2b…
  lotwire provider stuck
  lotwire provider endpoint retry-now ep_2b…"
    )]
    Provider(Provider),
    /// Manage customers and their connections to a delivery provider.
    #[command(
        subcommand,
        after_help = "\
Examples:
  lotwire customer create \"Hartley & Sons\"
  lotwire customer connect 0199… --application app_2b… --api-key-file key.txt --register-event-types
  lotwire customer show 0199…"
    )]
    Customer(Customer),
    /// Manage API keys of the platform.
    #[command(
        subcommand,
        after_help = "\
Examples:
  lotwire key create --name \"web site\" --customer 0199… --scope events:read
  lotwire key list"
    )]
    Key(ApiKeyCommand),
    /// Manage users, their roles and their sessions.
    #[command(
        subcommand,
        after_help = "\
Examples:
  lotwire user create ann@example.com --role administrator
  lotwire user list"
    )]
    User(User),
    /// Receive an application's events on this machine, verify them, and print each one.
    ///
    /// The command adds itself to the application as an endpoint, and removes that endpoint when it ends. Its next start
    /// removes the endpoint of a listener that was killed.
    Listen(Box<ListenCommand>),
    /// Send an example of an event to an application.
    Trigger(Box<Trigger>),
    /// Hold a sale of three lots that lasts seconds, so that a customer receives events.
    Sale(SaleCommand),
    /// Import and merge catalogues.
    #[command(
        subcommand,
        after_help = "\
Examples:
  lotwire catalogue import works.csv --auction 0199… --dry-run"
    )]
    Catalogue(Catalogue),
    /// Manage the encryption of secrets at rest.
    #[command(
        subcommand,
        after_help = "\
Examples:
  lotwire secrets reseal"
    )]
    Secrets(Secrets),
    /// Check and print the configuration.
    #[command(
        subcommand,
        after_help = "\
Examples:
  lotwire config check --config lotwire.toml
  lotwire config show"
    )]
    Config(ConfigCommand),
    /// Check this installation and print how to repair what is wrong.
    ///
    /// The checks cover the configuration, the data directory and its file modes, the databases, the sealing keys, the
    /// customers' connections and publishing queues, the endpoints and whose server answers on the ports.
    #[command(after_help = "\
Examples:
  lotwire doctor
  lotwire doctor --data-dir /var/lib/lotwire
  lotwire doctor --database-url postgres://lotwire@db/lotwire

Exit status: 0 if every check passes, otherwise 1. A line that begins with WRONG is a failed check and says what to do.")]
    Doctor,
    /// Ask this machine's server whether it works, for health checks of containers and for scripts.
    ///
    /// The command calls `/api/v1/health` on the port of each role. It opens no database, so it costs the server one request.
    #[command(after_help = "\
Examples:
  lotwire health
  lotwire health --data-dir /var/lib/lotwire

Exit status: 0 if the server of every role works, otherwise 1.")]
    Health,
    /// Copy the databases and images of an installation on SQLite while the server runs.
    Backup(Backup),
    /// Put a backup into an empty data directory, or check one.
    Restore(Restore),
    /// Show what a restored installation would do, and end its hold.
    Resume(Resume),
    /// Write what a support request needs into one archive, after a look at the list of it.
    SupportBundle(SupportBundle),
    /// Verify the audit log against the stored auctions, items and bids, or verify an exported record.
    Verify(Verify),
    /// Print the OpenAPI document of an API as JSON.
    #[command(after_help = "\
Examples:
  lotwire openapi platform > platform.json
  lotwire openapi provider | jq -r '.paths | keys[]'")]
    Openapi {
        /// The API to describe.
        api: crate::commands::openapi::Api,
    },
    /// Print the AsyncAPI document of the two event types as JSON.
    #[command(after_help = "\
Examples:
  lotwire asyncapi > asyncapi.json")]
    Asyncapi,
    /// Write a man page for each command, and completions for bash, fish and zsh, to a directory.
    #[command(
        name = "command-line-files",
        hide = true,
        after_help = "\
Examples:
  lotwire command-line-files target/manual"
    )]
    ManualAndCompletions {
        /// Directory for the files. Existing files are replaced.
        #[arg(value_name = "DIR", value_hint = ValueHint::DirPath)]
        directory: PathBuf,
    },
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  lotwire demo                                   run for about a minute, then leave the server running
  lotwire demo --exit --json                     for scripts: stop at the end and print the summary as JSON
  lotwire demo --exit --catalogue works.csv --lots 2000

Without --data-dir (or data_dir in the configuration), the demonstration uses a temporary directory and removes it at the \
end.

Exit status with --exit: 0 if every expected event arrived once, with a valid signature and in order for its item, \
otherwise 1.")]
pub(crate) struct Demo {
    /// CSV catalogue to sell [default: a built-in catalogue of 40 lots].
    #[arg(long, value_name = "FILE.csv", value_hint = ValueHint::FilePath)]
    pub(crate) catalogue: Option<PathBuf>,
    /// Maximum number of lots to sell, 2 to 100000. Half go to the timed auction, half to the webcast [default: all].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(2..=100_000))]
    pub(crate) lots: Option<u32>,
    /// Stop at the end. The exit status says whether every expected event arrived once, valid and in order.
    #[arg(long)]
    pub(crate) exit: bool,
    /// Print the summary as one JSON object.
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) listen: Listen,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  lotwire serve
  lotwire serve --database-url postgres://lotwire@db/lotwire --platform-listen 0.0.0.0:8080
  lotwire serve --roles provider --data-dir /var/lib/lotwire")]
pub(crate) struct Serve {
    /// Roles of this process [default: platform,provider].
    #[arg(long, value_delimiter = ',', value_name = "platform,provider")]
    pub(crate) roles: Option<Vec<Role>>,
    #[command(flatten)]
    pub(crate) listen: Listen,
}

#[derive(Debug, Args)]
pub(crate) struct Listen {
    /// IP address or host name, and port, of the platform's API [default: 127.0.0.1:8080].
    #[arg(long, value_name = "ADDR")]
    pub(crate) platform_listen: Option<String>,
    /// IP address or host name, and port, of the provider's API [default: 127.0.0.1:8071].
    #[arg(long, value_name = "ADDR")]
    pub(crate) provider_listen: Option<String>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Customer {
    /// Create a customer and print its UUID.
    #[command(after_help = "\
Examples:
  lotwire customer create \"Hartley & Sons\"
  lotwire customer create \"Hartley & Sons\" --json | jq -r .uuid")]
    Create {
        /// Name of the customer. No other customer may have it.
        name: String,
        /// Print JSON: {"uuid":"…"}.
        #[arg(long)]
        json: bool,
    },
    /// Store a customer's consumer application and provider API key, and test them.
    ///
    /// The platform publishes events only for customers that have both. The command stores the values even if the test
    /// fails: then it prints a warning with the reason and still exits with status 0.
    #[command(after_help = "\
Examples:
  printf %s \"$KEY\" | lotwire customer connect 0199… --application app_2b… --api-key-stdin --register-event-types
  lotwire customer connect 0199… --application app_2b… --api-key-file key.txt --provider-url https://api.eu.example.com

To repeat the test, run `lotwire customer resume`. Its exit status is 1 if the test fails.")]
    Connect(Box<CustomerConnect>),
    /// Create both event types in the customer's provider account, or update their schemas.
    ///
    /// Descriptions and titles of existing event types stay, because the customer may have changed them.
    #[command(after_help = "\
Examples:
  lotwire customer register-event-types 0199…
  lotwire customer register-event-types 0199… --replace-texts")]
    RegisterEventTypes {
        /// UUID of the customer.
        customer: Uuid,
        /// Replace the descriptions and titles of existing event types.
        #[arg(long)]
        replace_texts: bool,
    },
    /// Test a customer's credentials and publish the waiting events immediately.
    ///
    /// Use it after you have corrected the cause of a parked queue, or to skip the pause before the next retry. The
    /// exit status is 1 if the provider refuses the credentials.
    #[command(after_help = "\
Examples:
  lotwire customer show 0199…                    print how many events wait, and why
  lotwire customer resume 0199…")]
    Resume {
        /// UUID of the customer.
        customer: Uuid,
    },
    /// Show a customer's connection, how many events wait, and why.
    #[command(after_help = "\
Examples:
  lotwire customer show 0199…
  lotwire customer show 0199… --json | jq .pending")]
    Show {
        /// UUID of the customer.
        customer: Uuid,
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
    #[command(flatten)]
    Publishing(CustomerPublishing),
    /// List the customers, at most 10,000.
    #[command(after_help = "\
Examples:
  lotwire customer list
  lotwire customer list --json | jq -r .uuid")]
    List {
        /// Print JSON, one object a line.
        #[arg(long)]
        json: bool,
    },
}

#[derive(Debug, Args)]
pub(crate) struct CustomerConnect {
    /// UUID of the customer.
    pub(crate) customer: Uuid,
    /// Id of the consumer application (`app_…`) [default: the stored one].
    #[arg(long, value_name = "APP")]
    pub(crate) application: Option<String>,
    /// Read the provider API key from standard input.
    #[arg(long, conflicts_with = "api_key_file")]
    pub(crate) api_key_stdin: bool,
    /// Read the provider API key from a file.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) api_key_file: Option<PathBuf>,
    /// Base URL of the provider's API, or `embedded` for the provider of this installation [default: the stored one,
    /// otherwise the configured one].
    ///
    /// Another provider than the stored one needs its API key in the same command.
    #[arg(long, value_name = "URL", value_hint = ValueHint::Url)]
    pub(crate) provider_url: Option<String>,
    /// Replace a stored provider by the configured one: platform.provider_url, or without it the embedded one.
    #[arg(long, conflicts_with = "provider_url")]
    pub(crate) configured_provider: bool,
    /// Also publish the events after this cursor of the event feed [default: only events from now on].
    #[arg(long, value_name = "CURSOR")]
    pub(crate) start_from: Option<i64>,
    /// Create or update both event types in the provider account.
    #[arg(long)]
    pub(crate) register_event_types: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Catalogue {
    /// Import a CSV catalogue into an auction: either every row, or none and a list of the errors.
    #[command(after_help = "\
Required columns: lot_number, title.
Optional columns: description, category, artist, date, medium, dimensions, credit, image_url, low_estimate, high_estimate, \
opening_bid, reserve, buy_now, fixed_increment, vendor, end_time, attachments, currency. \
Amounts are in major units (pounds, euros) with a decimal point and without separators of thousands, such as 1250.00. \
A file whose currency is not that of the auction is refused. \
vendor is the reference or the name of a consignor in the register of the house, or a UUID.

Examples:
  lotwire catalogue import works.csv --auction 0199… --dry-run
  lotwire catalogue import works.csv --auction 0199…

Exit status: 1 if a row has an error, otherwise 0.")]
    Import {
        /// CSV file; `-` reads standard input.
        #[arg(value_hint = ValueHint::FilePath)]
        file: PathBuf,
        /// UUID of the auction.
        #[arg(long, value_name = "UUID")]
        auction: Uuid,
        /// Check every row without importing any.
        #[arg(long)]
        dry_run: bool,
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
    /// Merge a house's own CSV file into an auction by lot number: new lots are added, and filled cells change known lots.
    #[command(after_help = "\
The file has any headers, and commas, semicolons or tabs. Without --map, the customer's last mapping and headers that houses \
are known to use count. Amounts are in major units, such as £25.00, 25,00 or 1.250,00. An amount that can be read in two ways \
is refused until --decimal-mark names the decimal mark. A file with exactly the headers of an export is read as exports are \
written, with a decimal point.

Examples:
  lotwire catalogue merge house.csv --auction 0199… --dry-run
  lotwire catalogue merge house.csv --auction 0199… --map 'Objet=lot_number' --map 'Titre=title' --decimal-mark comma

Exit status: 1 if a row has an error, otherwise 0.")]
    Merge {
        /// CSV file; `-` reads standard input.
        #[arg(value_hint = ValueHint::FilePath)]
        file: PathBuf,
        /// UUID of the auction.
        #[arg(long, value_name = "UUID")]
        auction: Uuid,
        /// Field of a column. Columns without one are ignored. Repeat it for each column.
        #[arg(long, value_name = "HEADER=FIELD")]
        map: Vec<String>,
        /// What separates decimals in the file.
        #[arg(long, value_name = "MARK", value_parser = ["point", "comma"])]
        decimal_mark: Option<String>,
        /// Report what the file would do without changing anything.
        #[arg(long)]
        dry_run: bool,
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
}

#[derive(Debug, Subcommand)]
pub(crate) enum ConfigCommand {
    /// Check the configuration and print every mistake with its line, variable or flag.
    #[command(after_help = "\
Examples:
  lotwire config check
  lotwire config check --config lotwire.toml")]
    Check,
    /// Print the configuration in effect and the source of each value, as a configuration file.
    ///
    /// Secrets are hidden: their lines are comments. `lotwire config check` accepts the printed file.
    #[command(after_help = "\
Examples:
  lotwire config show
  LOTWIRE_LOG__LEVEL=debug lotwire config show --config lotwire.toml")]
    Show,
    /// Print the reference of all settings as Markdown.
    #[command(after_help = "\
Examples:
  lotwire config reference > configuration.md")]
    Reference,
}

impl Command {
    /// Whether the command works on an installation that a server has created.
    pub(crate) fn needs_data_dir(&self) -> bool {
        match self {
            Self::Provider(_) | Self::Customer(_) | Self::Key(_) | Self::User(_) | Self::Catalogue(_) => true,
            Self::Secrets(_) | Self::Sale(_) | Self::Backup(_) | Self::Resume(_) => true,
            Self::Listen(listen) => listen.target.provider_url.is_none(),
            Self::Trigger(trigger) => trigger.target.provider_url.is_none(),
            // These create the directory, do not read it, or report its absence themselves.
            Self::Demo(_) | Self::Serve(_) | Self::Config(_) | Self::Doctor | Self::Verify(_) | Self::Restore(_) => {
                false
            }
            Self::Openapi { .. } | Self::Asyncapi | Self::ManualAndCompletions { .. } => false,
            Self::Health | Self::SupportBundle(_) => false,
        }
    }
}

impl Cli {
    /// The configuration values that flags set.
    pub(crate) fn overrides(&self) -> Overrides {
        let mut overrides = Overrides::default();
        overrides.set("data_dir", self.common.data_dir.as_ref().map(|dir| dir.display().to_string()));
        overrides.set("database.url", self.common.database_url.clone());
        let listen = match &self.command {
            Command::Serve(serve) => {
                let roles =
                    serve.roles.as_ref().map(|roles| toml::Value::Array(roles.iter().map(role_value).collect()));
                overrides.set("roles", roles);
                Some(&serve.listen)
            }
            Command::Demo(demo) => Some(&demo.listen),
            _ => None,
        };
        if let Some(listen) = listen {
            overrides.set("platform.listen", listen.platform_listen.clone());
            overrides.set("provider.listen", listen.provider_listen.clone());
        }
        overrides
    }
}

fn role_value(role: &Role) -> toml::Value {
    toml::Value::String(role.name().to_owned())
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;

    #[test]
    fn clap_accepts_the_definition_of_the_command_line() {
        Cli::command().debug_assert();
    }

    #[test]
    fn every_command_and_flag_has_a_description_and_every_command_has_an_example() {
        fn walk(command: &clap::Command) {
            assert!(command.get_about().is_some(), "{} has no description", command.get_name());
            for argument in command.get_arguments() {
                assert!(argument.get_help().is_some(), "{} of {}", argument.get_id(), command.get_name());
            }
            let after = command.get_after_help().map(ToString::to_string).unwrap_or_default();
            assert!(after.contains("Examples:"), "{} has no example", command.get_name());
            command.get_subcommands().for_each(walk);
        }
        walk(&Cli::command());
    }
}
