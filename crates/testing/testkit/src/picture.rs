//! Pictures of lots for tests and measurements.

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

/// Size of a photograph, and of the grains of its texture from the coarsest on, in pixels.
const PHOTOGRAPH: (u32, u32) = (800, 600);
const GRAINS: [u32; 4] = [160, 40, 10, 3];
const PHOTOGRAPH_QUALITY: u8 = 85;

/// A JPEG with about as many bytes as a photograph of its size: a texture of coarse and fine grains. Another number gives another
/// picture.
pub fn photograph(number: u32) -> Bytes {
    let (width, height) = PHOTOGRAPH;
    let pixels = RgbImage::from_fn(width, height, |x, y| {
        let (mut light, mut weight) = (0, 0);
        for (share, grain) in (1..).zip(GRAINS.iter().rev()) {
            light += share * between_corners(x, y, *grain, number);
            weight += share;
        }
        let light = light / weight;
        let tint = [number % 3, number / 3 % 3, number / 9 % 3].map(|part| 2 + part);
        Rgb(tint.map(|part| u8::try_from((light * part / 4).min(255)).unwrap_or(u8::MAX)))
    });
    let mut jpeg = Vec::new();
    // Encoding to memory fails only for sizes that JPEG does not have.
    let _ = pixels.write_with_encoder(JpegEncoder::new_with_quality(&mut jpeg, PHOTOGRAPH_QUALITY));
    jpeg.into()
}

/// The light of a point, between those of the four corners of its grain: from 0 to 255.
fn between_corners(x: u32, y: u32, grain: u32, number: u32) -> u32 {
    let (column, row, across, down) = (x / grain, y / grain, x % grain, y % grain);
    let along = |row: u32| {
        let (left, right) = (scattered(column, row, number), scattered(column + 1, row, number));
        left * (grain - across) + right * across
    };
    (along(row) * (grain - down) + along(row + 1) * down) / (grain * grain)
}

/// A number from 0 to 255 that looks random.
fn scattered(column: u32, row: u32, number: u32) -> u32 {
    let mixed = column.wrapping_mul(0x9E37_79B1) ^ row.wrapping_mul(0x85EB_CA77) ^ number.wrapping_mul(0xC2B2_AE3D);
    let mixed = (mixed ^ (mixed >> 15)).wrapping_mul(0x2C1B_3C6D);
    (mixed ^ (mixed >> 13)) >> 24
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_photograph_has_the_bytes_of_one_and_differs_from_the_next() {
        let [one, two] = [1, 2].map(photograph);
        assert_ne!(one, two);
        assert!((50_000..300_000).contains(&one.len()), "{} bytes", one.len());
    }
}
