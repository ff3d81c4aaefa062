//! A QR code as the path of an SVG, so that no secret leaves the page to be drawn.

use std::fmt::Write as _;

use qrcode::{Color, EcLevel};

/// Light modules around the code (ISO/IEC 18004, section 5.3.8).
const QUIET: usize = 4;

/// A QR code.
pub(super) struct QrCode {
    /// Width and height in modules, with the quiet zone.
    pub(super) size: usize,
    /// Data of the path of its dark modules.
    pub(super) path: String,
}

impl QrCode {
    /// The code of this text; none when it is too long.
    pub(super) fn new(text: &str) -> Option<Self> {
        let code = qrcode::QrCode::with_error_correction_level(text, EcLevel::M).ok()?;
        let width = code.width();
        let mut path = String::new();
        for (index, color) in code.to_colors().into_iter().enumerate() {
            if color == Color::Dark {
                let (x, y) = (index % width + QUIET, index / width + QUIET);
                let _ = write!(path, "M{x} {y}h1v1h-1z");
            }
        }
        Some(Self { size: width + 2 * QUIET, path })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_code_has_its_three_finder_patterns_within_the_quiet_zone() {
        let code = QrCode::new("otpauth://totp/Lotwire:ann@example.com?secret=GEZDGNBV").unwrap();
        let corner = QUIET;
        let far = code.size - QUIET - 7;
        for (x, y) in [(corner, corner), (far, corner), (corner, far)] {
            assert!(code.path.contains(&format!("M{x} {y}h1")), "{x} {y}");
        }
        assert!(!code.path.contains("M0 ") && QrCode::new(&"x".repeat(10_000)).is_none());
    }
}
