//! A PostgreSQL server for one test, which may configure, stop and restart it.

use std::io::{BufRead as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::{Cluster, PostgresError, SUPERUSER, failed, program, start_with};
use crate::certificates::Identity;

/// How a server is set up.
#[derive(Debug, Clone, Default)]
pub struct Settings {
    /// Lines of `postgresql.conf`.
    pub configuration: String,
    /// The content of `pg_hba.conf`; empty accepts every connection. The superuser needs the Unix socket: `local all
    /// all trust`.
    pub access: String,
    /// The TLS settings; none disables TLS.
    pub tls: Option<Tls>,
    /// The server that is restored; none creates a new one.
    pub restored: Option<PointInTime>,
}

/// A moment of another server, which archives its write-ahead log ([`Settings::with_archive`]).
#[derive(Debug, Clone)]
pub struct PointInTime {
    /// [`DedicatedServer::directory`] of a server with a base backup. It exists until this server has started.
    pub directory: PathBuf,
    /// The moment, as PostgreSQL reads it.
    pub time: String,
}

/// The server's certificate and the authority for client certificates.
#[derive(Debug, Clone)]
pub struct Tls {
    /// The server's certificate and key.
    pub identity: Identity,
    /// Certificate in PEM of the authority that signs client certificates; empty for none.
    pub client_authority: String,
}

impl Settings {
    /// A server that archives its write-ahead log.
    pub fn with_archive() -> Self {
        let archive = "archive_mode = on\narchive_command = 'test ! -f ../archive/%f && cp %p ../archive/%f'\n";
        Settings { configuration: archive.to_owned(), ..Settings::default() }
    }

    pub(super) fn variables(&self) -> Vec<(&'static str, String)> {
        let mut configuration = self.configuration.clone();
        let mut variables = vec![("ACCESS", self.access.clone())];
        if let Some(tls) = &self.tls {
            configuration.push_str("\nssl = on\nssl_cert_file = '../server.pem'\nssl_key_file = '../server-key.pem'\n");
            if !tls.client_authority.is_empty() {
                configuration.push_str("ssl_ca_file = '../clients.pem'\n");
            }
            variables.push(("CERTIFICATE", tls.identity.certificate.clone()));
            variables.push(("KEY", tls.identity.key.clone()));
            variables.push(("CLIENT_AUTHORITY", tls.client_authority.clone()));
        }
        if let Some(PointInTime { directory, time }) = &self.restored {
            let directory = directory.display();
            configuration.push_str(&format!(
                "\narchive_mode = off\nrestore_command = 'cp {directory}/archive/%f %p'\nrecovery_target_time = '{time}'\n\
                 recovery_target_action = promote\n"
            ));
            variables.push(("RESTORE_FROM", directory.to_string()));
        }
        variables.push(("CONFIGURATION", configuration));
        variables
    }
}

/// A running server. Dropping it stops the server and removes its data.
#[derive(Debug)]
pub struct DedicatedServer(Cluster);

impl DedicatedServer {
    /// Starts a new server, which takes a second or two.
    pub fn start(settings: &Settings) -> Result<Self, PostgresError> {
        for name in ["initdb", "postgres", "psql"] {
            program(name).ok_or(PostgresError::NotInstalled(name))?;
        }
        start_with(settings).map(DedicatedServer)
    }

    /// The port on 127.0.0.1.
    pub fn port(&self) -> u16 {
        self.0.port
    }

    /// The directory of its Unix socket.
    pub fn directory(&self) -> &Path {
        &self.0.directory
    }

    /// Address for the superuser.
    pub fn url(&self, database: &str) -> String {
        format!("postgres://{SUPERUSER}@127.0.0.1:{}/{database}", self.0.port)
    }

    /// Runs statements as superuser, one after the other. Returns the rows, with fields separated by `|`.
    pub fn sql(&self, text: &str) -> Result<String, PostgresError> {
        let mut psql = Command::new(program("psql").ok_or(PostgresError::NotInstalled("psql"))?);
        psql.args(["-X", "-q", "-w", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-f", "-"]).stdin(Stdio::piped());
        psql.args(["-U", SUPERUSER, "-d", "postgres", "-p", &self.0.port.to_string()]).arg("-h").arg(&self.0.directory);
        psql.stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut psql = psql.spawn().map_err(|error| failed("starting psql", error))?;
        if let Some(mut input) = psql.stdin.take() {
            input.write_all(text.as_bytes()).map_err(|error| failed("writing to psql", error))?;
        }
        let output = psql.wait_with_output().map_err(|error| failed("waiting for psql", error))?;
        if !output.status.success() {
            return Err(failed("SQL", String::from_utf8_lossy(&output.stderr).trim()));
        }
        Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
    }

    /// An installed program that connects to this server as superuser. The caller adds the arguments.
    pub fn client(&self, name: &'static str) -> Result<Command, PostgresError> {
        let mut command = Command::new(program(name).ok_or(PostgresError::NotInstalled(name))?);
        command.env("PGHOST", &self.0.directory).env("PGPORT", self.0.port.to_string()).env("PGUSER", SUPERUSER);
        Ok(command)
    }

    /// Makes a base backup, from which a server with [`Settings::restored`] can start.
    pub fn base_backup(&mut self) -> Result<(), PostgresError> {
        self.send_command("base-backup")
    }

    /// Stops the server with a fast shutdown: it ends all sessions and writes a checkpoint.
    pub fn stop(&mut self) -> Result<(), PostgresError> {
        self.send_command("stop")
    }

    /// Starts the server after [`DedicatedServer::stop`], on the same port.
    pub fn start_again(&mut self) -> Result<(), PostgresError> {
        self.send_command("start")
    }

    /// Stops all processes of the server with SIGSTOP: the server does not respond, and its machine keeps the connections open.
    pub fn freeze(&mut self) -> Result<(), PostgresError> {
        self.send_command("freeze")
    }

    /// Continues a server after [`DedicatedServer::freeze`].
    pub fn thaw(&mut self) -> Result<(), PostgresError> {
        self.send_command("thaw")
    }

    /// Restarts the server with this certificate.
    pub fn show(&mut self, identity: &Identity) -> Result<(), PostgresError> {
        self.stop()?;
        for (file, text) in [("server.pem", &identity.certificate), ("server-key.pem", &identity.key)] {
            // The files exist already, with the owner and mode that PostgreSQL requires.
            std::fs::write(self.0.directory.join(file), text)
                .map_err(|error| failed("writing a certificate", error))?;
        }
        self.start_again()
    }

    fn send_command(&mut self, command: &'static str) -> Result<(), PostgresError> {
        let input = self.0.shell.stdin.as_mut().ok_or_else(|| failed(command, "its shell has no input"))?;
        writeln!(input, "{command}").map_err(|error| failed(command, error))?;
        let mut reply = String::new();
        self.0.output.read_line(&mut reply).map_err(|error| failed(command, error))?;
        if reply.trim() == "done" { Ok(()) } else { Err(failed(command, reply.trim())) }
    }
}

impl Drop for DedicatedServer {
    fn drop(&mut self) {
        // At the end of its input, the shell stops the server and removes the directory.
        drop(self.0.shell.stdin.take());
        let _ = self.0.shell.wait();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dedicated_server_restarts_on_its_port_and_its_directory_is_removed() {
        let settings = Settings { configuration: "max_connections = 7".to_owned(), ..Settings::default() };
        let mut server = DedicatedServer::start(&settings).unwrap();
        assert_eq!(server.sql("SHOW max_connections").unwrap(), "7");
        server.stop().unwrap();
        assert!(server.sql("SELECT 1").is_err());
        server.start_again().unwrap();
        assert_eq!(server.sql("SELECT 1").unwrap(), "1");
        let directory = server.directory().to_owned();
        drop(server);
        assert!(!directory.exists());
    }
}
