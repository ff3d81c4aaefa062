//! A secret in its two forms: sealed and opened.

use std::collections::BTreeSet;
use std::fmt;

use secrecy::{ExposeSecret, SecretSlice};

/// A sealed secret: `v1.<key id>.<base64 of nonce and ciphertext>`. Safe to store and to log.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Sealed(String);

/// An opened secret. It is wiped from memory when dropped, and `Debug` does not show it.
#[derive(Clone)]
pub struct Secret(SecretSlice<u8>);

impl Sealed {
    /// A sealed secret from a store. The text is checked when the secret is opened.
    pub fn from_text(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// The text to store.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The text to store.
    pub fn into_string(self) -> String {
        self.0
    }
}

impl Secret {
    /// A secret of these bytes.
    pub fn new(bytes: Vec<u8>) -> Self {
        Self(bytes.into())
    }

    /// The bytes of the secret. Callers must neither copy nor log them.
    pub fn expose(&self) -> &[u8] {
        self.0.expose_secret()
    }

    /// The secret as text; none when it is not UTF-8.
    pub fn expose_str(&self) -> Option<&str> {
        std::str::from_utf8(self.expose()).ok()
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(…)")
    }
}

/// True when both lists contain the same sealed texts, in any order.
pub fn same_texts(left: &[Sealed], right: &[Sealed]) -> bool {
    let set = |texts: &[Sealed]| texts.iter().map(|text| text.as_str().to_owned()).collect::<BTreeSet<_>>();
    set(left) == set(right)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn debug_output_does_not_show_a_secret() {
        let secret = Secret::new(b"hunter2".to_vec());
        assert_eq!(format!("{secret:?}"), "Secret(…)");
        assert_eq!(secret.expose_str(), Some("hunter2"));
        assert_eq!(Secret::new(vec![0xff]).expose_str(), None);
    }
}
