//! A temporary PostgreSQL: one cluster for each test process, a new database for each call.
//!
//! If PostgreSQL is not installed, tests fail and the error names the package. The cluster does not wait
//! for the disk (`fsync=off`): a commit survives the end of its processes, which is all that tests cause. It listens on
//! 127.0.0.1 only and accepts every user. A shell in its own process group supervises the
//! cluster. It reads from a pipe to this process; when the pipe closes, also after a kill, it stops the server and
//! removes the directory.
//!
//! A test that stops or reconfigures its server uses a [`DedicatedServer`].

mod dedicated;

use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher, Hasher};
use std::io::{BufRead, BufReader, Read, Write as _};
use std::net::{Ipv4Addr, TcpListener};
use std::os::unix::fs::{MetadataExt, chown};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::OnceLock;

pub use self::dedicated::{DedicatedServer, PointInTime, Settings, Tls};

/// Variable with the URL of a server to use instead of a temporary cluster. Its user must be allowed to create
/// databases. The databases are not deleted.
pub const SERVER_VARIABLE: &str = "LOTWIRE_TEST_POSTGRES_URL";

/// Superuser of a temporary cluster.
const SUPERUSER: &str = "lotwire";
/// System user that runs the server if this process runs as root, which PostgreSQL refuses.
const SYSTEM_USER: &str = "postgres";
/// Attempts to start the server. Another process may take the chosen port before the server binds it.
const STARTS_MAX: usize = 3;

/// Why there is no database.
#[derive(Debug, Clone, thiserror::Error)]
pub enum PostgresError {
    /// No `initdb`, `postgres` or `psql` was found.
    #[error(
        "PostgreSQL's {0} was found neither in /usr/lib/postgresql/*/bin nor in PATH: install Debian's package `postgresql`, \
         or name a server in LOTWIRE_TEST_POSTGRES_URL"
    )]
    NotInstalled(&'static str),
    /// A PostgreSQL program failed.
    #[error("{what}: {why}")]
    Failed {
        /// The failed step.
        what: &'static str,
        /// The error.
        why: String,
    },
}

fn failed(what: &'static str, why: impl std::fmt::Display) -> PostgresError {
    PostgresError::Failed { what, why: why.to_string() }
}

/// Creates an empty database and returns its URL, `postgres://…`. Unless [`SERVER_VARIABLE`] names a server, the first
/// call of a process starts a cluster, which takes a second or two.
pub async fn fresh_database() -> Result<String, PostgresError> {
    let made = tokio::task::spawn_blocking(make_database).await;
    made.map_err(|error| failed("creating a database", error))?
}

/// Creates the database `name`. A copy of files takes a quarter of the time of PostgreSQL's default, which logs each page;
/// PostgreSQL 14 copies files always.
const CREATE_DATABASE: &str = r#"
SELECT current_setting('server_version_num')::int >= 150000 AS has_strategies \gset
\if :has_strategies
CREATE DATABASE :name TEMPLATE template0 STRATEGY file_copy;
\else
CREATE DATABASE :name TEMPLATE template0;
\endif
"#;

fn make_database() -> Result<String, PostgresError> {
    static CLUSTER: OnceLock<Result<Cluster, PostgresError>> = OnceLock::new();
    let server = match std::env::var(SERVER_VARIABLE) {
        Ok(server) => server,
        Err(_) => CLUSTER.get_or_init(start_cluster).as_ref().map_err(Clone::clone)?.server.clone(),
    };
    // Several processes may share a server. The standard library's hash keys are random, so the names do not collide.
    let name = format!("lotwire_test_{:016x}", RandomState::new().build_hasher().finish());
    let mut psql = Command::new(program("psql").ok_or(PostgresError::NotInstalled("psql"))?);
    psql.args(["-X", "-q", "-w", "-v", "ON_ERROR_STOP=1", "-v", &format!("name={name}"), "-d", &server]);
    psql.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let output = psql.spawn().and_then(|mut child| {
        // If psql has ended, its output has the reason. Otherwise it ends when the pipe closes.
        let _ = child.stdin.take().map(|mut input| input.write_all(CREATE_DATABASE.as_bytes()));
        child.wait_with_output()
    });
    let output = output.map_err(|error| failed("starting psql", error))?;
    if !output.status.success() {
        return Err(failed("CREATE DATABASE", String::from_utf8_lossy(&output.stderr).trim()));
    }
    Ok(with_database(&server, &name))
}

/// The URL with another database.
fn with_database(server: &str, name: &str) -> String {
    let (address, options) =
        server.split_once('?').map_or((server, None), |(address, options)| (address, Some(options)));
    let host = address.find("://").map_or(0, |scheme| scheme + 3);
    let end = address[host..].find('/').map_or(address.len(), |slash| host + slash);
    let options = options.map(|options| format!("?{options}")).unwrap_or_default();
    format!("{}/{name}{options}", &address[..end])
}

#[derive(Debug)]
struct Cluster {
    server: String,
    port: u16,
    directory: PathBuf,
    /// The supervising shell with the pipe that it reads. A value in a static is never dropped; the kernel closes the
    /// pipe.
    shell: Child,
    output: BufReader<ChildStdout>,
}

fn start_cluster() -> Result<Cluster, PostgresError> {
    start_with(&Settings::default())
}

fn start_with(settings: &Settings) -> Result<Cluster, PostgresError> {
    for name in ["initdb", "postgres"] {
        if program(name).is_none() {
            return Err(PostgresError::NotInstalled(name));
        }
    }
    let mut last = failed("starting PostgreSQL", "no attempt was made");
    for _ in 0..STARTS_MAX {
        match try_start(settings) {
            Ok(cluster) => return Ok(cluster),
            Err(error) => last = error,
        }
    }
    Err(last)
}

/// The script of the supervising shell: `$1` is the directory of the programs, `$2` that of the cluster, `$3` the port,
/// `$4` the superuser. It creates and starts the cluster, prints `ready`, runs the commands from its input until that ends
/// (`base-backup`, `freeze`, `thaw`, and those of `pg_ctl`), and removes the cluster, also if its output is closed.
const SHELL: &str = r#"
trap '' INT TERM HUP PIPE
cd "$2" || exit 1
export LC_ALL=C
PATH="$1:$PATH"
umask 077
if [ -n "$CERTIFICATE" ]; then
  printf '%s\n' "$CERTIFICATE" >server.pem
  printf '%s\n' "$KEY" >server-key.pem
  printf '%s\n' "$CLIENT_AUTHORITY" >clients.pem
fi
port=$3 superuser=$4
mkdir archive
create() {
  if [ -n "$RESTORE_FROM" ]; then
    cp -a "$RESTORE_FROM/base" data && : >data/recovery.signal
  else
    initdb -D data -U "$superuser" --auth=trust --encoding=UTF8 --locale=C --no-sync
  fi
}
if create >log 2>&1 && cat >>data/postgresql.conf <<END
listen_addresses = '127.0.0.1'
port = $port
unix_socket_directories = '$2'
max_connections = 300
shared_buffers = '64MB'
fsync = off
full_page_writes = off
synchronous_commit = on
$CONFIGURATION
END
then
[ -z "$ACCESS" ] || printf '%s\n' "$ACCESS" >data/pg_hba.conf
pg_ctl -D data -l log -w -t 60 start >/dev/null 2>&1 && echo ready || tail -n 20 log
else tail -n 20 log
fi
exec 3>&1 >/dev/null 2>&1
signal_all() {
  server=$(head -n 1 data/postmaster.pid)
  kill "-$1" "$server" || return
  # A process that ended after it was listed needs no signal.
  for child in $(cat "/proc/$server/task/$server/children"); do kill "-$1" "$child" || :; done
}
run() {
  case "$1" in
    base-backup) pg_basebackup -h "$PWD" -p "$port" -U "$superuser" -D base --checkpoint=fast 3>&- ;;
    freeze) signal_all STOP ;;
    thaw) signal_all CONT ;;
    *) pg_ctl -D data -l log -m fast -w -t 60 "$1" 3>&- ;;
  esac
}
while read -r command; do
  if run "$command"; then echo done >&3; else echo failed >&3; fi
done
exec 3>&-
signal_all CONT
pg_ctl -D data -m immediate -w stop
cd /
rm -rf "$2"
"#;

fn try_start(settings: &Settings) -> Result<Cluster, PostgresError> {
    let what = "starting PostgreSQL";
    let directory =
        tempfile::Builder::new().prefix("lotwire-postgres-").tempdir().map_err(|error| failed(what, error))?;
    let port = free_port().map_err(|error| failed(what, error))?;
    let mut command = shell(directory.path()).map_err(|error| failed(what, error))?;
    let programs = program("postgres").and_then(|file| Some(file.parent()?.to_owned()));
    command.args(["-c", SHELL, "sh"]).arg(programs.unwrap_or_default()).arg(directory.path());
    command.args([&port.to_string(), SUPERUSER]).current_dir(directory.path());
    command.envs(settings.variables());
    // With its own process group, signals to the tests' group (Ctrl-C, a timeout) do not end the shell before the
    // server.
    command.process_group(0).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn().map_err(|error| failed(what, error))?;
    // From here on, the shell removes the directory.
    let directory = directory.keep();
    let Some(output) = child.stdout.take() else { return Err(failed(what, "its shell has no output")) };
    let mut output = BufReader::new(output);
    let mut reply = String::new();
    output.read_line(&mut reply).map_err(|error| failed(what, error))?;
    if reply.trim() != "ready" {
        drop(child.stdin.take());
        let _ = output.read_to_string(&mut reply);
        let _ = child.wait();
        return Err(failed(what, reply.trim()));
    }
    Ok(Cluster {
        server: format!("postgres://{SUPERUSER}@127.0.0.1:{port}/postgres"),
        port,
        directory,
        shell: child,
        output,
    })
}

/// A shell that runs as a user who may run PostgreSQL in the directory.
fn shell(directory: &Path) -> std::io::Result<Command> {
    if directory.metadata()?.uid() != 0 {
        return Ok(Command::new("sh"));
    }
    let (user, group) = (id_of("-u")?, id_of("-g")?);
    chown(directory, Some(user), Some(group))?;
    let mut command = Command::new("setpriv");
    command.args(["--reuid", &user.to_string(), "--regid", &group.to_string(), "--clear-groups", "--", "sh"]);
    Ok(command)
}

fn id_of(which: &str) -> std::io::Result<u32> {
    let output = Command::new("id").args([which, SYSTEM_USER]).output()?;
    String::from_utf8_lossy(&output.stdout).trim().parse().map_err(|_| {
        std::io::Error::other(format!(
            "PostgreSQL does not run as root, and there is no user `{SYSTEM_USER}` to run it as"
        ))
    })
}

/// The newest installed PostgreSQL program of this name.
fn program(name: &str) -> Option<PathBuf> {
    let version = |path: &PathBuf| path.file_name().and_then(|name| name.to_str()?.parse::<u32>().ok());
    let installed = std::fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten().map(|entry| entry.path());
    let mut installed: Vec<PathBuf> = installed.collect();
    installed.sort_by_key(version);
    let newest_first = installed.into_iter().rev().map(|path| path.join("bin"));
    let in_path = std::env::var_os("PATH").unwrap_or_default();
    newest_first.chain(std::env::split_paths(&in_path)).map(|folder| folder.join(name)).find(|file| file.is_file())
}

/// A port that was free a moment ago.
fn free_port() -> std::io::Result<u16> {
    Ok(TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()?.port())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_database_replaces_the_path_of_the_url() {
        let address = with_database("postgres://me:secret@db.example:5433/postgres?sslmode=prefer", "new");
        assert_eq!(address, "postgres://me:secret@db.example:5433/new?sslmode=prefer");
        assert_eq!(with_database("postgres://db.example", "new"), "postgres://db.example/new");
    }

    #[tokio::test]
    async fn every_call_creates_another_empty_database() {
        let (first, second) = (fresh_database().await.unwrap(), fresh_database().await.unwrap());
        assert_ne!(first, second);
        for (database, answer) in [(&first, "0"), (&second, "0")] {
            let sql = "SELECT count(*) FROM pg_tables WHERE schemaname = 'public'";
            let output =
                Command::new(program("psql").unwrap()).args(["-XAt", "-c", sql, "-d", database]).output().unwrap();
            assert_eq!(String::from_utf8_lossy(&output.stdout).trim(), answer);
        }
    }
}
