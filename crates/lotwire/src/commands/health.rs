//! Runs `lotwire health`: asks the running server of each role whether it works.

use std::process::ExitCode;
use std::time::Duration;

use kit_outbound::{AddressPolicy, Client, ClientConfig, Headers, Request};

use super::print;
use crate::address_file;
use crate::config::{Config, Role, listen_address};
use crate::data_dir::has_file;
use crate::error::{CommandError, ErrorContext as _};

/// The call of both APIs that checks the database and the workers.
const PATH: &str = "/api/v1/health";
/// Time limit for a response. The server's own check of its database is shorter.
const DEADLINE: Duration = Duration::from_secs(10);
const RESPONSE_BYTES_MAX: usize = 4 << 10;

pub(super) async fn run(config: &Config) -> Result<ExitCode, CommandError> {
    let client = Client::new(ClientConfig { policy: AddressPolicy::any(), ..ClientConfig::default() });
    let mut code = ExitCode::SUCCESS;
    for role in [Role::Platform, Role::Provider].into_iter().filter(|role| config.runs(*role)) {
        match check(&client, &url(config, role)).await {
            Ok(text) => print(&format!("ok     {:<9} {text}", role.name())),
            Err(error) => {
                // Without the address file, the server was perhaps asked at an address where it does not listen.
                let error = has_file(&config.data_dir, ".").err().unwrap_or(error);
                print(&format!("WRONG  {:<9} {error}", role.name()));
                code = ExitCode::FAILURE;
            }
        }
    }
    Ok(code)
}

/// Where the server of the role listens: as its address file says, because a flag or port 0 may have set it.
fn url(config: &Config, role: Role) -> String {
    let configured = match role {
        Role::Platform => config.platform.listen,
        Role::Provider => config.provider.listen,
    };
    address_file::read(&config.data_dir, role).unwrap_or_else(|| listen_address::local_url(configured))
}

async fn check(client: &Client, url: &str) -> Result<String, CommandError> {
    let request = Request {
        method: http::Method::GET,
        to: format!("{url}{PATH}").parse().context(url)?,
        headers: Headers::default(),
        body: bytes::Bytes::new(),
        deadline: DEADLINE,
        response_bytes_max: RESPONSE_BYTES_MAX,
    };
    let response = client.send_fresh(request, Duration::ZERO).await.outcome;
    let response = response.context(format!("{url} does not respond. Is the server running?"))?;
    if response.status.is_success() {
        return Ok(url.to_owned());
    }
    let body = String::from_utf8_lossy(&response.body);
    Err(CommandError::new(format!("{url}{PATH} responds {}: {}", response.status, body.trim())))
}

#[cfg(test)]
mod tests {
    use axum::Router;
    use axum::http::StatusCode;
    use axum::routing::get;

    use super::*;

    async fn server(status: StatusCode) -> String {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = listen_address::local_url(listener.local_addr().unwrap());
        let router = Router::new().route(PATH, get(move || async move { (status, "the database is away") }));
        tokio::spawn(async move { axum::serve(listener, router).await });
        url
    }

    #[tokio::test]
    async fn a_server_that_does_not_work_and_one_that_does_not_run_fail_the_check_with_the_reason() {
        let client = Client::new(ClientConfig { policy: AddressPolicy::any(), ..ClientConfig::default() });
        for status in [StatusCode::OK, StatusCode::NO_CONTENT] {
            check(&client, &server(status).await).await.unwrap();
        }
        let failed = check(&client, &server(StatusCode::SERVICE_UNAVAILABLE).await).await.unwrap_err().to_string();
        assert!(failed.contains("503") && failed.contains("the database is away"), "{failed}");
        let silent = check(&client, "http://127.0.0.1:1").await.unwrap_err().to_string();
        assert!(silent.contains("Is the server running?"), "{silent}");
    }
}
