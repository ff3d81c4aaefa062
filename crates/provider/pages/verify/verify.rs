//! Usage: `WEBHOOK_SECRET=whsec_… verify ID TIMESTAMP SIGNATURE < body`
//! Cargo.toml: base64 = "0.23", hmac = "0.13", sha2 = "0.11"
use std::io::{Read, Write};
use std::process::ExitCode;
use std::time::UNIX_EPOCH;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

/// The standard library has no comparison in constant time; [`Mac::verify_slice`] is one.
fn verify(secret: &str, id: &str, timestamp: &str, signatures: &str, body: &[u8]) -> bool {
    let now = UNIX_EPOCH.elapsed().map_or(0, |since| since.as_secs());
    let is_recent = timestamp.parse::<u64>().is_ok_and(|seconds| seconds.abs_diff(now) <= 300);
    let Ok(key) = STANDARD.decode(secret.trim_start_matches("whsec_")) else { return false };
    let Ok(mut mac) = Hmac::<Sha256>::new_from_slice(&key) else { return false };
    mac.update(format!("{id}.{timestamp}.").as_bytes());
    mac.update(body);
    let given = signatures.split(' ').filter_map(|given| STANDARD.decode(given.strip_prefix("v1,")?).ok());
    is_recent && given.into_iter().any(|given| mac.clone().verify_slice(&given).is_ok())
}

fn main() -> ExitCode {
    // In your web framework: the headers webhook-id, webhook-timestamp and webhook-signature, and the raw body.
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [id, timestamp, signatures] = &words[..] else { return ExitCode::from(2) };
    let secret = std::env::var("WEBHOOK_SECRET").unwrap_or_default();
    let mut body = Vec::new();
    let is_read = std::io::stdin().read_to_end(&mut body).is_ok();
    let is_valid = is_read && verify(&secret, id, timestamp, signatures, &body);
    let _ = writeln!(std::io::stdout(), "{}", if is_valid { "valid" } else { "refused" });
    if is_valid { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
