//! Identifiers of YouTube and Vimeo videos, and their places in the current and former URL forms of these sites.

use std::str::FromStr;

use url::Url;

use crate::InvalidText;
use crate::text::{text, truncated};

/// A video's identifier on its site: eleven letters, digits, `-` or `_` (YouTube), or up to twelve digits (Vimeo).
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct VideoId(String);

impl VideoId {
    /// The identifier.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    fn youtube(text: &str) -> Option<Self> {
        const YOUTUBE_BYTES: usize = 11;
        let allowed = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
        (text.len() == YOUTUBE_BYTES && text.bytes().all(allowed)).then(|| Self(text.to_owned()))
    }

    fn vimeo(text: &str) -> Option<Self> {
        const VIMEO_BYTES_MAX: usize = 12;
        let digits = (1..=VIMEO_BYTES_MAX).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit());
        digits.then(|| Self(text.to_owned()))
    }
}

impl FromStr for VideoId {
    type Err = InvalidText;

    fn from_str(given: &str) -> Result<Self, InvalidText> {
        Self::youtube(given).or_else(|| Self::vimeo(given)).ok_or_else(|| {
            InvalidText::new(format!(
                "must be the identifier of a YouTube video (11 characters) or of a Vimeo video (digits); {:?} was given",
                truncated(given)
            ))
        })
    }
}

text!(VideoId, as_str, "the identifier of a YouTube or Vimeo video");

/// The result of a search for a video in a URL.
pub(crate) enum VideoMatch {
    /// A video of one of the two sites.
    Video(VideoId),
    /// The URL form of a video, without a valid identifier.
    BrokenVideo,
    /// No video: a channel, a playlist, another site.
    NoVideo,
}

impl VideoMatch {
    fn of(id: Option<VideoId>) -> Self {
        id.map_or(Self::BrokenVideo, Self::Video)
    }
}

/// Searches a URL for a video.
pub(crate) fn recognise(url: &Url) -> VideoMatch {
    // Neither site has a video URL with more path segments.
    const SEGMENTS_MAX: usize = 8;
    let segments: Vec<&str> =
        url.path_segments().into_iter().flatten().filter(|part| !part.is_empty()).take(SEGMENTS_MAX).collect();
    match url.host_str().unwrap_or_default().trim_end_matches('.').trim_start_matches("www.") {
        "youtube.com" | "m.youtube.com" | "music.youtube.com" | "gaming.youtube.com" | "youtube-nocookie.com" => {
            youtube(url, &segments)
        }
        "youtu.be" => VideoMatch::of(segments.first().and_then(|id| VideoId::youtube(id))),
        "vimeo.com" => vimeo(url, &segments),
        "player.vimeo.com" => vimeo_player(&segments),
        "vimeopro.com" => match segments[..] {
            [.., "video", id] => VideoMatch::of(VideoId::vimeo(id)),
            _ => VideoMatch::NoVideo,
        },
        _ => VideoMatch::NoVideo,
    }
}

fn youtube(url: &Url, segments: &[&str]) -> VideoMatch {
    match segments {
        ["watch" | "watch_popup"] => VideoMatch::of(youtube_query_id(url)),
        [] => youtube_query_id(url).map_or(VideoMatch::NoVideo, VideoMatch::Video),
        // These have eleven characters like an identifier, but name a playlist and the live stream of a channel.
        ["embed", "videoseries" | "live_stream"] => VideoMatch::NoVideo,
        ["watch" | "embed" | "v" | "vi" | "e" | "shorts" | "live", id, ..] => {
            // Former players had parameters directly after the identifier: /v/ID&hl=en.
            let id = id.split('&').next().unwrap_or_default();
            VideoMatch::of(VideoId::youtube(id))
        }
        ["attribution_link"] => {
            let inner = query(url, &["u"]).and_then(|path| url.join(&path).ok());
            VideoMatch::of(inner.as_ref().and_then(youtube_query_id))
        }
        _ => VideoMatch::NoVideo,
    }
}

/// The identifier in `?v=ID`, or in the former `#!v=ID`.
fn youtube_query_id(url: &Url) -> Option<VideoId> {
    let id = query(url, &["v", "vi"]).or_else(|| {
        let fragment = url.fragment()?.strip_prefix('!')?;
        fragment.split('&').find_map(|pair| pair.strip_prefix("v=")).map(str::to_owned)
    })?;
    VideoId::youtube(&id)
}

fn vimeo(url: &Url, segments: &[&str]) -> VideoMatch {
    let id = match segments {
        [] => {
            return url.fragment().and_then(VideoId::vimeo).map_or(VideoMatch::NoVideo, VideoMatch::Video);
        }
        ["moogaloop.swf"] => return VideoMatch::of(query(url, &["clip_id"]).and_then(|id| VideoId::vimeo(&id))),
        // A second segment is the key of an unlisted video.
        [id] | [id, _] if VideoId::vimeo(id).is_some() => id,
        ["video" | "videos" | "m", id, ..] => id,
        ["manage", "videos", id, ..] => id,
        ["groups", _, "videos", id, ..] => id,
        ["album" | "showcase", _, "video", id, ..] => id,
        [_, "review", id, ..] => id,
        // Channels also have pages that are not videos: /channels/NAME/about.
        ["channels" | "ondemand", _, id, ..] => {
            return VideoId::vimeo(id).map_or(VideoMatch::NoVideo, VideoMatch::Video);
        }
        _ => return VideoMatch::NoVideo,
    };
    VideoMatch::of(VideoId::vimeo(id))
}

fn vimeo_player(segments: &[&str]) -> VideoMatch {
    match segments {
        ["video", id, ..] => VideoMatch::of(VideoId::vimeo(id)),
        _ => VideoMatch::NoVideo,
    }
}

fn query(url: &Url, names: &[&str]) -> Option<String> {
    url.query_pairs().find(|(name, _)| names.contains(&name.as_ref())).map(|(_, value)| value.into_owned())
}
