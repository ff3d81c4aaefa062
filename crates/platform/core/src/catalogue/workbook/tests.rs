//! Honest workbooks become CSV; hostile ones are refused before they take memory.

use std::io::{Cursor, Write as _};

use zip::write::SimpleFileOptions;

use super::*;

const MAIN: &str = "http://schemas.openxmlformats.org/spreadsheetml/2006/main";

/// The rows of one sheet, with these shared texts and styles.
fn book(rows: &str, strings: &str, styles: &str) -> Bytes {
    let sheet = format!("<worksheet xmlns=\"{MAIN}\"><dimension ref=\"A1\"/><sheetData>{rows}</sheetData></worksheet>");
    packed(&[
        (
            "_rels/.rels",
            "<Relationships><Relationship Id=\"a\" Type=\"x/officeDocument\" Target=\"/xl/workbook.xml\"/></Relationships>",
        ),
        (
            "xl/_rels/workbook.xml.rels",
            "<Relationships><Relationship Id=\"r1\" Type=\"x/worksheet\" Target=\"worksheets/sheet1.xml\"/></Relationships>",
        ),
        ("xl/workbook.xml", "<workbook><sheets><sheet name=\"Lots\" sheetId=\"1\" r:id=\"r1\"/></sheets></workbook>"),
        ("xl/SharedStrings.xml", &format!("<sst>{strings}</sst>")),
        ("xl/styles.xml", &format!("<styleSheet>{styles}</styleSheet>")),
        ("xl/worksheets/sheet1.xml", &sheet),
    ])
}

fn packed(parts: &[(&str, &str)]) -> Bytes {
    let mut writer = zip::ZipWriter::new(Cursor::new(Vec::new()));
    for (name, text) in parts {
        writer.start_file(*name, SimpleFileOptions::default()).unwrap();
        writer.write_all(text.as_bytes()).unwrap();
    }
    writer.finish().unwrap().into_inner().into()
}

fn read(book: Bytes) -> Result<String, String> {
    let sheet = read_workbook(book, None, &CatalogueLimits::default())?;
    Ok(String::from_utf8(sheet.csv.concat()).unwrap())
}

fn refused(rows: &str, strings: &str) -> String {
    read(book(rows, strings, "")).unwrap_err()
}

#[test]
fn each_kind_of_cell_becomes_its_text() {
    let styles = "<numFmts><numFmt numFmtId=\"164\" formatCode=\"[h]:mm\"/><numFmt numFmtId=\"165\" formatCode=\"&quot;Lot&quot; 0\"/></numFmts>\
        <cellStyleXfs><xf numFmtId=\"14\"/></cellStyleXfs>\
        <cellXfs><xf numFmtId=\"0\"/><xf numFmtId=\"14\"/><xf numFmtId=\"164\"/><xf numFmtId=\"165\"/><xf numFmtId=\"22\"/></cellXfs>";
    let strings = "<si><t>Plain &amp; &#233;</t></si>\
        <si><r><t>Rich</t></r><r><t xml:space=\"preserve\"> text</t></r></si>\
        <si><t>東京</t><rPh sb=\"0\" eb=\"2\"><t>トウキョウ</t></rPh></si>\
        <si/><si><t> a_x000D__x000A_b </t></si>";
    for (cell, expected) in [
        ("t=\"s\"><v>0</v>", "Plain & é"),
        ("t=\"s\"><v>1</v>", "Rich text"),
        ("t=\"s\"><v>2</v>", "東京"),
        ("t=\"s\"><v>4</v>", "\"a\nb\""),
        ("t=\"inlineStr\"><is><t>In &lt;line&gt;</t></is><v>7</v>", "In <line>"),
        ("t=\"inlineStr\"><is><t><![CDATA[<C>]]></t></is>", "<C>"),
        ("t=\"str\"><f>A1&amp;B1</f><v>Sum_x0041_</v>", "SumA"),
        ("t=\"b\"><v>1</v>", "TRUE"),
        ("t=\"b\"><v>false</v>", "FALSE"),
        ("t=\"d\"><v>2026-11-21T10:00:00</v>", "2026-11-21T10:00:00"),
        ("><f>SUM(A1:A2)</f><v>0.30000000000000004</v>", "0.3"),
        ("t=\"n\"><v>1250.50</v>", "1250.5"),
        ("><v>12A</v>", "12A"),
        ("s=\"1\"><v>46347</v>", "2026-11-21"),
        ("s=\"2\"><v>1.0625</v>", "01:30"),
        ("s=\"3\"><v>12</v>", "12"),
        ("s=\"4\"><v>46347.75</v>", "2026-11-21 18:00"),
        ("s=\"9\"><v>46347</v>", "46347"),
    ] {
        let rows = format!("<row r=\"1\"><c r=\"A1\" {cell}</c></row>");
        assert_eq!(read(book(&rows, strings, styles)).as_deref(), Ok(format!("{expected}\n").as_str()), "{cell}");
    }
    for (cell, expected) in [
        ("t=\"e\"><v>#N/A</v>", "cell A1: its formula has the result #N/A."),
        ("t=\"e\"><v>#SPILL!</v>", "cell A1: its formula has the result #SPILL!."),
        ("t=\"s\"><v>99</v>", "the text of a cell is missing"),
        ("t=\"b\"><v>2</v>", "neither true nor false"),
        ("t=\"n\"><v>x</v>", "cell A1: its number can't be read"),
        ("t=\"inlineStr\"><is><t>&other;</t></is>", "unknown entity"),
    ] {
        let rows = format!("<row r=\"1\"><c r=\"A1\" {cell}</c></row>");
        let refused = read(book(&rows, strings, styles)).unwrap_err();
        assert!(refused.contains(expected), "{cell}: {refused}");
    }
}

#[test]
fn cells_without_addresses_follow_each_other_and_prefixes_do_not_matter() {
    let rows = "<row/><row><c><v>1</v></c><c/><c><v>2</v></c></row><x:row r=\"5\"><x:c><x:v>3</x:v></x:c><c r=\"D5\"><v>4</v></c></x:row>\
        <row><c t=\"inlineStr\"><is><t> </t></is></c></row><row><c><v>5</v></c></row>";
    let sheet = read_workbook(book(rows, "", ""), None, &CatalogueLimits::default()).unwrap();
    assert_eq!(sheet.csv.concat(), b"1,,2\n3,,,4\n5\n");
    assert_eq!([1, 2, 3].map(|line| sheet.rows.row_of(line)), [2, 5, 7]);
    assert_eq!((sheet.names, sheet.chosen), (vec!["Lots".to_owned()], 0));
    assert!(read(book("", "", "")).unwrap_err().contains("no visible sheet with a row"));
}

#[test]
fn hidden_sheets_and_charts_are_left_out_and_dates_may_begin_in_1904() {
    let sheet = |number: u32| {
        format!("<worksheet><sheetData><row><c s=\"0\"><v>{number}</v></c></row></sheetData></worksheet>")
    };
    let parts = [
        (
            "_rels/.rels",
            "<Relationships><Relationship Id=\"a\" Type=\"x/officeDocument\" Target=\"book/Main.xml\"/></Relationships>",
        ),
        (
            "book/_rels/Main.xml.rels",
            "<Relationships><Relationship Id=\"r1\" Type=\"x/chartsheet\" Target=\"c.xml\"/>\
             <Relationship Id=\"r2\" Type=\"x/worksheet\" Target=\"hidden.xml\"/>\
             <Relationship Id=\"r3\" Type=\"x/worksheet\" Target=\"/book/Shown.xml\"/></Relationships>",
        ),
        (
            "book/main.xml",
            "<workbook><workbookPr date1904=\"1\"/><sheets><sheet name=\"Chart\" r:id=\"r1\"/>\
             <sheet name=\"Hidden\" state=\"hidden\" r:id=\"r2\"/><sheet name=\"A &amp; B\" state=\"visible\" r:id=\"r3\"/></sheets></workbook>",
        ),
        ("book/styles.xml", "<styleSheet><cellXfs><xf numFmtId=\"14\"/></cellXfs></styleSheet>"),
        ("book/hidden.xml", &sheet(1)),
        ("book/shown.xml", &sheet(44_885)),
    ];
    let book = read_workbook(packed(&parts), None, &CatalogueLimits::default()).unwrap();
    assert_eq!((book.names, book.csv.concat()), (vec!["A & B".to_owned()], b"2026-11-21\n".to_vec()));
    assert!(read_workbook(packed(&parts), Some(1), &CatalogueLimits::default()).unwrap_err().contains("no such sheet"));
}

#[test]
fn a_claimed_number_of_texts_allocates_nothing() {
    let book = packed(&[
        (
            "_rels/.rels",
            "<Relationships><Relationship Id=\"a\" Type=\"x/officeDocument\" Target=\"xl/workbook.xml\"/></Relationships>",
        ),
        ("xl/_rels/workbook.xml.rels", "<Relationships/>"),
        ("xl/workbook.xml", "<workbook/>"),
        (
            "xl/sharedStrings.xml",
            "<sst count=\"10000000000000\" uniqueCount=\"10000000000000\"><si><t>Lot</t></si></sst>",
        ),
    ]);
    assert!(read(book).unwrap_err().contains("no visible sheet"));
}

#[test]
fn what_a_row_a_cell_and_a_file_may_become_is_limited() {
    let long = format!("<si><t>{}</t></si>", "x".repeat(30_000));
    let row =
        |number: u32, cells: usize| format!("<row r=\"{number}\">{}</row>", "<c t=\"s\"><v>0</v></c>".repeat(cells));
    assert!(refused(&row(1, 400), &long).contains("Sheet “Lots” has more than 1 MiB of text in row 1."));
    let rows: String = (1..=100).map(|number| row(number, 30)).collect();
    assert!(refused(&rows, &long).contains("Sheet “Lots” is longer than 64 MiB as CSV."));
    // Texts that are overwritten or blank count too: each takes time.
    let overwritten = "<c r=\"A1\" t=\"s\"><v>0</v></c>".repeat(3_000);
    assert!(refused(&format!("<row>{overwritten}</row>"), &long).contains("longer than 64 MiB"));
    let too_long = format!("<si><t>{}</t></si>", "x".repeat(32_768));
    assert!(refused(&row(1, 1), &too_long).contains("more than 32767 characters"));
    let in_pieces = format!("<si>{}</si>", "<r><t>&lt;</t></r>".repeat(32_768));
    assert!(refused(&row(1, 1), &in_pieces).contains("more than 32767 characters"));
    let far = "<row><c r=\"A1\"><v>1</v></c><c r=\"XFD1\"><v>1</v></c></row>";
    assert!(refused(far, "").contains("cell XFD1: a catalogue has at most 500 columns"));
    assert!(
        refused("<row r=\"2\"><c><v>1</v></c></row><row r=\"1\"><c><v>1</v></c></row>", "").contains("not in order")
    );
    assert!(refused("<row r=\"4294967296\"><c><v>1</v></c></row>", "").contains("a row of it has no number"));
}

#[test]
fn what_the_parts_may_be_is_limited() {
    let deep = "<a>".repeat(100);
    assert!(refused(&deep, "").contains("more than 64 elements"));
    let long_tag = format!("<row {}=\"\"/>", "x".repeat(300 << 10));
    assert!(refused(&long_tag, "").contains("has more than 256 KiB"));
    let comment = format!("<!--{}--><row/>", "x".repeat(300 << 10));
    assert!(refused(&comment, "").contains("has more than 256 KiB"));
    assert!(refused("<row><c><v>1</v></c>", "<si><t>").contains("damaged"));
    // Many entries in the list of parts, also when the archive counts fewer.
    let mut entries = vec![0; 22];
    entries.splice(0..0, b"PK\x01\x02".repeat(PARTS_MAX + 1));
    assert!(read(entries.into()).unwrap_err().contains("more than 2000 parts"));
    // What the archive says about its parts, which need not be true, is looked at first.
    let mut claiming = packed(&[("_rels/.rels", "<Relationships/>")]).to_vec();
    let (size, claimed) =
        (u32::try_from("<Relationships/>".len()).unwrap().to_le_bytes(), (200_u32 << 20).to_le_bytes());
    for at in (0..claiming.len() - 4).filter(|at| claiming[*at..at + 4] == size).collect::<Vec<_>>() {
        claiming[at..at + 4].copy_from_slice(&claimed);
    }
    assert!(read(claiming.into()).unwrap_err().contains("unpacks to more than 192 MiB"));
    let large = vec![0; WORKBOOK_BYTES_MAX + 1];
    assert!(read(large.into()).unwrap_err().contains("longer than 25 MiB"));
}
