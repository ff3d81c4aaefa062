//! Decodes an uploaded image with limits, and encodes it again in each variant: upright, without metadata.

use std::io::Cursor;

use image::codecs::jpeg::JpegEncoder;
use image::imageops::FilterType;
use image::{DynamicImage, ImageDecoder as _, ImageError, ImageFormat, ImageReader, Limits, Rgb, RgbImage};

use super::{IMAGE_BYTES_MAX, IMAGE_PIXELS_MAX};
use crate::port::{ImageContent, ImageVariant};

/// Memory that a decoder may allocate, in bytes: 50 megapixels of 8 bytes each, as 16-bit PNG images have.
const DECODER_BYTES_MAX: u64 = IMAGE_PIXELS_MAX * 8;
/// Longest side, in pixels.
const SIDE_PX_MAX: u32 = 30_000;
/// Quality of JPEG, of 100.
const FULL_QUALITY: u8 = 90;
const VARIANT_QUALITY: u8 = 82;

/// An image in all variants.
#[derive(Debug)]
pub(super) struct DecodedImage {
    pub(super) media_type: &'static str,
    pub(super) width: u32,
    pub(super) height: u32,
    pub(super) contents: Vec<ImageContent>,
}

impl DecodedImage {
    pub(super) fn full_bytes(&self) -> u64 {
        let full = self.contents.iter().find(|content| content.variant == ImageVariant::Full);
        full.map_or(0, |content| content.bytes.len() as u64)
    }
}

/// Decodes and encodes an image. Errors: what is wrong with the file and what to do.
pub(super) fn decode(file: &[u8]) -> Result<DecodedImage, String> {
    if file.len() > IMAGE_BYTES_MAX {
        return Err(format!("the image has more than {} MiB: make it smaller", IMAGE_BYTES_MAX >> 20));
    }
    if is_heic(file) {
        return Err(
            "the image is HEIC, which browsers don't show: on an iPhone choose Settings, Camera, Formats, Most \
                    Compatible, or export the picture as JPEG"
                .to_owned(),
        );
    }
    if is_markup(file) {
        return Err("the file is an SVG image or a web page, which may contain script: export the picture as JPEG or \
                    PNG"
        .to_owned());
    }
    let not_an_image = |_| "the file is not a readable JPEG, PNG or WebP image: export it again".to_owned();
    let mut reader =
        ImageReader::new(Cursor::new(file)).with_guessed_format().map_err(|_| "the file can't be read".to_owned())?;
    match reader.format() {
        Some(ImageFormat::Jpeg | ImageFormat::Png | ImageFormat::WebP) => {}
        _ => return Err("the file is not a JPEG, PNG or WebP image: export it as one of these".to_owned()),
    }
    let mut limits = Limits::default();
    limits.max_alloc = Some(DECODER_BYTES_MAX);
    limits.max_image_width = Some(SIDE_PX_MAX);
    limits.max_image_height = Some(SIDE_PX_MAX);
    reader.limits(limits);
    let mut decoder = reader.into_decoder().map_err(|error| match error {
        ImageError::Limits(_) => format!(
            "the image has a side of more than {SIDE_PX_MAX} pixels, or more than 50 megapixels: make it smaller"
        ),
        other => not_an_image(other),
    })?;
    let (width, height) = decoder.dimensions();
    if u64::from(width) * u64::from(height) > IMAGE_PIXELS_MAX {
        return Err(format!(
            "the image has {width} x {height} pixels: at most 50 megapixels are possible, so make it smaller"
        ));
    }
    let orientation = decoder.orientation().map_err(not_an_image)?;
    let mut image = DynamicImage::from_decoder(decoder).map_err(not_an_image)?;
    image.apply_orientation(orientation);
    encode(&image)
}

fn encode(image: &DynamicImage) -> Result<DecodedImage, String> {
    let is_transparent =
        image.color().has_alpha() && image.to_rgba8().pixels().any(|pixel| pixel.0.last() != Some(&u8::MAX));
    let opaque = on_white(image);
    let (media_type, full) =
        if is_transparent { ("image/png", png(image)?) } else { ("image/jpeg", jpeg(&opaque, FULL_QUALITY)?) };
    let opaque = DynamicImage::ImageRgb8(opaque);
    let large = no_wider_than(&opaque, 1_280);
    let small = no_wider_than(&large, 320);
    let contents = vec![
        ImageContent { variant: ImageVariant::Full, bytes: full },
        ImageContent { variant: ImageVariant::Large, bytes: jpeg(&large.to_rgb8(), VARIANT_QUALITY)? },
        ImageContent { variant: ImageVariant::Small, bytes: jpeg(&small.to_rgb8(), VARIANT_QUALITY)? },
    ];
    Ok(DecodedImage { media_type, width: image.width(), height: image.height(), contents })
}

fn no_wider_than(image: &DynamicImage, width: u32) -> DynamicImage {
    if image.width() <= width {
        return image.clone();
    }
    let height = u64::from(image.height()) * u64::from(width) / u64::from(image.width());
    let height = u32::try_from(height).unwrap_or(u32::MAX).max(1);
    image.resize_exact(width, height, FilterType::Triangle)
}

/// The image on a white ground, because JPEG has no transparency.
fn on_white(image: &DynamicImage) -> RgbImage {
    if !image.color().has_alpha() {
        return image.to_rgb8();
    }
    let pixels = image.to_rgba8();
    RgbImage::from_fn(pixels.width(), pixels.height(), |x, y| {
        let [red, green, blue, alpha] = pixels.get_pixel(x, y).0;
        let blend = |part: u8| {
            let (part, alpha) = (u32::from(part), u32::from(alpha));
            u8::try_from((part * alpha + 255 * (255 - alpha)) / 255).unwrap_or(u8::MAX)
        };
        Rgb([blend(red), blend(green), blend(blue)])
    })
}

fn jpeg(image: &RgbImage, quality: u8) -> Result<Vec<u8>, String> {
    let mut bytes = Vec::new();
    let encoder = JpegEncoder::new_with_quality(&mut bytes, quality);
    image.write_with_encoder(encoder).map_err(|_| "the image can't be stored as JPEG: make it smaller".to_owned())?;
    Ok(bytes)
}

fn png(image: &DynamicImage) -> Result<Vec<u8>, String> {
    let mut bytes = Vec::new();
    let image = DynamicImage::ImageRgba8(image.to_rgba8());
    image
        .write_to(&mut Cursor::new(&mut bytes), ImageFormat::Png)
        .map_err(|_| "the image can't be stored as PNG: make it smaller".to_owned())?;
    Ok(bytes)
}

/// True for an ISO media file with a brand of HEIC.
fn is_heic(file: &[u8]) -> bool {
    const BRANDS: [&[u8]; 8] = [b"heic", b"heix", b"hevc", b"hevx", b"heim", b"heis", b"mif1", b"msf1"];
    file.get(4..8) == Some(b"ftyp") && file.get(8..12).is_some_and(|brand| BRANDS.contains(&brand))
}

/// True for a file that begins like SVG, XML or HTML, whatever its name says.
fn is_markup(file: &[u8]) -> bool {
    let file = file.strip_prefix(b"\xef\xbb\xbf").unwrap_or(file);
    file.trim_ascii_start().starts_with(b"<")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn picture(width: u32, height: u32) -> DynamicImage {
        DynamicImage::ImageRgb8(RgbImage::from_fn(width, height, |x, y| Rgb([x as u8, y as u8, 90])))
    }

    fn file(image: &DynamicImage, format: ImageFormat) -> Vec<u8> {
        let mut bytes = Vec::new();
        image.write_to(&mut Cursor::new(&mut bytes), format).unwrap();
        bytes
    }

    fn size(decoded: &DecodedImage, variant: ImageVariant) -> (u32, u32) {
        let content = decoded.contents.iter().find(|content| content.variant == variant).unwrap();
        let image = image::load_from_memory(&content.bytes).unwrap();
        (image.width(), image.height())
    }

    #[test]
    fn each_format_becomes_variants_without_metadata() {
        for format in [ImageFormat::Jpeg, ImageFormat::Png, ImageFormat::WebP] {
            let decoded = decode(&file(&picture(1_600, 800), format)).unwrap();
            assert_eq!((decoded.media_type, decoded.width, decoded.height), ("image/jpeg", 1_600, 800));
            assert_eq!(size(&decoded, ImageVariant::Large), (1_280, 640));
            assert_eq!(size(&decoded, ImageVariant::Small), (320, 160));
        }
    }

    #[test]
    fn the_orientation_is_applied_and_the_metadata_is_dropped() {
        let mut photo = file(&picture(40, 20), ImageFormat::Jpeg);
        // An APP1 segment with Exif: orientation 6, which is to be turned by 90 degrees.
        let exif = b"Exif\0\0MM\0\x2a\0\0\0\x08\0\x01\x01\x12\0\x03\0\0\0\x01\0\x06\0\0\0\0\0\0secret";
        let length = u16::try_from(exif.len() + 2).unwrap().to_be_bytes();
        let segment: Vec<u8> = [&[0xff, 0xe1], &length[..], exif].concat();
        photo.splice(2..2, segment);
        let decoded = decode(&photo).unwrap();
        assert_eq!((decoded.width, decoded.height), (20, 40));
        let has_secret = |content: &ImageContent| content.bytes.windows(6).any(|window| window == b"secret");
        assert!(!decoded.contents.iter().any(has_secret));
    }

    #[test]
    fn a_transparent_image_stays_png_and_its_variants_are_on_white() {
        let clear = DynamicImage::new_rgba8(10, 10);
        let decoded = decode(&file(&clear, ImageFormat::Png)).unwrap();
        assert_eq!(decoded.media_type, "image/png");
        let small = decoded.contents.iter().find(|content| content.variant == ImageVariant::Small).unwrap();
        assert!(image::load_from_memory(&small.bytes).unwrap().to_rgb8().pixels().all(|pixel| pixel.0[0] > 250));
    }

    #[test]
    fn what_is_no_image_is_refused_with_what_to_do() {
        let svg = b"<svg xmlns='http://www.w3.org/2000/svg'><script>alert(1)</script></svg>";
        for (file, expected) in [
            (&b""[..], "not a JPEG"),
            (svg, "may contain script"),
            (b"\xef\xbb\xbf \n<!doctype html><script>alert(1)</script>", "may contain script"),
            (b"GIF89a......", "not a JPEG"),
            (b"\0\0\0\x18ftypheic\0\0\0\0mif1heic", "HEIC"),
            (b"\xff\xd8\xff\xe0 nothing follows", "not a readable"),
        ] {
            let refused = decode(file).unwrap_err();
            assert!(refused.contains(expected), "{refused}");
        }
        // Small files that claim to be large.
        let bomb = |side: u32| {
            let mut bomb = file(&picture(2, 2), ImageFormat::Png);
            bomb[16..20].copy_from_slice(&side.to_be_bytes());
            bomb[20..24].copy_from_slice(&side.to_be_bytes());
            let sum = crc32(&bomb[12..29]);
            bomb[29..33].copy_from_slice(&sum.to_be_bytes());
            bomb
        };
        assert!(decode(&bomb(60_000)).unwrap_err().contains("more than 50 megapixels"));
        assert!(decode(&bomb(20_000)).unwrap_err().contains("20000 x 20000 pixels"));
    }

    /// The checksum of a chunk of PNG.
    fn crc32(bytes: &[u8]) -> u32 {
        let bit = |sum: u32, _| if sum & 1 == 1 { (sum >> 1) ^ 0xedb8_8320 } else { sum >> 1 };
        !bytes.iter().fold(u32::MAX, |sum, byte| (0..8).fold(sum ^ u32::from(*byte), bit))
    }
}
