//! The command line: names, flags and help. What a command does is in [`crate::commands`].

mod api_key;
mod customer_publishing;
mod provider;
mod secrets;
mod user;
mod verify;

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueHint};
use uuid::Uuid;

use crate::config::{Overrides, Role};

pub(crate) use api_key::ApiKeyCommand;
pub(crate) use customer_publishing::{CustomerPublishing, Quarantine, QuarantineSend};
pub(crate) use provider::{
    Confirmation, EndpointRef, EndpointRemoval, PayloadCheckMode, Provider, ProviderAccount, ProviderAccountSet,
    ProviderApplication, ProviderEndpoint, ProviderKey, Skip, Stuck,
};
pub(crate) use secrets::Secrets;
pub(crate) use user::User;
pub(crate) use verify::Verify;

/// Auction platform with real-time webhooks and an embedded delivery provider.
#[derive(Debug, Parser)]
#[command(
    name = "lotwire",
    version,
    propagate_version = true,
    max_term_width = 110,
    after_help = "\
Examples:
  lotwire demo                                   see a sale and its webhooks, from nothing, in a minute
  lotwire serve                                  run platform and provider on 127.0.0.1:8080 and :8071
  lotwire provider account create \"Hartley & Sons\"
  lotwire customer create \"Hartley & Sons\"
  lotwire doctor                                 say what is wrong with this installation, if anything"
)]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) common: Common,
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// Flags that every command takes.
#[derive(Debug, Args)]
pub(crate) struct Common {
    /// Configuration file (TOML).
    #[arg(long, global = true, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) config: Option<PathBuf>,
    /// Directory of the SQLite files and of the secret key [default: ./lotwire-data].
    #[arg(long, global = true, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub(crate) data_dir: Option<PathBuf>,
    /// PostgreSQL instead of SQLite: postgres://user:password@host/database. For TLS that checks the server, add
    /// ?sslmode=verify-full&sslrootcert=FILE (or =system).
    #[arg(long, global = true, value_name = "postgres://…", hide_env_values = true)]
    pub(crate) database_url: Option<String>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Sell a catalogue and watch every webhook arrive: the whole way, from nothing.
    Demo(Demo),
    /// Run the platform, the embedded provider, or both.
    Serve(Serve),
    /// Accounts, keys, applications and endpoints of the embedded delivery provider, and what waits there.
    ///
    /// Wherever an application or endpoint is named, its uid does as well as its id. The commands work on the database, beside
    /// a running server, which follows within moments.
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
    /// Customers and their connection to a provider.
    #[command(subcommand)]
    Customer(Customer),
    /// Keys of the platform's API.
    #[command(subcommand)]
    Key(ApiKeyCommand),
    /// People who sign in, their roles and sessions.
    #[command(subcommand)]
    User(User),
    /// Catalogues.
    #[command(subcommand)]
    Catalogue(Catalogue),
    /// What is sealed in the databases, and with which key.
    #[command(subcommand)]
    Secrets(Secrets),
    /// The configuration in effect.
    #[command(subcommand)]
    Config(ConfigCommand),
    /// Check this installation and say what to do about what is wrong.
    #[command(after_help = "\
Examples:
  lotwire doctor
  lotwire doctor --data-dir /var/lib/lotwire
  lotwire doctor --database-url postgres://lotwire@db/lotwire

Status 0: nothing is wrong. 1: something is; each such line begins with WRONG and says what to do.")]
    Doctor,
    /// Check the log of auctions and items, and that what is stored is what it says.
    Verify(Verify),
    /// Print the OpenAPI document of an API.
    #[command(after_help = "\
Examples:
  lotwire openapi platform > platform.json
  lotwire openapi provider | jq -r '.paths | keys[]'")]
    Openapi {
        /// Whose API.
        api: crate::commands::openapi::Api,
    },
    /// Print the AsyncAPI document of the events.
    #[command(after_help = "\
Examples:
  lotwire asyncapi > asyncapi.json")]
    Asyncapi,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  lotwire demo                                   about a minute, then everything is left running
  lotwire demo --exit --json                     for scripts: status 0 only if every event arrived, once, valid, in order
  lotwire demo --exit --catalogue works.csv --lots 2000

Unless --data-dir is given (or data_dir configured), it works in a temporary directory, which is removed at its end.")]
pub(crate) struct Demo {
    /// Catalogue to sell; a small one of our own otherwise.
    #[arg(long, value_name = "FILE.csv", value_hint = ValueHint::FilePath)]
    pub(crate) catalogue: Option<PathBuf>,
    /// Lots to sell at most, half in the timed auction, half in the webcast.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(2..=100_000))]
    pub(crate) lots: Option<u32>,
    /// Stop at the end; status 0 only if each expected event arrived, once, valid, in order for its item.
    #[arg(long)]
    pub(crate) exit: bool,
    /// Print the summary as one JSON object on the last line.
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
    /// What to run.
    #[arg(long, value_delimiter = ',', value_name = "platform,provider")]
    pub(crate) roles: Option<Vec<Role>>,
    #[command(flatten)]
    pub(crate) listen: Listen,
}

#[derive(Debug, Args)]
pub(crate) struct Listen {
    /// Address of the platform's API [default: 127.0.0.1:8080].
    #[arg(long, value_name = "ADDR")]
    pub(crate) platform_listen: Option<SocketAddr>,
    /// Address of the provider's API [default: 127.0.0.1:8071].
    #[arg(long, value_name = "ADDR")]
    pub(crate) provider_listen: Option<SocketAddr>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Customer {
    /// Create a customer; prints its UUID.
    #[command(after_help = "\
Examples:
  lotwire customer create \"Hartley & Sons\"
  lotwire customer create \"Hartley & Sons\" --json | jq -r .uuid")]
    Create {
        /// Name; unique.
        name: String,
        /// Print JSON: {"uuid":"…"}.
        #[arg(long)]
        json: bool,
    },
    /// Enter a customer's consumer application and API key, and test them. Nothing is published without both.
    #[command(after_help = "\
Examples:
  printf %s \"$KEY\" | lotwire customer connect 0199… --application app_2b… --api-key-stdin --register-event-types
  lotwire customer connect 0199… --application app_2b… --api-key-file key.txt --provider-url https://api.eu.example.com

What is entered stays also when the test fails: then a warning says why, and the exit status is 0. `lotwire customer resume`
tests again, with exit status 1 when it fails.")]
    Connect(Box<CustomerConnect>),
    /// Create or update both event types in the customer's provider account.
    #[command(after_help = "\
Examples:
  lotwire customer register-event-types 0199…")]
    RegisterEventTypes {
        /// The customer.
        customer: Uuid,
    },
    /// Test the credentials, and let what waits go on at once: a parked queue, or events that wait to be tried again.
    #[command(after_help = "\
Examples:
  lotwire customer show 0199…                    what waits, and why
  lotwire customer resume 0199…")]
    Resume {
        /// The customer.
        customer: Uuid,
    },
    /// Show a customer's connection, what waits, and why.
    #[command(after_help = "\
Examples:
  lotwire customer show 0199…
  lotwire customer show 0199… --json | jq .pending")]
    Show {
        /// The customer.
        customer: Uuid,
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
    #[command(flatten)]
    Publishing(CustomerPublishing),
    /// List the customers.
    #[command(after_help = "\
Examples:
  lotwire customer list
  lotwire customer list --json | jq -r .uuid")]
    List {
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
}

#[derive(Debug, Args)]
pub(crate) struct CustomerConnect {
    /// The customer.
    pub(crate) customer: Uuid,
    /// Consumer application identifier (`app_…`).
    #[arg(long, value_name = "APP")]
    pub(crate) application: Option<String>,
    /// Read the provider API key from standard input.
    #[arg(long, conflicts_with = "api_key_file")]
    pub(crate) api_key_stdin: bool,
    /// Read the provider API key from a file.
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) api_key_file: Option<PathBuf>,
    /// Base address of the provider's API [default: the one that is entered, and at first the one of the configuration].
    #[arg(long, value_name = "URL", value_hint = ValueHint::Url)]
    pub(crate) provider_url: Option<String>,
    /// Go back to the provider of the configuration.
    #[arg(long, conflicts_with = "provider_url")]
    pub(crate) configured_provider: bool,
    /// Also publish what happened after this cursor of the events feed; without it, what happens from now on.
    #[arg(long, value_name = "CURSOR")]
    pub(crate) start_from: Option<i64>,
    /// Create or update both event types in the provider account as well.
    #[arg(long)]
    pub(crate) register_event_types: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Catalogue {
    /// Import a CSV catalogue into an auction: all of it, or nothing and a list of what is wrong.
    #[command(after_help = "\
Columns: lot_number and title are required; description, artist, date, medium, dimensions,
credit, image_url, low_estimate, high_estimate, opening_bid, reserve, buy_now, fixed_increment,
vendor, end_time and attachments may be there. Money is in minor units (pence, cents).

Examples:
  lotwire catalogue import works.csv --auction 0199… --dry-run
  lotwire catalogue import works.csv --auction 0199…")]
    Import {
        /// The file; `-` for standard input.
        #[arg(value_hint = ValueHint::FilePath)]
        file: PathBuf,
        /// The auction.
        #[arg(long, value_name = "UUID")]
        auction: Uuid,
        /// Check everything and import nothing.
        #[arg(long)]
        dry_run: bool,
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
}

#[derive(Debug, Subcommand)]
pub(crate) enum ConfigCommand {
    /// Say whether the configuration can be used.
    #[command(after_help = "\
Examples:
  lotwire config check
  lotwire config check --config lotwire.toml")]
    Check,
    /// Print the configuration in effect with the source of each value; secrets are not shown.
    #[command(after_help = "\
Examples:
  lotwire config show
  LOTWIRE_LOG__LEVEL=debug lotwire config show --config lotwire.toml")]
    Show,
    /// Print the reference of all keys, in Markdown.
    #[command(after_help = "\
Examples:
  lotwire config reference > configuration.md")]
    Reference,
}

impl Cli {
    /// The configuration values that flags give.
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
            overrides.set("platform.listen", listen.platform_listen.map(|addr| addr.to_string()));
            overrides.set("provider.listen", listen.provider_listen.map(|addr| addr.to_string()));
        }
        overrides
    }
}

fn role_value(role: &Role) -> toml::Value {
    toml::Value::String(match role {
        Role::Platform => "platform".to_owned(),
        Role::Provider => "provider".to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;

    #[test]
    fn the_command_line_is_well_formed() {
        Cli::command().debug_assert();
    }

    #[test]
    fn every_command_and_flag_says_what_it_is_for_and_every_command_shows_how() {
        fn walk(command: &clap::Command) {
            assert!(command.get_about().is_some(), "{} has no description", command.get_name());
            for argument in command.get_arguments() {
                assert!(argument.get_help().is_some(), "{} of {}", argument.get_id(), command.get_name());
            }
            let after = command.get_after_help().map(ToString::to_string).unwrap_or_default();
            assert!(command.has_subcommands() || after.contains("Examples:"), "{} has no example", command.get_name());
            command.get_subcommands().for_each(walk);
        }
        walk(&Cli::command());
    }
}
