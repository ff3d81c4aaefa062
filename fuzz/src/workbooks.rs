//! The target for spreadsheets.

use std::io::{Cursor, Write as _};

use platform_core::catalogue::workbook::{PART_BYTES, WorkbookSheet, is_workbook, read_workbook};
use platform_core::config::CatalogueLimits;
use zip::CompressionMethod;
use zip::write::SimpleFileOptions;

/// Names of the parts that an input has, each after a line `--`. A part that is missing is an ordinary one.
const PARTS: [(&str, &str); 6] = [
    ("xl/worksheets/sheet1.xml", "<worksheet><sheetData/></worksheet>"),
    ("xl/sharedStrings.xml", "<sst><si><t>Lot</t></si></sst>"),
    ("xl/styles.xml", "<styleSheet><cellXfs><xf numFmtId=\"0\"/><xf numFmtId=\"14\"/></cellXfs></styleSheet>"),
    ("xl/workbook.xml", "<workbook><sheets><sheet name=\"Lots\" r:id=\"r\"/></sheets></workbook>"),
    (
        "xl/_rels/workbook.xml.rels",
        "<Relationships><Relationship Id=\"r\" Type=\"x/worksheet\" Target=\"worksheets/sheet1.xml\"/></Relationships>",
    ),
    (
        "_rels/.rels",
        "<Relationships><Relationship Id=\"b\" Type=\"x/officeDocument\" Target=\"xl/workbook.xml\"/></Relationships>",
    ),
];

/// Reads a workbook: the input itself when it is a ZIP archive, or one of the parts that the input has. It is refused
/// with a reason, or becomes CSV within its limits.
pub fn workbook(data: &[u8]) {
    let file = if is_workbook(data) { data.to_vec() } else { packed(data) };
    let limits = CatalogueLimits { file_bytes_max: 1 << 20, ..CatalogueLimits::default() };
    let WorkbookSheet { names, chosen, csv, rows } = match read_workbook(file.into(), None, &limits) {
        Ok(sheet) => sheet,
        Err(fault) => return assert!(!fault.is_empty()),
    };
    assert!(chosen < names.len());
    let (last, others) = csv.split_last().expect("a sheet with a row has a part");
    assert!(others.iter().all(|part| part.len() == PART_BYTES) && (1..=PART_BYTES).contains(&last.len()));
    let csv = csv.concat();
    assert!(csv.len() as u64 <= limits.file_bytes_max && csv.ends_with(b"\n"));
    assert!(std::str::from_utf8(&csv).is_ok());
    let lines = csv.iter().filter(|byte| **byte == b'\n').count() as u64;
    let numbers: Vec<u64> = (1..=lines).map(|line| rows.row_of(line)).collect();
    assert!(numbers.first().is_some_and(|first| *first > 0) && numbers.is_sorted());
}

/// The parts of an input in an archive without compression.
fn packed(data: &[u8]) -> Vec<u8> {
    let mut rest = Some(data);
    let mut archive = zip::ZipWriter::new(Cursor::new(Vec::new()));
    let stored = SimpleFileOptions::default().compression_method(CompressionMethod::Stored);
    for (name, ordinary) in PARTS {
        let part = rest.map(|rest| match rest.windows(4).position(|four| four == b"\n--\n") {
            Some(end) => (&rest[..end], Some(&rest[end + 4..])),
            None => (rest, None),
        });
        rest = part.and_then(|(_, rest)| rest);
        let content = part.map_or(ordinary.as_bytes(), |(content, _)| content);
        archive.start_file(name, stored).expect("a name without a fault");
        archive.write_all(content).expect("memory takes it");
    }
    archive.finish().expect("memory takes it").into_inner()
}
