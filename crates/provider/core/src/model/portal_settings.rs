//! Settings of an account's App Portal.

use kit_colour::Colour;

/// Colour and logo of the App Portal, and the sites that may embed it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PortalSettings {
    /// Colour of links and buttons; the provider's own when none.
    pub colour: Option<Colour>,
    /// Origins that may embed the portal (`frame-ancestors`); none when empty.
    pub embed_origins: Vec<String>,
    /// Media type of the logo; none when there is no logo.
    pub logo_type: Option<LogoType>,
    /// Version of the logo: a part of its address that changes with its content.
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
    /// All types.
    pub const ALL: [Self; 3] = [Self::Png, Self::Jpeg, Self::Webp];

    /// The media type in the store and in responses.
    pub fn media_type(self) -> &'static str {
        match self {
            Self::Png => "image/png",
            Self::Jpeg => "image/jpeg",
            Self::Webp => "image/webp",
        }
    }

    /// The logo type with this media type.
    pub fn parse(media_type: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|logo_type| logo_type.media_type() == media_type)
    }
}
