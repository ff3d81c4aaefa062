//! One cookie: read from a request, set and taken away by an answer.

use http::HeaderMap;
use http::header::{COOKIE, HeaderValue};

/// Values longer than this are not ours.
const VALUE_CHARS_MAX: usize = 512;

/// How a cookie is set: its name, the path that it is sent to, and whether only over HTTPS.
#[derive(Debug, Clone)]
pub(crate) struct Cookie {
    pub(crate) name: &'static str,
    pub(crate) path: String,
    pub(crate) transport: Transport,
}

/// Which connections carry a cookie.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Transport {
    /// HTTPS only.
    Secure,
    /// Any: the site is served over HTTP.
    Any,
}

impl Cookie {
    /// Its value in a request, when it is there once.
    pub(crate) fn read<'a>(&self, headers: &'a HeaderMap) -> Option<&'a str> {
        let lines = headers.get_all(COOKIE).iter().filter_map(|line| line.to_str().ok());
        let mut values = lines.flat_map(|line| line.split(';')).filter_map(|pair| {
            let (name, value) = pair.trim().split_once('=')?;
            (name == self.name).then_some(value)
        });
        let (value, None) = (values.next()?, values.next()) else { return None };
        (!value.is_empty() && value.len() <= VALUE_CHARS_MAX).then_some(value)
    }

    /// The header that sets it for so many seconds. None for a value that a cookie can't hold.
    pub(crate) fn set(&self, value: &str, seconds: i64) -> Option<HeaderValue> {
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
        if value.is_empty() || value.len() > VALUE_CHARS_MAX || !value.bytes().all(is_plain) {
            return None;
        }
        self.header(value, seconds)
    }

    /// The header that takes it away.
    pub(crate) fn remove(&self) -> Option<HeaderValue> {
        self.header("", 0)
    }

    fn header(&self, value: &str, seconds: i64) -> Option<HeaderValue> {
        let Self { name, path, transport } = self;
        let secure = if *transport == Transport::Secure { "; Secure" } else { "" };
        let header = format!("{name}={value}; Path={path}; Max-Age={seconds}; HttpOnly; SameSite=Lax{secure}");
        HeaderValue::try_from(header).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cookie(transport: Transport) -> Cookie {
        Cookie { name: "session", path: "/portal".into(), transport }
    }

    #[test]
    fn a_cookie_is_read_when_it_is_there_once() {
        let read = |lines: &[&'static str]| {
            let mut headers = HeaderMap::new();
            for line in lines {
                headers.append(COOKIE, line.parse().unwrap());
            }
            cookie(Transport::Any).read(&headers).map(str::to_owned)
        };
        assert_eq!(read(&["a=b; session=x.y; c=d"]), Some("x.y".to_owned()));
        assert_eq!(read(&["a=b", "session=x"]), Some("x".to_owned()));
        for lines in [&[][..], &["session="], &["sessions=x"], &["session=x; session=y"], &["session=x", "session=x"]] {
            assert_eq!(read(lines), None, "{lines:?}");
        }
    }

    #[test]
    fn a_cookie_is_set_for_the_site_alone() {
        let set = |transport| cookie(transport).set("x.y", 60).unwrap().to_str().unwrap().to_owned();
        assert_eq!(set(Transport::Any), "session=x.y; Path=/portal; Max-Age=60; HttpOnly; SameSite=Lax");
        assert_eq!(set(Transport::Secure), "session=x.y; Path=/portal; Max-Age=60; HttpOnly; SameSite=Lax; Secure");
        for value in ["", "a;b", "a b", "a\"", "é"] {
            assert_eq!(cookie(Transport::Any).set(value, 60), None, "{value}");
        }
    }
}
