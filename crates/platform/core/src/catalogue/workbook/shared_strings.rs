//! The texts that the cells of a workbook share.

use super::archive::Archive;
use super::text::{LimitedText, push_unescaped};
use super::xml::{Next, XmlPart, attribute, is_named};
use super::{SHARED_STRING_BYTES_MAX, SHARED_STRINGS_MAX, damaged};

/// The texts in their order. A text of blanks only is kept as an empty one: an import reads it as such.
pub(super) struct SharedStrings(Vec<Box<str>>);

impl SharedStrings {
    /// The texts; none when the workbook has no such part. The count that the part claims is not read.
    pub(super) fn read(archive: &mut Archive, folder: &str) -> Result<Self, String> {
        let mut strings = Vec::new();
        let Some(mut part) = archive.part(&format!("{folder}sharedStrings.xml"))? else { return Ok(Self(strings)) };
        let (mut left_bytes, mut text) = (SHARED_STRING_BYTES_MAX, LimitedText::default());
        loop {
            match part.next()? {
                Next::Start(start) if is_named(&start, "si") => {}
                Next::End(0) => return Ok(Self(strings)),
                _ => continue,
            }
            read_string(&mut part, &mut text)?;
            let text = if text.as_str().trim().is_empty() { "" } else { text.as_str() };
            left_bytes = left_bytes.checked_sub(text.len()).ok_or_else(|| {
                format!("The spreadsheet has more than {} MiB of text. Split it.", SHARED_STRING_BYTES_MAX >> 20)
            })?;
            if strings.len() == SHARED_STRINGS_MAX {
                return Err(format!("The spreadsheet has more than {SHARED_STRINGS_MAX} texts. Split it."));
            }
            strings.push(text.into());
        }
    }

    pub(super) fn get(&self, place: usize) -> Result<&str, String> {
        self.0.get(place).map(AsRef::as_ref).ok_or_else(|| damaged("the text of a cell is missing"))
    }
}

/// Reads a plain or formatted text to the end of the innermost open element. The pronunciation of characters is left
/// out.
pub(super) fn read_string(part: &mut XmlPart<'_>, text: &mut LimitedText) -> Result<(), String> {
    text.clear();
    let (depth, mut raw) = (part.depth(), LimitedText::default());
    while part.depth() >= depth {
        let Next::Start(start) = part.next()? else { continue };
        if is_named(&start, "rPh") {
            part.skip_from(part.depth())?;
        } else if is_named(&start, "t") {
            let keeps_blanks = attribute(&start, "space")?.is_some_and(|space| space == "preserve");
            raw.clear();
            part.text(&mut raw)?;
            let raw = raw.as_str();
            // Other blanks, such as a no-break space, belong to the text.
            push_unescaped(text, if keeps_blanks { raw } else { raw.trim_matches([' ', '\t', '\r', '\n']) })?;
        }
    }
    Ok(())
}
