//! Images in a ZIP archive, read one after the other.
//!
//! **Guarantee:** no number in the archive decides how much is allocated. The list of files is read within a limit, and each
//! file is unpacked up to the size of an image and counted, whatever the archive says about sizes.

use std::io::{self, Read, Seek, SeekFrom};

use bytes::Bytes;
use flate2::Crc;
use flate2::read::DeflateDecoder;

use super::IMAGE_BYTES_MAX;

/// Bytes of an archive, at most: 200 MiB.
pub const ARCHIVE_BYTES_MAX: u64 = 200 << 20;
/// Files of an archive, at most.
pub const ARCHIVE_FILES_MAX: usize = 2_000;
/// Bytes of all files of an archive, unpacked: 1 GiB.
const UNPACKED_BYTES_MAX: u64 = 1 << 30;
/// Bytes of the archive's list of files: 2 MiB.
const LIST_BYTES_MAX: usize = 2 << 20;
/// Bytes at the end of an archive: a comment of up to 65,535 bytes follows a record of 22.
const END_BYTES_MAX: u64 = 65_557;

const END: &[u8] = b"PK\x05\x06";
const LISTED: &[u8] = b"PK\x01\x02";
const LOCAL: &[u8] = b"PK\x03\x04";
/// Bytes of these records without their names, extra fields and comments.
const END_BYTES: usize = 22;
const LISTED_BYTES: usize = 46;
const LOCAL_BYTES: usize = 30;

const IS_ENCRYPTED: u16 = 1;
const STORED: u16 = 0;
const DEFLATED: u16 = 8;

/// A file of an archive.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ArchivedFile {
    /// Its name, with folders.
    pub name: String,
    /// Its content, or why it can't be read.
    pub content: Result<Bytes, String>,
    /// Where the archive has its content, if that was read.
    pub packed: Option<PackedContent>,
}

/// The place of a file's content in an archive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PackedContent {
    /// Offset of its first byte.
    pub offset: u64,
    /// Number of its bytes in the archive.
    pub bytes: u64,
    /// It is compressed with DEFLATE.
    pub is_deflated: bool,
}

struct Entry {
    name: String,
    flags: u16,
    method: u16,
    /// CRC-32 of the content.
    checksum: u32,
    packed_bytes: u64,
    offset: u64,
}

/// An archive whose files are read in the order of its list.
pub(super) struct ImageArchive<R> {
    source: R,
    /// Bytes before the archive, as programs put them that unpack it themselves.
    before_bytes: u64,
    entries: std::vec::IntoIter<Entry>,
    left_bytes: u64,
}

impl<R: Read + Seek> ImageArchive<R> {
    /// Reads the list of files. An error is for the person who chose the archive.
    pub(super) fn open(mut source: R, bytes: u64) -> Result<Self, String> {
        let start = bytes.saturating_sub(END_BYTES_MAX);
        let mut end = Vec::new();
        source.seek(SeekFrom::Start(start)).map_err(unreadable)?;
        source.by_ref().take(END_BYTES_MAX).read_to_end(&mut end).map_err(unreadable)?;
        let at = end.windows(END.len()).rposition(|window| window == END).ok_or_else(damaged)?;
        let record = end.get(at..at + END_BYTES).ok_or_else(damaged)?;
        let (count, list_bytes, list_at) = (u16_at(record, 10), u32_at(record, 12), u32_at(record, 16));
        if usize::from(count) > ARCHIVE_FILES_MAX || list_bytes as usize > LIST_BYTES_MAX {
            return Err(format!("The archive has more than {ARCHIVE_FILES_MAX} files. Split it."));
        }
        let list_end = start + at as u64;
        let before_bytes = list_end.checked_sub(u64::from(list_bytes) + u64::from(list_at)).ok_or_else(damaged)?;
        let mut list = Vec::new();
        source.seek(SeekFrom::Start(list_end - u64::from(list_bytes))).map_err(unreadable)?;
        source.by_ref().take(u64::from(list_bytes)).read_to_end(&mut list).map_err(unreadable)?;
        let entries = entries(&list, usize::from(count))?;
        Ok(Self { source, before_bytes, entries: entries.into_iter(), left_bytes: UNPACKED_BYTES_MAX })
    }

    /// The next file; none after the last one. Folders and what programs add for themselves are passed over.
    pub(super) fn next(&mut self) -> Option<ArchivedFile> {
        let entry = self.entries.find(|entry| !is_hidden(&entry.name))?;
        let (content, packed) = match self.read(&entry) {
            Ok((content, packed)) => (Ok(content), Some(packed)),
            Err(why) => (Err(why), None),
        };
        Some(ArchivedFile { name: entry.name, content, packed })
    }

    fn read(&mut self, entry: &Entry) -> Result<(Bytes, PackedContent), String> {
        if entry.flags & IS_ENCRYPTED != 0 {
            return Err("The file needs a password. Make the archive without one.".to_owned());
        }
        let mut header = [0; LOCAL_BYTES];
        self.source.seek(SeekFrom::Start(self.before_bytes + entry.offset)).map_err(unreadable)?;
        self.source.read_exact(&mut header).map_err(unreadable)?;
        if !header.starts_with(LOCAL) {
            return Err(damaged());
        }
        let skipped_bytes = i64::from(u16_at(&header, 26)) + i64::from(u16_at(&header, 28));
        let offset = self.source.seek(SeekFrom::Current(skipped_bytes)).map_err(unreadable)?;
        let packed = self.source.by_ref().take(entry.packed_bytes);
        let limit_bytes = (IMAGE_BYTES_MAX as u64 + 1).min(self.left_bytes + 1);
        let mut content = Vec::new();
        let read = match entry.method {
            STORED => packed.take(limit_bytes).read_to_end(&mut content),
            DEFLATED => DeflateDecoder::new(packed).take(limit_bytes).read_to_end(&mut content),
            _ => return Err("The file is packed in an unusual way. Make the archive with another program.".to_owned()),
        };
        let read_bytes = content.len() as u64;
        let has_room = read_bytes <= self.left_bytes;
        self.left_bytes = self.left_bytes.saturating_sub(read_bytes);
        read.map_err(unreadable)?;
        if !has_room {
            return Err(format!("The archive unpacks to more than {} MiB. Split it.", UNPACKED_BYTES_MAX >> 20));
        }
        if content.len() > IMAGE_BYTES_MAX {
            return Err(format!("The image has more than {} MiB: make it smaller.", IMAGE_BYTES_MAX >> 20));
        }
        let mut checksum = Crc::new();
        checksum.update(&content);
        if checksum.sum() != entry.checksum {
            return Err(damaged());
        }
        Ok((content.into(), PackedContent { offset, bytes: entry.packed_bytes, is_deflated: entry.method == DEFLATED }))
    }
}

/// The files of the archive's list.
fn entries(mut list: &[u8], count: usize) -> Result<Vec<Entry>, String> {
    let mut entries = Vec::new();
    while entries.len() < count {
        let record = list.get(..LISTED_BYTES).filter(|record| record.starts_with(LISTED)).ok_or_else(damaged)?;
        let [name, extra, comment] = [28, 30, 32].map(|at| usize::from(u16_at(record, at)));
        let name_bytes = list.get(LISTED_BYTES..LISTED_BYTES + name).ok_or_else(damaged)?;
        entries.push(Entry {
            name: String::from_utf8_lossy(name_bytes).into_owned(),
            flags: u16_at(record, 8),
            method: u16_at(record, 10),
            checksum: u32_at(record, 16),
            packed_bytes: u64::from(u32_at(record, 20)),
            offset: u64::from(u32_at(record, 42)),
        });
        list = list.get(LISTED_BYTES + name + extra + comment..).ok_or_else(damaged)?;
    }
    Ok(entries)
}

/// True for a folder, and for files that programs add for themselves.
fn is_hidden(name: &str) -> bool {
    let file = name.rsplit(['/', '\\']).next().unwrap_or_default();
    file.is_empty() || file.starts_with('.') || name.starts_with("__MACOSX/") || file.eq_ignore_ascii_case("thumbs.db")
}

fn u16_at(record: &[u8], at: usize) -> u16 {
    let bytes = record.get(at..at + 2).and_then(|bytes| bytes.try_into().ok());
    bytes.map_or(0, u16::from_le_bytes)
}

fn u32_at(record: &[u8], at: usize) -> u32 {
    let bytes = record.get(at..at + 4).and_then(|bytes| bytes.try_into().ok());
    bytes.map_or(0, u32::from_le_bytes)
}

fn unreadable(error: io::Error) -> String {
    match error.kind() {
        io::ErrorKind::NotFound => "The archive took too long to be read, and is deleted. Split it.".to_owned(),
        io::ErrorKind::InvalidInput | io::ErrorKind::InvalidData | io::ErrorKind::UnexpectedEof => damaged(),
        _ => format!("The archive can't be read: {error}. Upload it again."),
    }
}

fn damaged() -> String {
    "The file is not a ZIP archive, or it is damaged. Make it again, then upload it.".to_owned()
}

#[cfg(test)]
mod tests {
    use std::io::{Cursor, Write as _};

    use zip::CompressionMethod;
    use zip::write::SimpleFileOptions;

    use super::*;

    fn packed(files: &[(&str, &[u8])], method: CompressionMethod) -> Vec<u8> {
        let mut writer = zip::ZipWriter::new(Cursor::new(Vec::new()));
        for (name, content) in files {
            writer.start_file(*name, SimpleFileOptions::default().compression_method(method)).unwrap();
            writer.write_all(content).unwrap();
        }
        writer.finish().unwrap().into_inner()
    }

    fn read(archive: &[u8]) -> Result<Vec<ArchivedFile>, String> {
        let mut archive = ImageArchive::open(Cursor::new(archive), archive.len() as u64)?;
        Ok(std::iter::from_fn(|| archive.next()).collect())
    }

    #[test]
    fn files_are_read_in_their_order_without_those_of_programs() {
        let files: [(&str, &[u8]); 5] = [
            ("photos/12.jpg", b"one"),
            ("__MACOSX/photos/._12.jpg", b"x"),
            ("photos/.DS_Store", b"x"),
            ("Thumbs.db", b"x"),
            ("12-2.jpg", &[7; 70_000]),
        ];
        for method in [CompressionMethod::Stored, CompressionMethod::Deflated] {
            let mut archive = packed(&files, method);
            for _ in 0..2 {
                let read = read(&archive).unwrap();
                let names: Vec<_> =
                    read.iter().map(|file| (file.name.as_str(), file.content.clone().unwrap().len())).collect();
                assert_eq!(names, [("photos/12.jpg", 3), ("12-2.jpg", 70_000)]);
                let packed = read[0].packed.unwrap();
                assert_eq!(packed.is_deflated, method == CompressionMethod::Deflated);
                if !packed.is_deflated {
                    let at = usize::try_from(packed.offset).unwrap();
                    assert_eq!(&archive[at..at + 3], b"one");
                }
                // A program that unpacks itself may stand before the archive.
                archive.splice(0..0, b"MZ program".iter().copied());
            }
        }
    }

    #[test]
    fn what_an_archive_claims_allocates_nothing() {
        let bomb = packed(&[("1.jpg", &vec![0; IMAGE_BYTES_MAX + 9])], CompressionMethod::Deflated);
        assert!(bomb.len() < 100_000);
        assert!(read(&bomb).unwrap()[0].content.clone().unwrap_err().contains("more than 25 MiB"));
        let mut claiming = packed(&[("1.jpg", b"small")], CompressionMethod::Stored);
        let end = claiming.len() - END_BYTES;
        claiming[end + 10..end + 12].copy_from_slice(&2_000_u16.to_le_bytes());
        assert!(read(&claiming).unwrap_err().contains("damaged"), "more files than the list has");
        claiming[end + 10..end + 12].copy_from_slice(&u16::MAX.to_le_bytes());
        assert!(read(&claiming).unwrap_err().contains("more than 2000 files"));
        claiming[end + 10..end + 12].copy_from_slice(&1_u16.to_le_bytes());
        claiming[end + 12..end + 16].copy_from_slice(&u32::MAX.to_le_bytes());
        assert!(read(&claiming).is_err(), "a list of 4 GiB");
        let mut altered = packed(&[("1.jpg", b"small")], CompressionMethod::Stored);
        let at = altered.windows(5).position(|window| window == b"small").unwrap();
        altered[at] = b'S';
        assert!(read(&altered).unwrap()[0].content.clone().unwrap_err().contains("damaged"), "another checksum");
        for wrong in [&b""[..], b"PK\x05\x06", b"not an archive at all, only text"] {
            assert!(read(wrong).is_err());
        }
        // All files together have a limit.
        let files = [("1.jpg", &b"seven b"[..]), ("2.jpg", b"seven b"), ("3.jpg", b"seven b")];
        let packed = packed(&files, CompressionMethod::Deflated);
        let mut archive = ImageArchive::open(Cursor::new(&packed), packed.len() as u64).unwrap();
        archive.left_bytes = 10;
        let read: Vec<bool> = std::iter::from_fn(|| archive.next()).map(|file| file.content.is_ok()).collect();
        assert_eq!(read, [true, false, false]);
    }
}
