//! Error texts of PostgreSQL, with advice for the operator.

use std::error::Error as _;

use rustls::{AlertDescription, CertificateError};
use tokio_postgres::Error;
use tokio_postgres::error::{DbError, SqlState};

use super::connector::handshake_error;
use super::tls::is_ca_used_as_end_entity;

/// The error with its causes and advice. It omits the server's detail text, which may contain values of rows.
pub fn describe_error(error: &Error) -> String {
    if let Some(db) = error.as_db_error() {
        let text = format!("{} ({})", db.message(), db.code().code());
        return with_advice(text, server_advice(db));
    }
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        text = format!("{text}: {cause}");
        source = cause.source();
    }
    let advice = handshake_error(error).and_then(handshake_advice).or_else(|| client_advice(error, &text));
    with_advice(text, advice)
}

fn with_advice(text: String, advice: Option<String>) -> String {
    advice.map_or(text.clone(), |advice| format!("{text}; {advice}"))
}

fn server_advice(error: &DbError) -> Option<String> {
    let code = error.code();
    let advice = if *code == SqlState::TOO_MANY_CONNECTIONS {
        "the server accepts no more connections; raise its max_connections (or the limit of the role or of the \
         database), or lower database.pool_size: a node uses up to twice pool_size and two"
    } else if *code == SqlState::CANNOT_CONNECT_NOW || *code == SqlState::ADMIN_SHUTDOWN {
        "the node reconnects by itself"
    } else if *code == SqlState::READ_ONLY_SQL_TRANSACTION {
        "the server is read-only (a standby, or default_transaction_read_only); the node goes on by itself when the \
         server accepts writes; or name the primary in database.url"
    } else if *code == SqlState::INSUFFICIENT_PRIVILEGE {
        "the role in database.url must own its tables and their schemas, `platform` and `provider`; to let it create \
         them at the first start: GRANT CREATE ON DATABASE … TO the role"
    } else if *code == SqlState::INVALID_PASSWORD {
        "check user and password in database.url; percent-encode every character in them that is not a letter or a \
         digit"
    } else if *code == SqlState::INVALID_AUTHORIZATION_SPECIFICATION {
        "the server's pg_hba.conf rejects this user; if it requires TLS, add sslmode=verify-full with sslrootcert to \
         database.url, and if it requires a client certificate, sslcert and sslkey"
    } else if *code == SqlState::INVALID_CATALOG_NAME {
        "create it with CREATE DATABASE … ENCODING 'UTF8' TEMPLATE template0, or correct the name in database.url"
    } else if *code == SqlState::DISK_FULL {
        "free space on the server's disk; nothing was written, and the node goes on by itself"
    } else {
        return None;
    };
    Some(advice.to_owned())
}

/// Advice for errors of the client library, which have a text but no code.
fn client_advice(error: &Error, text: &str) -> Option<String> {
    let advice = if text.contains("server does not support TLS") {
        "the server has ssl=off; turn it on there, or, on a private network, set sslmode=disable"
    } else if text.contains("password missing") {
        "the server asks for a password; add it to database.url, as postgres://user:password@host/database"
    } else if text.contains("server did not use channel binding") {
        "channel_binding=require needs TLS and a password stored as scram-sha-256; set the password again, or remove \
         channel_binding"
    } else if text.contains("both host and hostaddr are missing") {
        "name the server, as postgres://user@host/database"
    } else if text.contains("performing TLS handshake") {
        "the server closed the connection during the handshake; its log has the reason"
    } else {
        let io_error = error.source()?.downcast_ref::<std::io::Error>()?;
        match io_error.kind() {
            std::io::ErrorKind::ConnectionRefused | std::io::ErrorKind::NotFound => {
                "is the server up, and are host and port in database.url right?"
            }
            // The library's error for a server that does not match target_session_attrs.
            std::io::ErrorKind::PermissionDenied if text.contains("does not allow writes") => {
                "none of the hosts in database.url accepts writes; name the primary as well"
            }
            std::io::ErrorKind::TimedOut => "is the server up, and does a firewall block it?",
            _ => return None,
        }
    };
    Some(advice.to_owned())
}

fn handshake_advice(error: &rustls::Error) -> Option<String> {
    use rustls::Error;
    let advice = match error {
        // If a new authority has the name of an old authority but another key, its signatures are reported as bad.
        Error::InvalidCertificate(CertificateError::UnknownIssuer | CertificateError::BadSignature) => {
            "the server's certificate is from an authority that is not in sslrootcert, or the server does not send \
             its intermediate certificates; name the authority's file in sslrootcert"
        }
        Error::InvalidCertificate(
            CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. },
        ) => {
            "the server's certificate is for other names than the host in database.url (only subjectAltName counts, \
             not CN); use a host name of the certificate (hostaddr= sets its address), issue a certificate for this \
             host, or set sslmode=verify-ca"
        }
        Error::InvalidCertificate(CertificateError::Expired | CertificateError::ExpiredContext { .. }) => {
            "the server's certificate has expired; renew it there and reload the server"
        }
        Error::InvalidCertificate(CertificateError::NotValidYet | CertificateError::NotValidYetContext { .. }) => {
            "the server's certificate is not valid yet; is this machine's clock right?"
        }
        error if is_ca_used_as_end_entity(error) => {
            "the server's certificate is a CA certificate (CA:TRUE), and is not the one in sslrootcert; name the \
             server's own certificate there, or let an authority issue one for it"
        }
        Error::InvalidCertificate(_) => {
            "the server's certificate can't be used; it must be X.509 version 3 with a subjectAltName"
        }
        Error::AlertReceived(
            AlertDescription::UnknownCA
            | AlertDescription::BadCertificate
            | AlertDescription::CertificateUnknown
            | AlertDescription::DecryptError
            | AlertDescription::CertificateExpired,
        ) => {
            "the server rejects the certificate in sslcert: it has expired, or its authority is not in the server's \
             ssl_ca_file"
        }
        Error::AlertReceived(AlertDescription::CertificateRequired) => {
            "the server asks for a client certificate; name it with sslcert and sslkey"
        }
        Error::PeerIncompatible(_)
        | Error::AlertReceived(AlertDescription::ProtocolVersion | AlertDescription::HandshakeFailure) => {
            "the server's TLS is too old: version 1.2 or 1.3 is needed (ssl_min_protocol_version)"
        }
        _ => return None,
    };
    Some(advice.to_owned())
}
