//! Pictures of the demonstration's lots: still lifes of a table, a wall and three vessels, drawn from a number.

use bytes::Bytes;
use image::codecs::jpeg::JpegEncoder;
use image::{Rgb, RgbImage};

const WIDTH: u32 = 480;
const HEIGHT: u32 = 360;
const QUALITY: u8 = 85;
/// Steps of the generator that makes numbers from a seed (Knuth, MMIX).
const MULTIPLIER: u64 = 6_364_136_223_846_793_005;
const INCREMENT: u64 = 1_442_695_040_888_963_407;

type Colour = [f32; 3];

/// A vessel: an ellipse with a neck.
struct Vessel {
    x: f32,
    foot: f32,
    radius: f32,
    height: f32,
    neck: f32,
    colour: Colour,
}

/// A JPEG picture. The same number gives the same picture.
pub(super) fn picture(seed: u64) -> Bytes {
    let mut random = Numbers(seed.wrapping_mul(MULTIPLIER) ^ INCREMENT);
    let hue = random.between(0.0, 360.0);
    let (wall, table) = (colour(hue, 0.25, 0.72), colour(hue + random.between(140.0, 220.0), 0.35, 0.38));
    let horizon = random.between(0.56, 0.7);
    let mut vessels: Vec<Vessel> = (0_u8..3)
        .map(|place| Vessel {
            x: 0.24 + 0.26 * f32::from(place) + random.between(-0.05, 0.05),
            foot: random.between(horizon + 0.08, 0.93),
            radius: random.between(0.07, 0.14),
            height: random.between(0.16, 0.34),
            neck: random.between(0.2, 0.6),
            colour: colour(hue + random.between(30.0, 330.0), random.between(0.3, 0.65), random.between(0.35, 0.6)),
        })
        .collect();
    vessels.sort_by(|one, other| one.foot.total_cmp(&other.foot));
    let picture = RgbImage::from_fn(WIDTH, HEIGHT, |x, y| {
        let (across, down) = (x as f32 / WIDTH as f32, y as f32 / HEIGHT as f32);
        let ground = if down < horizon { shaded(wall, 1.12 - 0.3 * across) } else { shaded(table, 1.25 - 0.5 * down) };
        let mut pixel = ground;
        for vessel in &vessels {
            pixel = vessel.over(pixel, across, down);
        }
        Rgb(pixel.map(|part| (part.clamp(0.0, 1.0) * 255.0) as u8))
    });
    let mut jpeg = Vec::new();
    // Encoding to memory fails only for sizes that JPEG does not have.
    let _ = picture.write_with_encoder(JpegEncoder::new_with_quality(&mut jpeg, QUALITY));
    jpeg.into()
}

impl Vessel {
    /// The colour of a point with the vessel and its shadow over the ground.
    fn over(&self, ground: Colour, across: f32, down: f32) -> Colour {
        // Positions from -1 to 1 in the body, which is as high as the picture is wide there.
        let side = (across - self.x) / self.radius;
        let middle = self.foot - self.height / 2.0;
        let level = (down - middle) / (self.height / 2.0);
        let is_body = side * side + level * level < 1.0;
        let is_neck = side.abs() < self.neck && (-1.35..0.0).contains(&level);
        if is_body || is_neck {
            // Light from the left.
            return shaded(self.colour, 1.25 - 0.55 * (side + 0.35).abs());
        }
        let (shadow_side, shadow_level) = ((side - 0.9) / 1.5, (down - self.foot) / 0.035);
        if shadow_side * shadow_side + shadow_level * shadow_level < 1.0 { shaded(ground, 0.7) } else { ground }
    }
}

fn shaded(colour: Colour, light: f32) -> Colour {
    colour.map(|part| part * light)
}

/// A colour from hue in degrees, saturation and lightness.
fn colour(hue: f32, saturation: f32, lightness: f32) -> Colour {
    let reach = saturation * lightness.min(1.0 - lightness);
    [0.0, 8.0, 4.0].map(|offset| {
        let sector = (offset + hue / 30.0) % 12.0;
        lightness - reach * (sector - 3.0).min(9.0 - sector).clamp(-1.0, 1.0)
    })
}

/// Numbers from a seed.
struct Numbers(u64);

impl Numbers {
    fn between(&mut self, from: f32, to: f32) -> f32 {
        self.0 = self.0.wrapping_mul(MULTIPLIER).wrapping_add(INCREMENT);
        let part = (self.0 >> 40) as f32 / (1_u32 << 24) as f32;
        from + (to - from) * part
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_gives_one_picture_and_another_number_another() {
        assert_eq!(picture(1), picture(1));
        assert_ne!(picture(1), picture(2));
        let picture = image::load_from_memory(&picture(3)).unwrap();
        assert_eq!((picture.width(), picture.height()), (WIDTH, HEIGHT));
    }
}
