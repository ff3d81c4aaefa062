//! The parts of a workbook in its ZIP archive.

use std::collections::HashMap;
use std::io::{Cursor, Read};

use bytes::Bytes;
use zip::ZipArchive;

use super::xml::XmlPart;
use super::{PARTS_MAX, UNPACKED_BYTES_MAX};

/// The signature of an entry in the archive's list of parts.
const ENTRY_SIGNATURE: &[u8] = b"PK\x01\x02";

/// An archive whose parts are unpacked within one limit together.
pub(super) struct Archive {
    zip: ZipArchive<Cursor<Bytes>>,
    /// Places of the parts by their names in lower case: programs differ in how they write them.
    places: HashMap<String, usize>,
    /// Bytes that may still be unpacked.
    left_bytes: u64,
}

impl Archive {
    pub(super) fn open(bytes: Bytes) -> Result<Self, String> {
        let unreadable = |error: zip::result::ZipError| {
            format!("The file is not a spreadsheet of the type .xlsx: {error}. Save it as .xlsx or CSV.")
        };
        let too_many = || format!("The spreadsheet has more than {PARTS_MAX} parts. Save it as CSV.");
        // Opening the archive keeps a record of each listed part, so they are counted before.
        if has_more_than(&bytes, ENTRY_SIGNATURE, PARTS_MAX) {
            return Err(too_many());
        }
        let zip = ZipArchive::new(Cursor::new(bytes)).map_err(unreadable)?;
        if zip.len() > PARTS_MAX {
            return Err(too_many());
        }
        // What the archive says. What it unpacks to is counted in any case.
        if zip.decompressed_size().is_some_and(|size| size > u128::from(UNPACKED_BYTES_MAX)) {
            return Err(too_large());
        }
        let mut places = HashMap::new();
        for (place, name) in zip.file_names().enumerate() {
            places.insert(name.map_err(unreadable)?.replace('\\', "/").to_ascii_lowercase(), place);
        }
        Ok(Self { zip, places, left_bytes: UNPACKED_BYTES_MAX })
    }

    /// A part; none when the archive does not have it.
    pub(super) fn part(&mut self, path: &str) -> Result<Option<XmlPart<'_>>, String> {
        let Some(place) = self.places.get(&path.to_ascii_lowercase()) else { return Ok(None) };
        let part = self.zip.by_index(*place).map_err(super::damaged)?;
        let part: Box<dyn Read + '_> = Box::new(part);
        Ok(Some(XmlPart::new(part, &mut self.left_bytes)))
    }

    /// A part that every workbook has.
    pub(super) fn required_part(&mut self, path: &str) -> Result<XmlPart<'_>, String> {
        self.part(path)?.ok_or_else(|| super::damaged(format!("it has no part {path}")))
    }
}

/// The text of an error for an archive whose parts are too large.
pub(super) fn too_large() -> String {
    format!("The spreadsheet unpacks to more than {} MiB. Save it as CSV.", UNPACKED_BYTES_MAX >> 20)
}

fn has_more_than(bytes: &[u8], signature: &[u8], max: usize) -> bool {
    let first = signature.first().copied().unwrap_or_default();
    let (mut count, mut rest) = (0, bytes);
    while let Some(at) = rest.iter().position(|byte| *byte == first) {
        rest = rest.get(at..).unwrap_or_default();
        count += usize::from(rest.starts_with(signature));
        if count > max {
            return true;
        }
        rest = rest.get(1..).unwrap_or_default();
    }
    false
}
