//! Decodes an uploaded image with limits, and encodes it again in each variant: upright, without metadata.

use std::io::Cursor;

use image::codecs::jpeg::JpegEncoder;
use image::metadata::Orientation;
use image::{ColorType, DynamicImage, ImageDecoder, ImageError, ImageFormat, ImageReader, Limits, RgbImage, RgbaImage};

use super::{IMAGE_BYTES_MAX, IMAGE_PIXELS_MAX};
use crate::port::{ImageContent, ImageVariant};

/// Memory that an image may need while it is decoded and encoded, in bytes: 50 megapixels of a WebP image of 7 bytes each.
pub(crate) const WORKING_BYTES_MAX: u64 = IMAGE_PIXELS_MAX * 7;
/// The same for an image with 16 bits in each channel: 16 megapixels with transparency, 22 without.
const DEEP_WORKING_BYTES_MAX: u64 = 200_000_000;
/// What the decoder may allocate before the first pixel, in bytes. A colour profile may unpack to more; it is skipped then.
const HEADER_BYTES_MAX: u64 = 16 << 20;
/// Longest side, in pixels.
const SIDE_PX_MAX: u32 = 30_000;
/// Quality of JPEG, of 100.
const FULL_QUALITY: u8 = 90;
const VARIANT_QUALITY: u8 = 82;

/// An image in all variants.
#[derive(Debug)]
pub(crate) struct DecodedImage {
    pub(crate) media_type: &'static str,
    pub(crate) width: u32,
    pub(crate) height: u32,
    pub(crate) contents: Vec<ImageContent>,
}

impl DecodedImage {
    pub(crate) fn full_bytes(&self) -> u64 {
        let full = self.contents.iter().find(|content| content.variant == ImageVariant::Full);
        full.map_or(0, |content| content.bytes.len() as u64)
    }
}

/// The memory that decoding an image takes, by its header, in bytes. Errors: what is wrong with the file and what to do.
pub(crate) fn working_bytes(file: &[u8]) -> Result<u64, String> {
    open(file).map(|opened| opened.working_bytes)
}

/// Decodes and encodes an image. Errors: as [`working_bytes`].
pub(crate) fn decode(file: &[u8]) -> Result<DecodedImage, String> {
    let Opened { decoder, orientation, .. } = open(file)?;
    let image = DynamicImage::from_decoder(decoder).map_err(not_an_image)?;
    // Fewer bytes first: turning needs a second image.
    let mut image = match image.color().has_alpha() {
        true => DynamicImage::ImageRgba8(image.into_rgba8()),
        false => DynamicImage::ImageRgb8(image.into_rgb8()),
    };
    image.apply_orientation(orientation);
    encode(image)
}

/// An image whose header was read, within the limits.
struct Opened<D> {
    decoder: D,
    orientation: Orientation,
    /// The memory that decoding takes.
    working_bytes: u64,
}

fn open(file: &[u8]) -> Result<Opened<impl ImageDecoder + '_>, String> {
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
    let mut reader =
        ImageReader::new(Cursor::new(file)).with_guessed_format().map_err(|_| "the file can't be read".to_owned())?;
    let format = match reader.format() {
        Some(format @ (ImageFormat::Jpeg | ImageFormat::Png | ImageFormat::WebP)) => format,
        _ => return Err("the file is not a JPEG, PNG or WebP image: export it as one of these".to_owned()),
    };
    let mut limits = Limits::default();
    limits.max_alloc = Some(HEADER_BYTES_MAX);
    limits.max_image_width = Some(SIDE_PX_MAX);
    limits.max_image_height = Some(SIDE_PX_MAX);
    reader.limits(limits);
    let mut decoder = reader.into_decoder().map_err(|error| match error {
        ImageError::Limits(_) => format!(
            "the image has a side of more than {SIDE_PX_MAX} pixels, or more than 50 megapixels: make it smaller"
        ),
        other => not_an_image(other),
    })?;
    let ((width, height), color) = (decoder.dimensions(), decoder.color_type());
    let pixels = u64::from(width) * u64::from(height);
    if pixels > IMAGE_PIXELS_MAX {
        return Err(format!(
            "the image has {width} x {height} pixels: at most 50 megapixels are possible, so make it smaller"
        ));
    }
    let is_deep = color.bytes_per_pixel() > color.channel_count();
    let is_progressive = format == ImageFormat::Jpeg && is_progressive(file);
    let orientation = decoder.orientation().map_err(not_an_image)?;
    let is_turned = !matches!(
        orientation,
        Orientation::NoTransforms | Orientation::FlipHorizontal | Orientation::FlipVertical | Orientation::Rotate180
    );
    let working_bytes = pixels * bytes_per_pixel(color, format, is_progressive, is_turned);
    if is_deep && working_bytes > DEEP_WORKING_BYTES_MAX {
        return Err(format!(
            "the image has {width} x {height} pixels of 16 bits in each channel, which are too many: export it with 8 \
             bits, or make it smaller"
        ));
    }
    if working_bytes > WORKING_BYTES_MAX {
        return Err(format!(
            "the image has {width} x {height} pixels, which are too many for a progressive JPEG or a turned image with \
             transparency: export it as a baseline JPEG, or make it smaller"
        ));
    }
    Ok(Opened { decoder, orientation, working_bytes })
}

/// Bytes that a pixel takes at the same time, at most: while it is decoded, converted to 8 bits in each channel, and
/// turned.
fn bytes_per_pixel(color: ColorType, format: ImageFormat, is_progressive: bool, is_turned: bool) -> u64 {
    let (decoded, kept) = (u64::from(color.bytes_per_pixel()), if color.has_alpha() { 4 } else { 3 });
    let decoder = match format {
        // The coefficients of all pixels, of 2 bytes for each channel.
        ImageFormat::Jpeg if is_progressive => 2 * u64::from(color.channel_count()),
        // The planes of brightness, colour and transparency.
        ImageFormat::WebP => 3,
        _ => 0,
    };
    let converted = if decoded == kept { 0 } else { kept };
    let turned = if is_turned { 2 * kept } else { 0 };
    (decoded + decoder).max(decoded + converted).max(turned)
}

/// True for a JPEG file whose first frame is progressive.
fn is_progressive(file: &[u8]) -> bool {
    let mut rest = file.get(2..).unwrap_or_default();
    while let Some(at) = rest.iter().position(|byte| *byte == 0xff) {
        rest = rest.get(at..).unwrap_or_default();
        let skipped = rest.iter().take_while(|byte| **byte == 0xff).count();
        rest = rest.get(skipped..).unwrap_or_default();
        match rest.first() {
            Some(0xc2 | 0xc6 | 0xca | 0xce) => return true,
            Some(0xc0 | 0xc1 | 0xc3 | 0xc5 | 0xc7 | 0xc9 | 0xcb | 0xcd | 0xcf | 0xda) | None => return false,
            Some(_) => {
                let length = rest.get(1..3).and_then(|length| <[u8; 2]>::try_from(length).ok());
                let length = usize::from(length.map_or(0, u16::from_be_bytes));
                rest = rest.get(1 + length..).unwrap_or_default();
            }
        }
    }
    false
}

fn not_an_image(_: ImageError) -> String {
    "the file is not a readable JPEG, PNG or WebP image: export it again".to_owned()
}

/// Encodes an image with 8 bits in each channel.
fn encode(image: DynamicImage) -> Result<DecodedImage, String> {
    let (width, height) = (image.width(), image.height());
    let (transparent, opaque) = match image {
        DynamicImage::ImageRgba8(image) => {
            let is_transparent = image.pixels().any(|pixel| pixel.0.last() != Some(&u8::MAX));
            let transparent = if is_transparent { Some(png(&image)?) } else { None };
            (transparent, on_white(image))
        }
        other => (None, other.into_rgb8()),
    };
    let (media_type, full) = match transparent {
        Some(full) => ("image/png", full),
        None => ("image/jpeg", jpeg(&opaque, FULL_QUALITY)?),
    };
    let large = no_wider_than(DynamicImage::ImageRgb8(opaque), 1_280);
    let large_bytes = jpeg(&large, VARIANT_QUALITY)?;
    let small = no_wider_than(DynamicImage::ImageRgb8(large), 320);
    let contents = vec![
        ImageContent { variant: ImageVariant::Full, bytes: full },
        ImageContent { variant: ImageVariant::Large, bytes: large_bytes },
        ImageContent { variant: ImageVariant::Small, bytes: jpeg(&small, VARIANT_QUALITY)? },
    ];
    Ok(DecodedImage { media_type, width, height, contents })
}

/// The image in this width, which needs no memory but that of the result.
fn no_wider_than(image: DynamicImage, width: u32) -> RgbImage {
    if image.width() <= width {
        return image.into_rgb8();
    }
    let height = u64::from(image.height()) * u64::from(width) / u64::from(image.width());
    let height = u32::try_from(height).unwrap_or(u32::MAX).max(1);
    image.thumbnail_exact(width, height).into_rgb8()
}

/// The image on a white ground, because JPEG has no transparency. The result takes the place of the image.
fn on_white(image: RgbaImage) -> RgbImage {
    let (width, height) = image.dimensions();
    let mut bytes = image.into_raw();
    let mut written = 0;
    for begin in (0..bytes.len()).step_by(4) {
        let Some(&[red, green, blue, alpha]) = bytes.get(begin..begin + 4).and_then(|pixel| pixel.first_chunk()) else {
            break;
        };
        let blend = |part: u8| {
            let (part, alpha) = (u32::from(part), u32::from(alpha));
            u8::try_from((part * alpha + 255 * (255 - alpha)) / 255).unwrap_or(u8::MAX)
        };
        if let Some(pixel) = bytes.get_mut(written..written + 3) {
            pixel.copy_from_slice(&[blend(red), blend(green), blend(blue)]);
        }
        written += 3;
    }
    bytes.truncate(written);
    RgbImage::from_raw(width, height, bytes).unwrap_or_default()
}

fn jpeg(image: &RgbImage, quality: u8) -> Result<Vec<u8>, String> {
    let mut bytes = Vec::new();
    let encoder = JpegEncoder::new_with_quality(&mut bytes, quality);
    image.write_with_encoder(encoder).map_err(|_| "the image can't be stored as JPEG: make it smaller".to_owned())?;
    Ok(bytes)
}

fn png(image: &RgbaImage) -> Result<Vec<u8>, String> {
    let mut bytes = Vec::new();
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
    use image::codecs::png::PngEncoder;
    use image::{ImageEncoder as _, Rgb, Rgba};

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
    fn a_colour_profile_that_unpacks_to_more_than_the_limit_is_skipped() {
        let with_profile = |profile_bytes: usize| {
            let mut bytes = Vec::new();
            let mut encoder = PngEncoder::new(&mut bytes);
            encoder.set_icc_profile(vec![0; profile_bytes]).unwrap();
            picture(1, 1).write_with_encoder(encoder).unwrap();
            bytes
        };
        let kept_bytes = |file: &[u8]| open(file).unwrap().decoder.icc_profile().unwrap().map(|profile| profile.len());
        assert_eq!(kept_bytes(&with_profile(1 << 20)), Some(1 << 20));
        let bomb = with_profile(64 << 20);
        assert!(bomb.len() < 1 << 20, "{} bytes", bomb.len());
        assert_eq!(kept_bytes(&bomb), None);
        assert!(decode(&bomb).is_ok());
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

    #[test]
    fn deep_pixels_have_a_lower_limit_that_is_checked_before_they_are_decoded() {
        let deep = file(&DynamicImage::new_rgba16(2, 2), ImageFormat::Png);
        let sized = |width: u32, height: u32| {
            let mut file = deep.clone();
            file[16..20].copy_from_slice(&width.to_be_bytes());
            file[20..24].copy_from_slice(&height.to_be_bytes());
            let sum = crc32(&file[12..29]);
            file[29..33].copy_from_slice(&sum.to_be_bytes());
            working_bytes(&file)
        };
        assert_eq!(sized(4_000, 4_000), Ok(192_000_000));
        let refused = sized(7_000, 7_000).unwrap_err();
        assert!(refused.contains("7000 x 7000 pixels of 16 bits") && refused.contains("8 bits"), "{refused}");
        assert!(decode(&deep).is_ok());
        assert_eq!(working_bytes(&file(&picture(100, 10), ImageFormat::Png)), Ok(3_000));
    }

    #[test]
    fn a_progressive_jpeg_is_recognised_by_its_first_frame() {
        let baseline = file(&picture(8, 8), ImageFormat::Jpeg);
        assert!(!is_progressive(&baseline));
        let mut progressive = baseline.clone();
        let frame = baseline.windows(2).position(|marker| marker == [0xff, 0xc0]).unwrap();
        progressive[frame + 1] = 0xc2;
        assert!(is_progressive(&progressive));
        for cut in 0..progressive.len() {
            is_progressive(&progressive[..cut]);
        }
    }

    #[test]
    fn transparency_is_blended_on_white() {
        let pixels = [[10, 20, 30, 255], [0, 0, 0, 0], [0, 0, 0, 128], [200, 100, 50, 255]];
        let image = RgbaImage::from_fn(2, 2, |x, y| Rgba(pixels[(y * 2 + x) as usize]));
        let blended: Vec<[u8; 3]> = on_white(image).pixels().map(|pixel| pixel.0).collect();
        assert_eq!(blended, [[10, 20, 30], [255, 255, 255], [127, 127, 127], [200, 100, 50]]);
    }

    /// The checksum of a chunk of PNG.
    fn crc32(bytes: &[u8]) -> u32 {
        let bit = |sum: u32, _| if sum & 1 == 1 { (sum >> 1) ^ 0xedb8_8320 } else { sum >> 1 };
        !bytes.iter().fold(u32::MAX, |sum, byte| (0..8).fold(sum ^ u32::from(*byte), bit))
    }
}
