//! A QR code as the path of an SVG, so that no secret leaves the page to be drawn.

use std::fmt::Write as _;

use askama::Template;
use askama::filters::HtmlSafe;
use qrcode::{Color, EcLevel};

/// Light modules around the code (ISO/IEC 18004, section 5.3.8).
const QUIET: usize = 4;

/// An `<svg>` element with a QR code. It is dark on white in dark mode, too, because not every reader takes an inverted one.
#[derive(Debug, Clone, Template)]
#[template(
    source = "<svg class=\"qr\" viewBox=\"0 0 {{ size }} {{ size }}\" role=\"img\" aria-label=\"{{ label }}\" \
              shape-rendering=\"crispEdges\"><rect width=\"{{ size }}\" height=\"{{ size }}\" fill=\"#fff\"></rect>\
              <path d=\"{{ path }}\" fill=\"#000\"></path></svg>",
    ext = "html"
)]
pub struct QrCode {
    /// Width and height in modules, with the quiet zone.
    size: usize,
    /// Data of the path of its dark modules.
    path: String,
    label: &'static str,
}

impl HtmlSafe for QrCode {}

impl QrCode {
    /// The code of this text, with a label for screen readers; none when the text is too long.
    pub fn new(text: &str, label: &'static str) -> Option<Self> {
        let code = qrcode::QrCode::with_error_correction_level(text, EcLevel::M).ok()?;
        let width = code.width();
        let mut path = String::new();
        for (index, color) in code.to_colors().into_iter().enumerate() {
            if color == Color::Dark {
                let (x, y) = (index % width + QUIET, index / width + QUIET);
                let _ = write!(path, "M{x} {y}h1v1h-1z");
            }
        }
        Some(Self { size: width + 2 * QUIET, path, label })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_code_has_its_three_finder_patterns_within_the_quiet_zone() {
        let code = QrCode::new("otpauth://totp/Lotwire:ann@example.com?secret=GEZDGNBV", "Code").unwrap();
        let far = code.size - QUIET - 7;
        for (x, y) in [(QUIET, QUIET), (far, QUIET), (QUIET, far)] {
            assert!(code.path.contains(&format!("M{x} {y}h1")), "{x} {y}");
        }
        assert!(!code.path.contains("M0 ") && QrCode::new(&"x".repeat(10_000), "Code").is_none());
    }
}
