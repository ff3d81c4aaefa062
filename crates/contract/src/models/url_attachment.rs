//! URL attachments: images, documents and videos of an auction or item.

use std::str::FromStr;

use serde::Serialize;
use url::Url;

use super::model;
use super::video::{self, VideoId};
use crate::fields::Fields;
use crate::text::{text, truncated};
use crate::{InvalidText, ModelError};

/// A resource with a URL, or a video.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "@class", rename = "com.vendor.scaffold.models.auctionapi.UrlAttachmentApiModel")]
pub struct UrlAttachmentApiModel {
    /// URL of the resource; for a YouTube or Vimeo video, its identifier only.
    pub url: AttachmentUrl,
    /// Label.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
}

impl UrlAttachmentApiModel {
    /// The value of `@class`.
    pub const CLASS: &'static str = "com.vendor.scaffold.models.auctionapi.UrlAttachmentApiModel";

    fn read(fields: &mut Fields) -> Result<Self, ModelError> {
        Ok(Self { url: fields.required("url")?, label: fields.optional("label")? })
    }
}

model!(UrlAttachmentApiModel);

/// The value of an attachment's `url`.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum AttachmentUrl {
    /// The URL of an image, a document or a page.
    Resource(ResourceAddress),
    /// A YouTube or Vimeo video.
    Video(VideoId),
}

/// An absolute http or https URL, kept as given.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ResourceAddress(String);

impl ResourceAddress {
    /// The URL.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Longest URL that common browsers and servers accept.
const ADDRESS_BYTES_MAX: usize = 2048;

impl AttachmentUrl {
    /// The JSON text: a URL, or a video identifier.
    pub fn as_str(&self) -> &str {
        match self {
            Self::Resource(address) => address.as_str(),
            Self::Video(id) => id.as_str(),
        }
    }
}

impl FromStr for AttachmentUrl {
    type Err = InvalidText;

    fn from_str(given: &str) -> Result<Self, InvalidText> {
        let given = given.trim();
        if given.len() > ADDRESS_BYTES_MAX {
            return Err(InvalidText::new(format!("must have at most {ADDRESS_BYTES_MAX} bytes")));
        }
        if let Ok(id) = given.parse::<VideoId>() {
            return Ok(Self::Video(id));
        }
        let invalid_url = || {
            InvalidText::new(format!(
                "must be a URL that begins with https:// or http://, or the identifier of a YouTube or Vimeo \
                 video; {:?} was given",
                truncated(given)
            ))
        };
        // The URL parser would drop line breaks and encode spaces, but the URL is kept as given.
        if given.chars().any(|char| char.is_whitespace() || char.is_control()) {
            return Err(invalid_url());
        }
        // People copy video URLs without the scheme. For other sites, a missing scheme is more likely a mistake.
        let bare = given.strip_prefix("//").unwrap_or(given);
        let has_scheme = ["http://", "https://"]
            .iter()
            .any(|scheme| given.get(..scheme.len()).is_some_and(|start| start.eq_ignore_ascii_case(scheme)));
        let url = if has_scheme { Url::parse(given) } else { Url::parse(&format!("https://{bare}")) };
        let url = url.map_err(|_| invalid_url())?;
        match video::recognise(&url) {
            video::VideoMatch::Video(id) => Ok(Self::Video(id)),
            video::VideoMatch::BrokenVideo => Err(InvalidText::new(format!(
                "must be the URL of a YouTube or Vimeo video with a valid identifier; {:?} was given",
                truncated(given)
            ))),
            video::VideoMatch::NoVideo if has_scheme => Ok(Self::Resource(ResourceAddress(given.to_owned()))),
            video::VideoMatch::NoVideo => Err(invalid_url()),
        }
    }
}

text!(AttachmentUrl, as_str, "an http or https URL, or a video identifier");

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_attachment_survives_a_round_trip() {
        for json in [
            r#"{"@class":"com.vendor.scaffold.models.auctionapi.UrlAttachmentApiModel","url":"https://images.example.com/lot%201.jpg?w=800#top","label":"Front"}"#,
            r#"{"@class":"com.vendor.scaffold.models.auctionapi.UrlAttachmentApiModel","url":"dQw4w9WgXcQ"}"#,
            r#"{"@class":"com.vendor.scaffold.models.auctionapi.UrlAttachmentApiModel","url":"76979871","label":""}"#,
        ] {
            let model = UrlAttachmentApiModel::from_json(json).unwrap();
            assert_eq!(serde_json::to_string(&model).unwrap(), json);
            assert_eq!(serde_json::from_str::<UrlAttachmentApiModel>(json).unwrap(), model);
        }
    }

    #[test]
    fn the_url_of_a_video_is_kept_as_its_identifier() {
        let read = UrlAttachmentApiModel::from_json(r#"{"url":"https://youtu.be/dQw4w9WgXcQ?t=43"}"#).unwrap();
        assert_eq!(
            serde_json::to_string(&read).unwrap(),
            r#"{"@class":"com.vendor.scaffold.models.auctionapi.UrlAttachmentApiModel","url":"dQw4w9WgXcQ"}"#
        );
        assert!(matches!(read.url, AttachmentUrl::Video(_)));
    }

    #[test]
    fn any_other_url_is_kept_as_given() {
        for address in [
            "https://images.example.com/lots/1.jpg",
            "HTTP://Example.COM",
            "http://192.0.2.1:8080/a.pdf",
            "https://example.com/watch?v=dQw4w9WgXcQ",
            "https://notyoutube.com/watch?v=dQw4w9WgXcQ",
            "https://youtube.com.example.com/watch?v=dQw4w9WgXcQ",
            "https://img.youtube.com/vi/dQw4w9WgXcQ/0.jpg",
        ] {
            let read = format!("  {address}\n").parse::<AttachmentUrl>().unwrap();
            assert_eq!(read, AttachmentUrl::Resource(ResourceAddress(address.to_owned())));
        }
    }

    #[test]
    fn a_text_that_is_not_a_web_url_is_rejected() {
        let long = format!("https://example.com/{}", "x".repeat(2048));
        for wrong in [
            "",
            " ",
            "lot-1.jpg",
            "/images/lot-1.jpg",
            "example.com/lot-1.jpg",
            "//example.com/lot-1.jpg",
            "ftp://example.com/lot-1.jpg",
            "ftp://youtube.com/watch?v=dQw4w9WgXcQ",
            "javascript:alert(1)",
            "data:image/png;base64,AAAA",
            "https://",
            "https:///",
            "https://exa mple.com/",
            "https://example.com/a b",
            "https://example.com/a\nb",
            "https://[::1/",
            long.as_str(),
        ] {
            assert!(wrong.parse::<AttachmentUrl>().is_err(), "{wrong:?}");
        }
        let json = r#"{"url":"lot-1.jpg"}"#;
        let error = UrlAttachmentApiModel::from_json(json).unwrap_err();
        assert_eq!((error.code(), error.pointer()), ("invalid_value", "/url"));
        assert_eq!(UrlAttachmentApiModel::from_json(r#"{"label":"x"}"#).unwrap_err().pointer(), "/url");
        assert_eq!(UrlAttachmentApiModel::from_json(r#"{"url":null}"#).unwrap_err().code(), "wrong_type");
    }
}
