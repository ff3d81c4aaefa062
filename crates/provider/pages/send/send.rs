//! Cargo.toml: serde_json = "1", svix = "2.9", tokio = { version = "1", features = ["full"] }
use std::error::Error;
use std::io::Write as _;

use svix::api::{Svix, SvixOptions};
use svix::models::MessageIn;

const PAYLOAD: &str = r#"{"id": 1}"#;

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let key = std::env::var("PROVIDER_KEY")?;
    let server_url = Some("https://provider.example".to_owned());
    let svix = Svix::new(key, Some(SvixOptions { server_url, ..SvixOptions::default() }));
    let message = MessageIn::new("example.created".to_owned(), serde_json::from_str(PAYLOAD)?);
    let accepted = svix.message().create("app_example".to_owned(), message, None).await?;
    Ok(writeln!(std::io::stdout(), "202 {}", serde_json::to_string(&accepted)?)?)
}
