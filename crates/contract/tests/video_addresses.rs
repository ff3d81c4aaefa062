//! Every usual form of a video's URL is kept as the identifier.

use contract::models::AttachmentUrl;

const YOUTUBE: &[&str] = &[
    "dQw4w9WgXcQ",
    "https://www.youtube.com/watch?v=dQw4w9WgXcQ",
    "http://www.youtube.com/watch?v=dQw4w9WgXcQ",
    "https://youtube.com/watch?v=dQw4w9WgXcQ",
    "HTTPS://WWW.YOUTUBE.COM/watch?v=dQw4w9WgXcQ",
    "www.youtube.com/watch?v=dQw4w9WgXcQ",
    "youtube.com/watch?v=dQw4w9WgXcQ",
    "//www.youtube.com/embed/dQw4w9WgXcQ",
    " https://www.youtube.com/watch?v=dQw4w9WgXcQ ",
    "https://m.youtube.com/watch?v=dQw4w9WgXcQ",
    "https://music.youtube.com/watch?v=dQw4w9WgXcQ&si=abc",
    "https://www.youtube.com/watch?app=desktop&v=dQw4w9WgXcQ",
    "https://www.youtube.com/watch?v=dQw4w9WgXcQ&t=1m2s",
    "https://www.youtube.com/watch?v=dQw4w9WgXcQ#t=43",
    "https://www.youtube.com/watch?list=PLx0sYbCqOb8TBPRdmBHs5Iftvv9TPboYG&v=dQw4w9WgXcQ&index=2",
    "https://www.youtube.com/watch/dQw4w9WgXcQ",
    "https://www.youtube.com/watch/?v=dQw4w9WgXcQ",
    "https://www.youtube.com/watch#!v=dQw4w9WgXcQ",
    "https://www.youtube.com/?v=dQw4w9WgXcQ",
    "https://www.youtube.com/watch_popup?v=dQw4w9WgXcQ",
    "https://www.youtube.com/attribution_link?a=tolCzpA7&u=%2Fwatch%3Fv%3DdQw4w9WgXcQ%26feature%3Dshare",
    "https://youtu.be/dQw4w9WgXcQ",
    "youtu.be/dQw4w9WgXcQ",
    "https://youtu.be/dQw4w9WgXcQ?t=43",
    "https://youtu.be/dQw4w9WgXcQ?si=Z0zKxZ9",
    "https://youtu.be/dQw4w9WgXcQ/",
    "https://www.youtube.com/embed/dQw4w9WgXcQ",
    "https://www.youtube.com/embed/dQw4w9WgXcQ?rel=0&autoplay=1",
    "https://www.youtube-nocookie.com/embed/dQw4w9WgXcQ?start=10",
    "https://www.youtube.com/v/dQw4w9WgXcQ?version=3",
    "https://www.youtube.com/v/dQw4w9WgXcQ&hl=en_US",
    "https://www.youtube.com/e/dQw4w9WgXcQ",
    "https://www.youtube.com/shorts/dQw4w9WgXcQ",
    "https://youtube.com/shorts/dQw4w9WgXcQ?feature=share",
    "https://www.youtube.com/live/dQw4w9WgXcQ?si=abc",
];

const VIMEO: &[&str] = &[
    "76979871",
    "https://vimeo.com/76979871",
    "http://www.vimeo.com/76979871",
    "vimeo.com/76979871",
    "//player.vimeo.com/video/76979871",
    "https://vimeo.com/76979871/",
    "https://vimeo.com/76979871#t=90s",
    "https://vimeo.com/76979871?share=copy",
    "https://vimeo.com/76979871/8272103f6e",
    "https://vimeo.com/#76979871",
    "https://vimeo.com/video/76979871",
    "https://vimeo.com/m/76979871",
    "https://vimeo.com/manage/videos/76979871",
    "https://vimeo.com/channels/staffpicks/76979871",
    "https://vimeo.com/groups/name/videos/76979871",
    "https://vimeo.com/album/2838732/video/76979871",
    "https://vimeo.com/showcase/2838732/video/76979871",
    "https://vimeo.com/ondemand/somefilm/76979871",
    "https://vimeo.com/user123/review/76979871/8272103f6e",
    "https://vimeo.com/moogaloop.swf?clip_id=76979871&server=vimeo.com",
    "https://player.vimeo.com/video/76979871",
    "https://player.vimeo.com/video/76979871?h=8272103f6e&badge=0",
    "https://vimeopro.com/user/portfolio/video/76979871",
];

const PAGES: &[&str] = &[
    "https://www.youtube.com/",
    "https://www.youtube.com/@auctionhouse",
    "https://www.youtube.com/@auctionhouse/live",
    "https://www.youtube.com/channel/UCuAXFkgsw1L7xaCfnd5JJOw",
    "https://www.youtube.com/playlist?list=PLx0sYbCqOb8TBPRdmBHs5Iftvv9TPboYG",
    "https://www.youtube.com/embed/videoseries?list=PLx0sYbCqOb8TBPRdmBHs5Iftvv9TPboYG",
    "https://www.youtube.com/embed/live_stream?channel=UCuAXFkgsw1L7xaCfnd5JJOw",
    "https://www.youtube.com/results?search_query=clock",
    "https://vimeo.com/",
    "https://vimeo.com/auctionhouse",
    "https://vimeo.com/channels/staffpicks",
    "https://vimeo.com/channels/staffpicks/about",
    "https://vimeo.com/showcase/2838732",
    "https://vimeo.com/event/123456",
];

const BROKEN: &[&str] = &[
    "https://www.youtube.com/watch",
    "https://www.youtube.com/watch?v=",
    "https://www.youtube.com/watch?v=dQw4w9WgXc",
    "https://www.youtube.com/watch?v=dQw4w9WgXcQQ",
    "https://www.youtube.com/watch?v=dQw4w9WgXc!",
    "https://www.youtube.com/watch?list=PLx0sYbCqOb8TBPRdmBHs5Iftvv9TPboYG",
    "https://www.youtube.com/attribution_link?u=https%3A%2F%2Fexample.com",
    "https://www.youtube.com/shorts/short",
    "https://youtu.be/",
    "https://youtu.be/dQw4w9WgXcQQ",
    "https://player.vimeo.com/video/clock",
    "https://vimeo.com/video/1234567890123",
    "https://vimeo.com/groups/name/videos/clock",
];

#[test]
fn a_youtube_video_is_kept_as_its_identifier() {
    for given in YOUTUBE {
        let read = given.parse::<AttachmentUrl>().unwrap_or_else(|error| panic!("{given}: {error}"));
        assert!(matches!(read, AttachmentUrl::Video(_)), "{given}");
        assert_eq!(read.as_str(), "dQw4w9WgXcQ", "{given}");
    }
}

#[test]
fn a_vimeo_video_is_kept_as_its_identifier() {
    for given in VIMEO {
        let read = given.parse::<AttachmentUrl>().unwrap_or_else(|error| panic!("{given}: {error}"));
        assert!(matches!(read, AttachmentUrl::Video(_)), "{given}");
        assert_eq!(read.as_str(), "76979871", "{given}");
    }
}

#[test]
fn a_page_of_a_video_site_that_is_not_a_video_is_kept_as_its_url() {
    for given in PAGES {
        let read = given.parse::<AttachmentUrl>().unwrap_or_else(|error| panic!("{given}: {error}"));
        assert!(matches!(read, AttachmentUrl::Resource(_)), "{given}");
        assert_eq!(read.as_str(), *given);
    }
}

#[test]
fn a_video_url_without_a_valid_identifier_is_rejected() {
    for given in BROKEN {
        let error = given.parse::<AttachmentUrl>().expect_err(given);
        assert!(error.to_string().contains("with a valid identifier"), "{given}: {error}");
    }
}

#[test]
fn a_kept_value_is_read_as_the_same_value() {
    for given in YOUTUBE.iter().chain(VIMEO).chain(PAGES) {
        let kept = given.parse::<AttachmentUrl>().unwrap_or_else(|error| panic!("{given}: {error}"));
        assert_eq!(kept.as_str().parse(), Ok(kept.clone()), "{given}");
    }
}
