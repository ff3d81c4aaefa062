//! A PostgreSQL of the tests' own: a cluster in a temporary directory for each process, a new database for each call.
//!
//! Nothing is skipped where PostgreSQL is missing: the error names the package. The cluster is on disk as a real one is
//! (`fsync=on`), speaks on 127.0.0.1 only, and trusts whoever is there. A shell of its own process group watches over it:
//! it holds the reading end of a pipe to this process, and when that closes, however this process ended, it stops the
//! server and removes the directory. A test that does something to its server itself has one of its own: [`DedicatedServer`].

mod dedicated;

use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher, Hasher};
use std::io::{BufRead, BufReader, Read};
use std::net::{Ipv4Addr, TcpListener};
use std::os::unix::fs::{MetadataExt, chown};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::OnceLock;

pub use self::dedicated::{DedicatedServer, Settings, Tls};

/// Address of a server to use instead of an own cluster. The user must be allowed to create databases, which stay there.
pub const SERVER_VARIABLE: &str = "LOTWIRE_TEST_POSTGRES_URL";

/// The database's superuser in an own cluster.
const SUPERUSER: &str = "lotwire";
/// Whom the server runs as when this process is root's, which PostgreSQL refuses to be.
const SYSTEM_USER: &str = "postgres";
/// A port that was free may be taken by the time the server binds it.
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
    /// A program of PostgreSQL's could not do what it was asked.
    #[error("{what}: {why}")]
    Failed {
        /// What was to be done.
        what: &'static str,
        /// What it said.
        why: String,
    },
}

fn failed(what: &'static str, why: impl std::fmt::Display) -> PostgresError {
    PostgresError::Failed { what, why: why.to_string() }
}

/// Makes a new, empty database and answers its address, `postgres://…`. The first call of a process starts a cluster, which
/// takes a second or two, unless [`SERVER_VARIABLE`] names a server.
pub async fn fresh_database() -> Result<String, PostgresError> {
    let made = tokio::task::spawn_blocking(make_database).await;
    made.map_err(|error| failed("making a database", error))?
}

fn make_database() -> Result<String, PostgresError> {
    static CLUSTER: OnceLock<Result<Cluster, PostgresError>> = OnceLock::new();
    let server = match std::env::var(SERVER_VARIABLE) {
        Ok(server) => server,
        Err(_) => CLUSTER.get_or_init(start_cluster).as_ref().map_err(Clone::clone)?.server.clone(),
    };
    // Many processes may use one server: the standard library's hash keys are random in each of them and each time.
    let name = format!("lotwire_test_{:016x}", RandomState::new().build_hasher().finish());
    let mut psql = Command::new(program("psql").ok_or(PostgresError::NotInstalled("psql"))?);
    psql.args(["-X", "-q", "-w", "-v", "ON_ERROR_STOP=1", "-c"])
        .arg(format!("CREATE DATABASE {name} TEMPLATE template0"));
    let output = psql.args(["-d", &server]).stdin(Stdio::null()).output();
    let output = output.map_err(|error| failed("starting psql", error))?;
    if !output.status.success() {
        return Err(failed("CREATE DATABASE", String::from_utf8_lossy(&output.stderr).trim()));
    }
    Ok(with_database(&server, &name))
}

/// The address with another database.
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
    /// Holds the pipe that the shell waits on. In a static, it is never dropped: the kernel closes it.
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
    let mut last = failed("starting PostgreSQL", "it was not tried");
    for _ in 0..STARTS_MAX {
        match try_start(settings) {
            Ok(cluster) => return Ok(cluster),
            Err(error) => last = error,
        }
    }
    Err(last)
}

/// What the shell does: `$1` is the directory of the programs, `$2` that of the cluster, `$3` the port, `$4` the superuser.
/// It makes and starts the cluster, says so, does what it is told until the end of its input, and leaves nothing behind; also when
/// nobody is there any more to hear what it says.
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
if initdb -D data -U "$4" --auth=trust --encoding=UTF8 --locale=C --no-sync >log 2>&1 && cat >>data/postgresql.conf <<END
listen_addresses = '127.0.0.1'
port = $3
unix_socket_directories = '$2'
max_connections = 300
shared_buffers = '64MB'
fsync = on
synchronous_commit = on
$CONFIGURATION
END
then
[ -z "$ACCESS" ] || printf '%s\n' "$ACCESS" >data/pg_hba.conf
pg_ctl -D data -l log -w -t 60 start >/dev/null 2>&1 && echo ready || tail -n 20 log
else tail -n 20 log
fi
exec 3>&1 >/dev/null 2>&1
while read -r command; do
  if pg_ctl -D data -l log -m fast -w -t 60 "$command" 3>&-; then echo done >&3; else echo failed >&3; fi
done
exec 3>&-
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
    // A group of its own: what is sent to the tests' group (Ctrl-C, a time-out) must not end it before the server.
    command.process_group(0).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn().map_err(|error| failed(what, error))?;
    // From here on the shell removes it.
    let directory = directory.keep();
    let Some(output) = child.stdout.take() else { return Err(failed(what, "its shell has no output")) };
    let mut output = BufReader::new(output);
    let mut said = String::new();
    output.read_line(&mut said).map_err(|error| failed(what, error))?;
    if said.trim() != "ready" {
        drop(child.stdin.take());
        let _ = output.read_to_string(&mut said);
        let _ = child.wait();
        return Err(failed(what, said.trim()));
    }
    Ok(Cluster {
        server: format!("postgres://{SUPERUSER}@127.0.0.1:{port}/postgres"),
        port,
        directory,
        shell: child,
        output,
    })
}

/// A shell that may run PostgreSQL in the directory.
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

/// The newest of PostgreSQL's programs of this name.
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
    fn the_database_is_the_path_of_the_address() {
        let address = with_database("postgres://me:secret@db.example:5433/postgres?sslmode=prefer", "new");
        assert_eq!(address, "postgres://me:secret@db.example:5433/new?sslmode=prefer");
        assert_eq!(with_database("postgres://db.example", "new"), "postgres://db.example/new");
    }

    #[tokio::test]
    async fn every_call_makes_an_empty_database_of_its_own() {
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
