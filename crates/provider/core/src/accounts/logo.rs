//! Checks the file of a logo. It is decoded once, within limits, so that browsers receive only valid images.

use std::io::Cursor;

use image::{ImageFormat, ImageReader, Limits};
use tokio::sync::Semaphore;

use crate::error::{ProviderError, ProviderResult};
use crate::model::{LogoType, PortalLogo};

/// Bytes of a logo.
pub const LOGO_BYTES_MAX: usize = 100 * 1_024;
/// Longest side of a logo, in pixels.
const LOGO_SIDE_PX_MAX: u32 = 2_000;
/// Memory that decoding may allocate, in bytes: 4 megapixels of 8 bytes each.
const DECODER_BYTES_MAX: u64 = 32_000_000;

/// Logos are decoded one at a time.
static ONE_AT_A_TIME: Semaphore = Semaphore::const_new(1);

/// Checks a logo and detects its media type. The inner error says what is wrong with the file and what to do.
pub(super) async fn check(bytes: Vec<u8>) -> ProviderResult<Result<PortalLogo, String>> {
    if bytes.len() > LOGO_BYTES_MAX {
        return Ok(Err(format!("must have at most {} KiB", LOGO_BYTES_MAX / 1_024)));
    }
    let failed = |error: String| ProviderError::Internal(format!("a logo could not be decoded: {error}"));
    let _permit = ONE_AT_A_TIME.acquire().await.map_err(|error| failed(error.to_string()))?;
    tokio::task::spawn_blocking(move || decode(bytes)).await.map_err(|error| failed(error.to_string()))
}

fn decode(bytes: Vec<u8>) -> Result<PortalLogo, String> {
    let unreadable = || "can't be shown as an image: export it again as PNG, JPEG or WebP".to_owned();
    let mut reader = ImageReader::new(Cursor::new(&bytes)).with_guessed_format().map_err(|_| unreadable())?;
    let media_type = match reader.format() {
        Some(ImageFormat::Png) => LogoType::Png,
        Some(ImageFormat::Jpeg) => LogoType::Jpeg,
        Some(ImageFormat::WebP) => LogoType::Webp,
        _ => return Err("must be a PNG, JPEG or WebP image".to_owned()),
    };
    let mut limits = Limits::default();
    limits.max_alloc = Some(DECODER_BYTES_MAX);
    limits.max_image_width = Some(LOGO_SIDE_PX_MAX);
    limits.max_image_height = Some(LOGO_SIDE_PX_MAX);
    reader.limits(limits);
    let decoded = reader.decode().map_err(|error| match error {
        image::ImageError::Limits(_) => {
            format!("must have at most {LOGO_SIDE_PX_MAX} pixels on each side: make it smaller")
        }
        _ => unreadable(),
    });
    decoded.map(|_| PortalLogo { media_type, bytes })
}

#[cfg(test)]
mod tests {
    use image::DynamicImage;

    use super::*;

    fn logo(width: u32, height: u32, format: ImageFormat) -> Vec<u8> {
        let mut bytes = Cursor::new(Vec::new());
        DynamicImage::new_rgb8(width, height).write_to(&mut bytes, format).unwrap();
        bytes.into_inner()
    }

    #[test]
    fn a_logo_is_an_image_that_can_be_decoded() {
        for (format, media_type) in [
            (ImageFormat::Png, LogoType::Png),
            (ImageFormat::Jpeg, LogoType::Jpeg),
            (ImageFormat::WebP, LogoType::Webp),
        ] {
            let bytes = logo(40, 20, format);
            assert_eq!(decode(bytes.clone()), Ok(PortalLogo { media_type, bytes: bytes.clone() }));
            let half = bytes[..bytes.len() / 2].to_vec();
            assert!(decode(half).unwrap_err().contains("can't be shown"), "{media_type:?}");
        }
        for begun in [&b"\x89PNG\r\n\x1a\nrest"[..], b"\xff\xd8\xff\xe0rest", b"RIFF\0\0\0\0WEBPrest"] {
            assert!(decode(begun.to_vec()).unwrap_err().contains("can't be shown"));
        }
        for other in [&b"<svg onload=alert(1)>"[..], b"GIF89a", b""] {
            assert!(decode(other.to_vec()).unwrap_err().contains("must be a PNG, JPEG or WebP image"));
        }
        assert!(decode(logo(2_001, 2, ImageFormat::Png)).unwrap_err().contains("2000 pixels on each side"));
    }

    #[tokio::test]
    async fn a_long_file_is_refused_before_it_is_decoded() {
        let refused = check(vec![0x89; LOGO_BYTES_MAX + 1]).await.unwrap().unwrap_err();
        assert_eq!(refused, "must have at most 100 KiB");
    }
}
