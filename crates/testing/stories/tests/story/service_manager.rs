//! A server that a service manager starts: it extends its start while it waits for the databases, reports that it is ready, and
//! reports its stop. `lotwire health` says whether it works.

use std::fs::File;
use std::os::unix::net::UnixDatagram;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::Duration;

use testkit::server::Launch;

use crate::support::{Started, launch};

/// The next report to the service manager.
fn next(socket: &UnixDatagram) -> String {
    let mut bytes = [0; 4_096];
    let count = socket.recv(&mut bytes).expect("the server reports to its service manager");
    String::from_utf8_lossy(&bytes[..count]).into_owned()
}

fn health(launch: &Launch) -> Output {
    launch.command().arg("health").output().unwrap()
}

fn start(launch: &Launch, socket: &Path) -> Started {
    let mut serve = launch.command();
    serve.args(["serve", "--platform-listen", &launch.platform.to_string()]);
    serve.args(["--provider-listen", &launch.provider.to_string()]).env("NOTIFY_SOCKET", socket).stdout(Stdio::null());
    Started(serve.spawn().unwrap())
}

#[test]
fn a_service_manager_learns_that_the_server_migrates_is_ready_and_stops() {
    let (data, run) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let launch = launch(data.path());
    let path = run.path().join("notify");
    let socket = UnixDatagram::bind(&path).unwrap();
    socket.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
    // The server waits for its databases as long as another process migrates them.
    let migrating = File::create(data.path().join("provider.db.migrate")).unwrap();
    migrating.lock().unwrap();
    let mut server = start(&launch, &path);
    let first = next(&socket);
    assert!(first.contains("EXTEND_TIMEOUT_USEC=") && first.contains("STATUS="), "{first}");
    assert!(!health(&launch).status.success(), "the server is not ready");
    drop(migrating);
    let ready =
        std::iter::repeat_with(|| next(&socket)).find(|report| !report.contains("EXTEND_TIMEOUT_USEC")).unwrap();
    assert!(ready.contains("READY=1\n") && ready.contains(&launch.platform_url()), "{ready}");
    // No wait: what is ready works.
    let healthy = health(&launch);
    assert!(healthy.status.success(), "{}", String::from_utf8_lossy(&healthy.stdout));
    assert!(Command::new("kill").args(["-TERM", &server.0.id().to_string()]).status().unwrap().success());
    let stopping = next(&socket);
    // The default drain of 20 seconds, and a margin.
    assert!(stopping.contains("STOPPING=1\n") && stopping.contains("EXTEND_TIMEOUT_USEC=50000000"), "{stopping}");
    assert!(server.0.wait().unwrap().success());
    let ended = health(&launch);
    let output = String::from_utf8_lossy(&ended.stdout);
    assert!(!ended.status.success() && output.contains("Is the server running?"), "{output}");
}
