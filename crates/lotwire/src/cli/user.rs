//! Flags and help of `lotwire user`: users, their roles and their sessions.

use clap::Subcommand;
use uuid::Uuid;

use super::Confirmation;

#[derive(Debug, Subcommand)]
pub(crate) enum User {
    /// Create a user. The command generates a password and prints it, or reads one with --password-stdin.
    #[command(after_help = "\
Examples:
  lotwire user create ann@example.com --role administrator --name 'Ann Hartley' --require-new-password
  printf %s \"$PASSWORD\" | lotwire user create bob@example.com --role clerk --password-stdin

To sign in, the user sends {\"email\":\"…\",\"password\":\"…\"} to POST /api/v1/sessions. The response contains a token \
that the platform's API accepts in place of an API key. docs/operate/users.md describes the roles.")]
    Create {
        /// E-mail address of the user.
        email: String,
        /// Role: administrator, operator, clerk, support or viewer.
        #[arg(long)]
        role: String,
        /// What people call the user, at most 100 characters. Lists and histories show it.
        #[arg(long)]
        name: Option<String>,
        /// Read the password from standard input [default: generate one].
        #[arg(long)]
        password_stdin: bool,
        /// The user has to choose another password before anything else, because you have seen this one.
        #[arg(long)]
        require_new_password: bool,
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
    /// Give a user another name, which lists and histories show. Their sessions go on.
    #[command(after_help = "\
Examples:
  lotwire user name ann@example.com --name 'Ann Hartley'
  lotwire user name ann@example.com --name ''")]
    Name {
        /// E-mail address of the user.
        email: String,
        /// The new name, at most 100 characters; an empty one removes the name.
        #[arg(long)]
        name: String,
    },
    /// List the users, disabled ones included.
    #[command(after_help = "\
Examples:
  lotwire user list
  lotwire user list --json | jq 'select(.secondFactor | not)'")]
    List {
        /// Print JSON, one object a line.
        #[arg(long)]
        json: bool,
    },
    /// Change a user's role and end their sessions. A running server refuses the sessions within five seconds.
    #[command(after_help = "\
Examples:
  lotwire user role bob@example.com operator

If the user may do less with the new role, their open invitations are withdrawn, and links of room screens and speaker's views \
that they made are replaced: the command prints the new ones, and the old ones go on until the new ones are opened, for at \
most an hour. With --end-screen-links they end at once.")]
    Role {
        /// E-mail address of the user.
        email: String,
        /// Role: administrator, operator, clerk, support or viewer.
        role: String,
        /// End links of screens that the user made at once, instead of replacing them.
        #[arg(long)]
        end_screen_links: bool,
    },
    /// Disable a user and end their sessions. A running server refuses the sessions within five seconds.
    #[command(after_help = "\
Examples:
  lotwire user disable bob@example.com
  lotwire user disable bob@example.com --end-screen-links

The user's open invitations are withdrawn. Links of room screens and speaker's views that they made are replaced: the command \
prints the new ones, and the old ones go on until the new ones are opened, for at most an hour. With --end-screen-links they \
end at once.")]
    Disable {
        /// E-mail address of the user.
        email: String,
        /// End links of screens that the user made at once, instead of replacing them.
        #[arg(long)]
        end_screen_links: bool,
    },
    /// Enable a disabled user, who can then sign in again.
    #[command(after_help = "\
Examples:
  lotwire user enable bob@example.com")]
    Enable {
        /// E-mail address of the user.
        email: String,
    },
    /// Delete a user who has never signed in. To end the access of any other user, use `lotwire user disable`.
    ///
    /// The audit log may refer to users who have signed in, so they are never deleted.
    #[command(after_help = "\
Examples:
  lotwire user delete bob@example.com            ask for confirmation
  lotwire user delete bob@example.com --yes")]
    Delete {
        /// E-mail address of the user.
        email: String,
        #[command(flatten)]
        confirmation: Confirmation,
    },
    /// Replace a user's password, end their sessions and lift a block on their sign-in.
    ///
    /// The command generates a password and prints it, or reads one with --password-stdin.
    #[command(after_help = "\
Examples:
  lotwire user password ann@example.com --require-new-password
  printf %s \"$PASSWORD\" | lotwire user password ann@example.com --password-stdin")]
    Password {
        /// E-mail address of the user.
        email: String,
        /// Read the password from standard input [default: generate one].
        #[arg(long)]
        password_stdin: bool,
        /// The user has to choose another password before anything else, because you have seen this one.
        #[arg(long)]
        require_new_password: bool,
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
    /// Turn off the second factor of a user who has lost the authenticator and the recovery codes.
    #[command(after_help = "\
Examples:
  lotwire user second-factor-off ann@example.com")]
    SecondFactorOff {
        /// E-mail address of the user.
        email: String,
    },
    /// Assign a user with the role clerk to a webcast.
    #[command(after_help = "\
Examples:
  lotwire user assign bob@example.com --auction 0199…

A clerk can open the desk of a webcast and run its commands only when assigned to it. Administrators and operators need \
no assignment.")]
    Assign {
        /// E-mail address of the user.
        email: String,
        /// UUID of the webcast.
        #[arg(long, value_name = "UUID")]
        auction: Uuid,
    },
    /// Remove a clerk's assignment to a webcast. A running server refuses the clerk's next command.
    #[command(after_help = "\
Examples:
  lotwire user webcasts bob@example.com
  lotwire user unassign bob@example.com --auction 0199…")]
    Unassign {
        /// E-mail address of the user.
        email: String,
        /// UUID of the webcast.
        #[arg(long, value_name = "UUID")]
        auction: Uuid,
    },
    /// List the webcasts that a clerk is assigned to, except archived ones.
    #[command(after_help = "\
Examples:
  lotwire user webcasts bob@example.com
  lotwire user webcasts bob@example.com --json | jq -r .uuid")]
    Webcasts {
        /// E-mail address of the user.
        email: String,
        /// Print JSON, one object a line.
        #[arg(long)]
        json: bool,
    },
    /// List a user's sessions, at most 1,000.
    #[command(after_help = "\
Examples:
  lotwire user sessions ann@example.com
  lotwire user sessions ann@example.com --json | jq -r .address")]
    Sessions {
        /// E-mail address of the user.
        email: String,
        /// Print JSON, one object a line.
        #[arg(long)]
        json: bool,
    },
    /// End all sessions of a user, or one session. A running server refuses them within five seconds.
    #[command(after_help = "\
Examples:
  lotwire user sessions ann@example.com
  lotwire user sign-out ann@example.com --session 0199…
  lotwire user sign-out ann@example.com")]
    SignOut {
        /// E-mail address of the user.
        email: String,
        /// End only this session, as `lotwire user sessions` prints it.
        #[arg(long, value_name = "UUID")]
        session: Option<Uuid>,
    },
}
