//! Settings of an account's App Portal.

use crate::accounts::colour::Colour;

/// How the App Portal looks, and which sites may embed it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PortalSettings {
    /// Colour of links and buttons; the provider's own when none.
    pub colour: Option<Colour>,
    /// Origins that may embed the portal (`frame-ancestors`); none when empty.
    pub embed_origins: Vec<String>,
    /// Media type of the logo; none when there is no logo.
    pub logo_type: Option<LogoType>,
    /// Changes with the logo's content: a part of its address.
    pub logo_version: Option<String>,
}

/// A logo.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PortalLogo {
    /// Its media type.
    pub media_type: LogoType,
    /// The file.
    pub bytes: Vec<u8>,
}

/// Media type of a logo.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LogoType {
    /// `image/png`
    Png,
    /// `image/jpeg`
    Jpeg,
    /// `image/webp`
    Webp,
}

impl LogoType {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Png, Self::Jpeg, Self::Webp];

    /// The media type: what is stored, and what a response says.
    pub fn media_type(self) -> &'static str {
        match self {
            Self::Png => "image/png",
            Self::Jpeg => "image/jpeg",
            Self::Webp => "image/webp",
        }
    }

    /// The one of this media type.
    pub fn parse(media_type: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|logo_type| logo_type.media_type() == media_type)
    }
}
