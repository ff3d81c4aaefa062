//! `lotwire user`: people who sign in.

use clap::Subcommand;
use uuid::Uuid;

use super::Confirmation;

#[derive(Debug, Subcommand)]
pub(crate) enum User {
    /// Create a user. The password is made and shown this once, or read from standard input with --password-stdin.
    #[command(after_help = "\
Examples:
  lotwire user create ann@example.com --role administrator
  printf %s \"$PASSWORD\" | lotwire user create bob@example.com --role clerk --password-stdin

Then they sign in: POST /api/v1/sessions with {\"email\":\"…\",\"password\":\"…\"} answers with a token that is taken wherever an
API key is. Roles are described in docs/access.md.")]
    Create {
        /// E-mail address.
        email: String,
        /// administrator, operator, clerk, support or viewer.
        #[arg(long)]
        role: String,
        /// Read the password from standard input.
        #[arg(long)]
        password_stdin: bool,
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
    /// List the users, disabled ones too.
    #[command(after_help = "\
Examples:
  lotwire user list
  lotwire user list --json | jq 'select(.secondFactor | not)'")]
    List {
        /// Print JSON, one object a line.
        #[arg(long)]
        json: bool,
    },
    /// Give a user another role. Their sessions end; a running server refuses them within five seconds.
    #[command(after_help = "\
Examples:
  lotwire user role bob@example.com operator")]
    Role {
        /// E-mail address.
        email: String,
        /// administrator, operator, clerk, support or viewer.
        role: String,
    },
    /// Let a user no longer sign in. Their sessions end; a running server refuses them within five seconds.
    #[command(after_help = "\
Examples:
  lotwire user disable bob@example.com")]
    Disable {
        /// E-mail address.
        email: String,
    },
    /// Let a disabled user sign in again.
    #[command(after_help = "\
Examples:
  lotwire user enable bob@example.com")]
    Enable {
        /// E-mail address.
        email: String,
    },
    /// Remove a user who has never signed in. Others are disabled instead: the log may name them.
    #[command(after_help = "\
Examples:
  lotwire user delete bob@example.com            asks first
  lotwire user delete bob@example.com --yes")]
    Delete {
        /// E-mail address.
        email: String,
        #[command(flatten)]
        confirmation: Confirmation,
    },
    /// Give a user another password. It is made and shown this once, or read from standard input with --password-stdin. Their
    /// sessions end, and they may try to sign in at once.
    #[command(after_help = "\
Examples:
  lotwire user password ann@example.com
  printf %s \"$PASSWORD\" | lotwire user password ann@example.com --password-stdin")]
    Password {
        /// E-mail address.
        email: String,
        /// Read the password from standard input.
        #[arg(long)]
        password_stdin: bool,
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
    /// Turn a user's second factor off, for who has lost the authenticator and the recovery codes.
    #[command(after_help = "\
Examples:
  lotwire user second-factor-off ann@example.com")]
    SecondFactorOff {
        /// E-mail address.
        email: String,
    },
    /// Make a user with the role clerk a clerk of a webcast.
    #[command(after_help = "\
Examples:
  lotwire user assign bob@example.com --auction 0199…

A clerk gives commands in, and sees the desk of, the webcasts that they are assigned to. Administrators and operators need no
assignment.")]
    Assign {
        /// E-mail address.
        email: String,
        /// The webcast.
        #[arg(long, value_name = "UUID")]
        auction: Uuid,
    },
    /// Take a clerk off a webcast. A running server refuses their next command.
    #[command(after_help = "\
Examples:
  lotwire user webcasts bob@example.com
  lotwire user unassign bob@example.com --auction 0199…")]
    Unassign {
        /// E-mail address.
        email: String,
        /// The webcast.
        #[arg(long, value_name = "UUID")]
        auction: Uuid,
    },
    /// List the webcasts that a clerk is assigned to, without archived ones.
    #[command(after_help = "\
Examples:
  lotwire user webcasts bob@example.com
  lotwire user webcasts bob@example.com --json | jq -r .uuid")]
    Webcasts {
        /// E-mail address.
        email: String,
        /// Print JSON, one object a line.
        #[arg(long)]
        json: bool,
    },
    /// List a user's sessions.
    #[command(after_help = "\
Examples:
  lotwire user sessions ann@example.com
  lotwire user sessions ann@example.com --json | jq -r .address")]
    Sessions {
        /// E-mail address.
        email: String,
        /// Print JSON, one object a line.
        #[arg(long)]
        json: bool,
    },
    /// End a user's sessions, or one of them. A running server refuses them within five seconds.
    #[command(after_help = "\
Examples:
  lotwire user sessions ann@example.com
  lotwire user sign-out ann@example.com --session 0199…
  lotwire user sign-out ann@example.com")]
    SignOut {
        /// E-mail address.
        email: String,
        /// Only this one, as `user sessions` says it.
        #[arg(long, value_name = "UUID")]
        session: Option<Uuid>,
    },
}
