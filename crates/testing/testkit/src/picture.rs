//! Pictures of lots for tests.

use bytes::Bytes;
use image::codecs::jpeg::JpegEncoder;
use image::{Rgb, RgbImage};

const WIDTH: u32 = 480;
const HEIGHT: u32 = 360;

/// A JPEG with shades of one colour. Another number gives another picture.
pub fn picture(number: u8) -> Bytes {
    let shade = |part: u32, whole: u32| u8::try_from(part * 255 / whole).unwrap_or(u8::MAX);
    let pixels =
        RgbImage::from_fn(WIDTH, HEIGHT, |x, y| Rgb([number.wrapping_mul(40), shade(x, WIDTH), shade(y, HEIGHT)]));
    let mut jpeg = Vec::new();
    // Encoding to memory fails only for sizes that JPEG does not have.
    let _ = pixels.write_with_encoder(JpegEncoder::new(&mut jpeg));
    jpeg.into()
}
