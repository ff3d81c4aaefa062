//! The session cookie of a site: read from requests, set and removed by responses.

use std::borrow::Cow;

use http::HeaderMap;
use http::header::{COOKIE, HeaderValue};

/// A longer value is ignored when read and never set.
const VALUE_CHARS_MAX: usize = 512;

/// A cookie that scripts can't read (`HttpOnly`) and that other sites' forms don't carry (`SameSite=Lax`).
#[derive(Debug, Clone)]
pub struct Cookie {
    /// Name of the cookie.
    pub name: Cow<'static, str>,
    /// Path below which a browser sends the cookie.
    pub path: String,
    /// Which connections carry the cookie.
    pub transport: Transport,
}

/// Which connections carry a cookie.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Transport {
    /// HTTPS only.
    Secure,
    /// HTTP and HTTPS, for a site that is served over HTTP.
    Any,
    /// HTTPS only, in a frame of another site. The cookie is partitioned: a browser sends it below that other site only.
    Embedded,
}

impl Cookie {
    /// The cookie's value; none when the request has no such cookie, or more than one.
    pub fn read<'a>(&self, headers: &'a HeaderMap) -> Option<&'a str> {
        let lines = headers.get_all(COOKIE).iter().filter_map(|line| line.to_str().ok());
        let mut values = lines.flat_map(|line| line.split(';')).filter_map(|pair| {
            let (name, value) = pair.trim().split_once('=')?;
            (name == self.name).then_some(value)
        });
        let (value, None) = (values.next()?, values.next()) else { return None };
        (!value.is_empty() && value.len() <= VALUE_CHARS_MAX).then_some(value)
    }

    /// The `Set-Cookie` header that sets the cookie for this number of seconds. None for a value that a cookie can't hold.
    pub fn set(&self, value: &str, seconds: i64) -> Option<HeaderValue> {
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte);
        if value.is_empty() || value.len() > VALUE_CHARS_MAX || !value.bytes().all(is_plain) {
            return None;
        }
        self.header(value, seconds)
    }

    /// The `Set-Cookie` header that removes the cookie.
    pub fn remove(&self) -> Option<HeaderValue> {
        self.header("", 0)
    }

    fn header(&self, value: &str, seconds: i64) -> Option<HeaderValue> {
        let Self { name, path, transport } = self;
        let scope = match transport {
            Transport::Secure => "SameSite=Lax; Secure",
            Transport::Any => "SameSite=Lax",
            Transport::Embedded => "SameSite=None; Secure; Partitioned",
        };
        let header = format!("{name}={value}; Path={path}; Max-Age={seconds}; HttpOnly; {scope}");
        HeaderValue::try_from(header).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cookie(transport: Transport) -> Cookie {
        Cookie { name: "session".into(), path: "/portal".into(), transport }
    }

    #[test]
    fn a_cookie_is_read_when_the_request_has_it_exactly_once() {
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
    fn a_cookie_is_set_for_the_path_of_its_site() {
        let set = |transport| cookie(transport).set("x.y", 60).unwrap().to_str().unwrap().to_owned();
        assert_eq!(set(Transport::Any), "session=x.y; Path=/portal; Max-Age=60; HttpOnly; SameSite=Lax");
        assert_eq!(set(Transport::Secure), "session=x.y; Path=/portal; Max-Age=60; HttpOnly; SameSite=Lax; Secure");
        let embedded = "session=x.y; Path=/portal; Max-Age=60; HttpOnly; SameSite=None; Secure; Partitioned";
        assert_eq!(set(Transport::Embedded), embedded);
        for value in ["", "a;b", "a b", "a\"", "é"] {
            assert_eq!(cookie(Transport::Any).set(value, 60), None, "{value}");
        }
    }
}
