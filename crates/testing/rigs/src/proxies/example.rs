//! Runs a proxy with its example from the guide, on other ports and with certificates of its own.

use std::net::{Ipv4Addr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use tempfile::TempDir;
use testkit::certificates::{Authority, Validity};
use testkit::server::Launch;

use super::{PLATFORM, PROVIDER, Proxy};
use crate::RigError;

/// A running proxy. Dropping it ends it.
pub(super) struct Running {
    /// Where it listens, with TLS.
    pub(super) port: u16,
    proxy: Child,
    folder: TempDir,
}

impl Running {
    /// Starts a proxy in front of the server of `launch`.
    pub(super) fn start(proxy: Proxy, examples: &Path, port: u16, launch: &Launch) -> Result<Self, RigError> {
        let folder = tempfile::tempdir()?;
        let authority = Authority::new("Test")?;
        std::fs::write(folder.path().join("authority.pem"), authority.certificate())?;
        for name in [PLATFORM, PROVIDER] {
            let identity = authority.server(&[name], Validity::Now)?;
            let place = folder.path().join(name);
            std::fs::create_dir(&place)?;
            std::fs::write(place.join("fullchain.pem"), &identity.certificate)?;
            std::fs::write(place.join("privkey.pem"), &identity.key)?;
            std::fs::write(folder.path().join(format!("{name}.pem")), identity.certificate + &identity.key)?;
        }
        let here = folder.path().display().to_string();
        let name = match proxy {
            Proxy::Nginx => "nginx.conf",
            Proxy::Caddy => "Caddyfile",
            Proxy::Haproxy => "haproxy.cfg",
        };
        let example = std::fs::read_to_string(examples.join(name))?
            .replace("/etc/letsencrypt/live", &here)
            .replace("/etc/haproxy", &here)
            .replace("127.0.0.1:8080", &launch.platform.to_string())
            .replace("127.0.0.1:8071", &launch.provider.to_string());
        let example = match proxy {
            Proxy::Nginx => format!(
                "daemon off;\nmaster_process off;\npid {here}/pid;\nerror_log stderr warn;\nevents {{}}\nhttp {{\naccess_log off;\n\
                 client_body_temp_path {here}/body;\nproxy_temp_path {here}/proxy;\nfastcgi_temp_path {here}/fastcgi;\n\
                 uwsgi_temp_path {here}/uwsgi;\nscgi_temp_path {here}/scgi;\n{}\n}}\n",
                example.replace("listen 443", &format!("listen 127.0.0.1:{port}"))
            ),
            Proxy::Caddy => format!(
                "{{\n\tadmin off\n\tauto_https disable_redirects\n\tstorage file_system {here}/storage\n}}\n{}",
                example.replace(".example.com {", &format!(".example.com:{port} {{"))
            ),
            Proxy::Haproxy => example.replace("bind :443", &format!("bind 127.0.0.1:{port}")),
        };
        let file = folder.path().join(name);
        std::fs::write(&file, example)?;
        let mut command = match proxy {
            Proxy::Nginx => command("nginx", &["-p", &here, "-e", "stderr", "-c"]),
            Proxy::Caddy => command("caddy", &["run", "--adapter", "caddyfile", "--config"]),
            Proxy::Haproxy => command("haproxy", &["-db", "-f"]),
        };
        let log = std::fs::File::create(folder.path().join("log"))?;
        command.arg(&file).stdin(Stdio::null()).stdout(log.try_clone()?).stderr(log).env("HOME", &here);
        Ok(Self { port, proxy: command.spawn()?, folder })
    }

    /// The authority of its certificates.
    pub(super) fn authority(&self) -> PathBuf {
        self.folder.path().join("authority.pem")
    }

    /// A temporary folder.
    pub(super) fn folder(&self) -> &Path {
        self.folder.path()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.proxy.kill();
        let _ = self.proxy.wait();
    }
}

/// Debian puts servers where only root's path has them.
fn command(name: &str, arguments: &[&str]) -> Command {
    let in_sbin = Path::new("/usr/sbin").join(name);
    let mut command = if in_sbin.exists() { Command::new(in_sbin) } else { Command::new(name) };
    command.args(arguments);
    command
}

/// A port that was free a moment ago.
pub(super) fn free_port() -> Result<u16, RigError> {
    Ok(TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()?.port())
}
