//! The TLS parameters of a database URL. The client library supports fewer of them than libpq does, so they are removed
//! from the URL before the library parses it.

use std::path::PathBuf;

use percent_encoding::percent_decode_str;

/// The TLS parameters. If a parameter occurs twice, the last value counts.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct TlsParameters {
    pub(super) mode: Option<TlsMode>,
    pub(super) roots: Option<RootCertificates>,
    pub(super) certificate: Option<PathBuf>,
    pub(super) key: Option<PathBuf>,
}

/// `sslmode`, in the order of increasing security.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum TlsMode {
    Disable,
    Prefer,
    Require,
    VerifyCa,
    VerifyFull,
}

/// `sslrootcert`: the trusted authorities.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum RootCertificates {
    /// The authorities that the operating system trusts.
    System,
    /// A PEM file.
    File(PathBuf),
}

impl TlsMode {
    pub(super) fn as_str(self) -> &'static str {
        match self {
            TlsMode::Disable => "disable",
            TlsMode::Prefer => "prefer",
            TlsMode::Require => "require",
            TlsMode::VerifyCa => "verify-ca",
            TlsMode::VerifyFull => "verify-full",
        }
    }

    fn parse(text: &str) -> Result<Self, String> {
        let all = [TlsMode::Disable, TlsMode::Prefer, TlsMode::Require, TlsMode::VerifyCa, TlsMode::VerifyFull];
        all.into_iter()
            .find(|mode| mode.as_str() == text)
            .ok_or_else(|| "sslmode must be `disable`, `prefer`, `require`, `verify-ca` or `verify-full`".to_owned())
    }
}

/// Splits the TLS parameters off a URL. Error texts contain no value of the URL, which may be secret.
pub(super) fn split_tls_parameters(url: &str) -> Result<(String, TlsParameters), String> {
    let mut parameters = TlsParameters::default();
    // As in libpq, everything before the first @ is user and password.
    let host = url.find('@').map_or(0, |at| at + 1);
    let Some(question) = url[host..].find('?').map(|mark| host + mark) else { return Ok((url.to_owned(), parameters)) };
    let mut others = Vec::new();
    for parameter in url[question + 1..].split('&') {
        let (name, value) = parameter.split_once('=').unwrap_or((parameter, ""));
        let decoded = || {
            percent_decode_str(value)
                .decode_utf8()
                .map(|text| text.into_owned())
                .map_err(|_| format!("{name} is not valid UTF-8"))
        };
        match name {
            "sslmode" => parameters.mode = Some(TlsMode::parse(&decoded()?)?),
            "sslrootcert" => {
                let value = decoded()?;
                parameters.roots = Some(if value == "system" {
                    RootCertificates::System
                } else {
                    RootCertificates::File(value.into())
                });
            }
            "sslcert" => parameters.certificate = Some(decoded()?.into()),
            "sslkey" => parameters.key = Some(decoded()?.into()),
            "sslpassword" | "sslcrl" | "sslcrldir" | "sslcertmode" | "ssl_min_protocol_version" => {
                return Err(format!(
                    "{name} is not supported; the supported TLS parameters are sslmode, sslrootcert, sslcert and \
                     sslkey (a key without a passphrase), sslnegotiation and channel_binding"
                ));
            }
            _ => others.push(parameter),
        }
    }
    let rest = others.join("&");
    let mark = if rest.is_empty() { "" } else { "?" };
    Ok((format!("{}{mark}{rest}", &url[..question]), parameters))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tls_parameters_are_split_off_and_the_others_stay() {
        let url = "postgres://me:p%40ss?@db/lots?sslmode=verify-full&connect_timeout=3&sslrootcert=%2Fetc%2Fmy+ca.pem";
        let (rest, parameters) = split_tls_parameters(url).unwrap();
        assert_eq!(rest, "postgres://me:p%40ss?@db/lots?connect_timeout=3");
        assert_eq!(parameters.mode, Some(TlsMode::VerifyFull));
        assert_eq!(parameters.roots, Some(RootCertificates::File("/etc/my+ca.pem".into())));
        let (rest, parameters) =
            split_tls_parameters("postgres://db/lots?sslrootcert=system&sslcert=a.pem&sslkey=b.pem").unwrap();
        assert_eq!(rest, "postgres://db/lots");
        assert_eq!((parameters.mode, parameters.roots), (None, Some(RootCertificates::System)));
        assert_eq!((parameters.certificate, parameters.key), (Some("a.pem".into()), Some("b.pem".into())));
        assert_eq!(
            split_tls_parameters("postgres://db").unwrap(),
            ("postgres://db".to_owned(), TlsParameters::default())
        );
    }

    #[test]
    fn unsupported_parameters_are_rejected_with_the_supported_ones() {
        for (url, names) in [
            ("postgres://me:hush@db/lots?sslmode=allow", "verify-full"),
            ("postgres://me:hush@db/lots?sslmode=", "prefer"),
            ("postgres://me:hush@db/lots?sslpassword=hush", "passphrase"),
            ("postgres://me:hush@db/lots?sslcrl=a", "sslcrl"),
        ] {
            let error = split_tls_parameters(url).unwrap_err();
            assert!(error.contains(names) && !error.contains("hush"), "{error}");
        }
    }
}
