//! What went wrong at the server, in words that its operator can act on.

use std::error::Error as _;

use rustls::{AlertDescription, CertificateError};
use tokio_postgres::Error;
use tokio_postgres::error::{DbError, SqlState};

use super::connector::handshake_error;
use super::tls::is_ca_used_as_end_entity;

/// The whole of an error for a log and for people, without the values that the server quotes in its details; and what to do.
pub fn describe_error(error: &Error) -> String {
    if let Some(db) = error.as_db_error() {
        let said = format!("{} ({})", db.message(), db.code().code());
        return with_advice(said, server_advice(db));
    }
    let mut said = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        said = format!("{said}: {cause}");
        source = cause.source();
    }
    let advice = handshake_error(error).and_then(handshake_advice).or_else(|| client_advice(error, &said));
    with_advice(said, advice)
}

fn with_advice(said: String, advice: Option<String>) -> String {
    advice.map_or(said.clone(), |advice| format!("{said}; {advice}"))
}

fn server_advice(error: &DbError) -> Option<String> {
    let code = error.code();
    let advice = if *code == SqlState::TOO_MANY_CONNECTIONS {
        "it takes no more connections; raise its max_connections (or the role's, or the database's limit), or lower \
         database.pool_size: a node takes up to twice that and two"
    } else if *code == SqlState::CANNOT_CONNECT_NOW || *code == SqlState::ADMIN_SHUTDOWN {
        "it is connected to again by itself"
    } else if *code == SqlState::READ_ONLY_SQL_TRANSACTION {
        "the server only reads (a standby, or default_transaction_read_only); it goes on by itself when it takes writes, or when \
         database.url leads to one that does"
    } else if *code == SqlState::INSUFFICIENT_PRIVILEGE {
        "the role of database.url needs to own its tables and their schemas, `platform` and `provider`; to make them at the first \
         start: GRANT CREATE ON DATABASE … TO the role"
    } else if *code == SqlState::INVALID_PASSWORD {
        "check user and password in database.url; what is not a letter or a digit is written as %XX there"
    } else if *code == SqlState::INVALID_AUTHORIZATION_SPECIFICATION {
        "the server's pg_hba.conf does not take this user like this; if it asks for TLS, add sslmode=verify-full with sslrootcert to \
         database.url, if it asks for a client's certificate, sslcert and sslkey"
    } else if *code == SqlState::INVALID_CATALOG_NAME {
        "make it with CREATE DATABASE … ENCODING 'UTF8' TEMPLATE template0, or correct the name in database.url"
    } else if *code == SqlState::DISK_FULL {
        "free room on the server's disk; nothing was written, and it goes on by itself"
    } else {
        return None;
    };
    Some(advice.to_owned())
}

/// The library has no kinds for these, only words.
fn client_advice(error: &Error, said: &str) -> Option<String> {
    let advice = if said.contains("server does not support TLS") {
        "the server has ssl=off; switch it on there, or, in a network that nobody else reads, say sslmode=disable"
    } else if said.contains("password missing") {
        "the server asks for a password; write it into database.url, as postgres://user:password@host/database"
    } else if said.contains("server did not use channel binding") {
        "channel_binding=require needs TLS and a password kept as scram-sha-256; make the password anew, or leave channel_binding out"
    } else if said.contains("both host and hostaddr are missing") {
        "name the server, as postgres://user@host/database"
    } else if said.contains("performing TLS handshake") {
        "the server ended the connection during the handshake; its log says why"
    } else {
        let io_error = error.source()?.downcast_ref::<std::io::Error>()?;
        match io_error.kind() {
            std::io::ErrorKind::ConnectionRefused | std::io::ErrorKind::NotFound => {
                "is the server up, and are host and port in database.url right?"
            }
            // The library's word for a server that is not what target_session_attrs asks for.
            std::io::ErrorKind::PermissionDenied if said.contains("does not allow writes") => {
                "none of the hosts in database.url takes writes; name the primary as well"
            }
            std::io::ErrorKind::TimedOut => "is the server up, and is there a firewall on the way?",
            _ => return None,
        }
    };
    Some(advice.to_owned())
}

fn handshake_advice(error: &rustls::Error) -> Option<String> {
    use rustls::Error;
    let advice = match error {
        // An authority that was made anew under the same name signs otherwise.
        Error::InvalidCertificate(CertificateError::UnknownIssuer | CertificateError::BadSignature) => {
            "the server's certificate is of an authority that sslrootcert does not have, or intermediate certificates are missing at \
             the server; name the authority's file in sslrootcert"
        }
        Error::InvalidCertificate(
            CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. },
        ) => {
            "the server's certificate is for other names than the host in database.url (only subjectAltName counts, not CN); write \
             the host as the certificate has it (hostaddr= may say where that is), make one with this name, or say sslmode=verify-ca"
        }
        Error::InvalidCertificate(CertificateError::Expired | CertificateError::ExpiredContext { .. }) => {
            "the server's certificate has expired; renew it there and reload the server"
        }
        Error::InvalidCertificate(CertificateError::NotValidYet | CertificateError::NotValidYetContext { .. }) => {
            "the server's certificate is not valid yet; is this machine's clock right?"
        }
        error if is_ca_used_as_end_entity(error) => {
            "the server's certificate is made to sign others (CA:TRUE), and is not the one in sslrootcert; name the server's own \
             certificate there, or let an authority make one for it"
        }
        Error::InvalidCertificate(_) => {
            "the server's certificate can't be used; it needs to be of X.509 version 3 with subjectAltName"
        }
        Error::AlertReceived(
            AlertDescription::UnknownCA
            | AlertDescription::BadCertificate
            | AlertDescription::CertificateUnknown
            | AlertDescription::DecryptError
            | AlertDescription::CertificateExpired,
        ) => {
            "the server does not take the certificate in sslcert: it is of an authority that its ssl_ca_file does not have, or too old"
        }
        Error::AlertReceived(AlertDescription::CertificateRequired) => {
            "the server asks for a client's certificate; name it with sslcert and sslkey"
        }
        Error::PeerIncompatible(_)
        | Error::AlertReceived(AlertDescription::ProtocolVersion | AlertDescription::HandshakeFailure) => {
            "the server's TLS is too old: version 1.2 or 1.3 is needed (ssl_min_protocol_version)"
        }
        _ => return None,
    };
    Some(advice.to_owned())
}
