//! A house's own catalogue: uploaded, mapped, checked, imported, and imported again.

use contract::AuctionStatus;
use platform_core::Role;
use platform_core::port::Page;

use crate::sale_fixture::{Sale, staff};

const CATALOGUE: &[u8] = b"Lot No;Lead;Low Est;High Est;Start Bid;Shelf\r\n\
    1;Caf\xe9 clock;\xa325.00;40,00;10;A3\r\n\
    2;<i>Pot</i>;1.200,00;1.500,00;;B1\r\n";

#[tokio::test]
async fn a_catalogue_is_uploaded_checked_and_imported_and_updates_the_second_time() {
    let mut sale = Sale::new(AuctionStatus::Draft, &[]).await;
    sale.operator.get(&sale.path("/lots/import")).await.is(200).shows("with any column names");
    let uploaded = sale.operator.upload(&sale.path("/lots/import"), "house.csv", CATALOGUE).await;
    let check = uploaded.is(303).location.clone().unwrap();
    let page = sale.operator.get(&check).await;
    page.is(200).shows("house.csv").shows("Café clock · &#60;i&#62;Pot").hides("<i>Pot").shows("Import 2 lots");
    page.shows("<option value=\"low_estimate\" selected>Low estimate</option>");
    let items = sale.fixture.platform.items(&staff(), sale.auction, Page { after: None, limit: 9 }).await.unwrap();
    assert!(items.is_empty(), "a check changes nothing");

    let mapping =
        [("mapped", "yes"), ("c0", "lot_number"), ("c1", "title"), ("c2", "low_estimate"), ("c3", "high_estimate")];
    let lots = sale.operator.submit(&check, &mapping).await;
    lots.shows("The catalogue was imported. 2 rows read: 2 new, 0 changed, 0 unchanged, none refused.");
    lots.shows("Café clock").shows("£25").shows("£1,200");
    let items = sale.fixture.platform.items(&staff(), sale.auction, Page { after: None, limit: 9 }).await.unwrap();
    assert_eq!((items[0].low_estimate, items[0].opening_bid, items[1].high_estimate), (Some(2_500), 0, Some(150_000)));
    // The same file with the remembered mapping changes nothing; a column more changes the lot that has a value in it.
    sale.operator.get(&check).await.is(200).shows("<dt>Unchanged</dt><dd>2</dd>").hides("Import 1 lot");
    let page = sale.operator.get(&format!("{check}?mapped=yes&c0=lot_number&c4=opening_bid")).await;
    page.shows("Import 1 lot").shows("Opening bid").shows("<dt>Changed</dt><dd><a href=\"#row-changed\">1</a></dd>");
    page.shows("<tr id=\"row-changed\">").hides("id=\"row-new\"");
    let house = check.clone();
    // An error stands beside its line and column, and nothing can be imported.
    let wrong = b"Lot,Title,Low Est\n1,Clock,cheap\n,No number,5\n";
    let uploaded = sale.operator.upload(&sale.path("/lots/import"), "wrong.csv", wrong).await;
    let check = uploaded.is(303).location.clone().unwrap();
    let page = sale.operator.get(&check).await;
    page.is(200).shows("<b>Low Est</b>").shows("cheap").hides("Import 1 lot").shows("Nothing is imported while");
    // Without its column the same file is fine in that line.
    let page = sale.operator.get(&format!("{check}?mapped=yes&c0=lot_number&c1=title&c2=")).await;
    page.is(200).hides("<b>Low Est</b>");
    // The notice after an import leads to the lots that changed.
    let mapping = [("mapped", "yes"), ("c0", "lot_number"), ("c4", "opening_bid")];
    let lots = sale.operator.submit(&house, &mapping).await;
    lots.shows("2 rows read: 0 new, 1 changed, 1 unchanged, none refused.");
    lots.shows(&format!("/lots/{}\">Lot 1</a>", items[0].uuid)).hides("Show 1 new lot");
    // The notice leads to the lots that are new, which are at the end.
    let more = sale.operator.upload(&sale.path("/lots/import"), "more.csv", b"Lot,Title\n3,Spoon\n").await;
    let more = more.is(303).location.clone().unwrap();
    let lots = sale.operator.submit(&more, &[("mapped", "yes"), ("c0", "lot_number"), ("c1", "title")]).await;
    lots.shows("1 row read: 1 new").shows("/lots?after=1\">Show 1 new lot</a>");
}

#[tokio::test]
async fn a_file_that_is_no_catalogue_is_refused_and_another_user_does_not_see_an_upload() {
    let mut sale = Sale::new(AuctionStatus::Draft, &[]).await;
    let path = sale.path("/lots/import");
    sale.operator.upload(&path, "empty.csv", b"").await.is(422).shows("Choose a file that is not empty.");
    let broken = sale.operator.upload(&path, "lots.xlsx", b"PK\x03\x04...").await;
    broken.is(422).shows("not a spreadsheet of the type .xlsx").shows("Save it as .xlsx or CSV");
    sale.operator.upload(&path, "lots.xls", b"\xd0\xcf\x11\xe0...").await.is(422).shows("of an old type");
    let uploaded = sale.operator.upload(&path, "house.csv", CATALOGUE).await;
    let check = uploaded.location.clone().unwrap();
    let mut other = sale.fixture.signed_in(Role::Administrator).await;
    other.get(&check).await.is(410).shows("Upload the file again.");
    let mut viewer = sale.fixture.signed_in(Role::Viewer).await;
    viewer.get(&path).await.is(403);
    viewer.upload(&path, "house.csv", CATALOGUE).await.is(403);
    sale.operator.origin = Some("http://evil.test".to_owned());
    sale.operator.upload(&path, "house.csv", CATALOGUE).await.is(403);
}

/// A workbook of these sheets: name, and the rows of its XML.
fn workbook(sheets: &[(&str, &str)]) -> Vec<u8> {
    workbook_with(STRINGS, sheets)
}

/// The same with these shared texts.
fn workbook_with(strings: &str, sheets: &[(&str, &str)]) -> Vec<u8> {
    let mut parts =
        vec![("xl/styles.xml".to_owned(), STYLES.to_owned()), ("xl/sharedStrings.xml".to_owned(), strings.to_owned())];
    let (mut list, mut links, mut types) = (String::new(), String::new(), String::new());
    for (place, (name, rows)) in sheets.iter().enumerate() {
        let number = place + 1;
        list.push_str(&format!("<sheet name=\"{name}\" sheetId=\"{number}\" r:id=\"rId{number}\"/>"));
        links.push_str(&format!(
            "<Relationship Id=\"rId{number}\" Type=\"{OFFICE}/worksheet\" Target=\"worksheets/sheet{number}.xml\"/>"
        ));
        types.push_str(&format!(
            "<Override PartName=\"/xl/worksheets/sheet{number}.xml\" ContentType=\"{TYPE}.worksheet+xml\"/>"
        ));
        let sheet = format!("<worksheet xmlns=\"{MAIN}\"><sheetData>{rows}</sheetData></worksheet>");
        parts.push((format!("xl/worksheets/sheet{number}.xml"), sheet));
    }
    links.push_str(&format!("<Relationship Id=\"s\" Type=\"{OFFICE}/styles\" Target=\"styles.xml\"/>"));
    links.push_str(&format!("<Relationship Id=\"t\" Type=\"{OFFICE}/sharedStrings\" Target=\"sharedStrings.xml\"/>"));
    let packages = "http://schemas.openxmlformats.org/package/2006";
    parts.push((
        "[Content_Types].xml".to_owned(),
        format!("<Types xmlns=\"{packages}/content-types\"><Default Extension=\"xml\" ContentType=\"application/xml\"/>{types}</Types>"),
    ));
    parts.push((
        "_rels/.rels".to_owned(),
        format!("<Relationships xmlns=\"{packages}/relationships\"><Relationship Id=\"r\" Type=\"{OFFICE}/officeDocument\" Target=\"xl/workbook.xml\"/></Relationships>"),
    ));
    parts.push((
        "xl/_rels/workbook.xml.rels".to_owned(),
        format!("<Relationships xmlns=\"{packages}/relationships\">{links}</Relationships>"),
    ));
    parts.push((
        "xl/workbook.xml".to_owned(),
        format!("<workbook xmlns=\"{MAIN}\" xmlns:r=\"{OFFICE}\"><sheets>{list}</sheets></workbook>"),
    ));
    packed(parts)
}

fn packed(parts: Vec<(String, String)>) -> Vec<u8> {
    use std::io::Write as _;
    let mut writer = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    for (name, text) in parts {
        writer.start_file(name, zip::write::SimpleFileOptions::default()).unwrap();
        writer.write_all(text.as_bytes()).unwrap();
    }
    writer.finish().unwrap().into_inner()
}

const MAIN: &str = "http://schemas.openxmlformats.org/spreadsheetml/2006/main";
const OFFICE: &str = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";
const TYPE: &str = "application/vnd.openxmlformats-officedocument.spreadsheetml";
/// Style 1 is a date.
const STYLES: &str = "<styleSheet xmlns=\"http://schemas.openxmlformats.org/spreadsheetml/2006/main\"><cellXfs count=\"2\"><xf numFmtId=\"0\"/><xf numFmtId=\"14\" applyNumberFormat=\"1\"/></cellXfs></styleSheet>";
const STRINGS: &str = "<sst xmlns=\"http://schemas.openxmlformats.org/spreadsheetml/2006/main\"><si><t>Lot No</t></si><si><t>Title</t></si><si><t>Low Est</t></si><si><t>Description</t></si><si><t>Jug, \"silver\"</t></si><si><t>0012</t></si></sst>";
/// A title row, an empty one, a header, and two lots; a text of two lines, a date and a number.
const LOTS: &str = "<row r=\"1\"><c r=\"A1\" t=\"inlineStr\"><is><t> </t></is></c></row>\
    <row r=\"3\"><c r=\"A3\" t=\"s\"><v>0</v></c><c r=\"B3\" t=\"s\"><v>1</v></c><c r=\"C3\" t=\"s\"><v>2</v></c><c r=\"D3\" t=\"s\"><v>3</v></c></row>\
    <row r=\"4\"><c r=\"A4\" t=\"s\"><v>5</v></c><c r=\"B4\" t=\"s\"><v>4</v></c><c r=\"C4\"><v>1250.5</v></c><c r=\"D4\" t=\"inlineStr\"><is><t>By a hand\nunknown</t></is></c></row>\
    <row r=\"6\"><c r=\"A6\"><v>13</v></c><c r=\"B6\" t=\"inlineStr\"><is><t>Clock</t></is></c><c r=\"C6\"><v>40</v></c><c r=\"D6\" s=\"1\"><v>46347</v></c></row>";

#[tokio::test]
async fn a_spreadsheet_is_imported_like_any_other_file_and_another_sheet_can_be_chosen() {
    let mut sale = Sale::new(AuctionStatus::Draft, &[]).await;
    let wrong = "<row r=\"2\"><c r=\"A2\" t=\"s\"><v>0</v></c><c r=\"B2\" t=\"s\"><v>1</v></c><c r=\"C2\" t=\"s\"><v>2</v></c></row>\
        <row r=\"7\"><c r=\"A7\"><v>1</v></c><c r=\"B7\" t=\"s\"><v>4</v></c><c r=\"C7\" t=\"inlineStr\"><is><t>cheap</t></is></c></row>";
    let book = workbook(&[("Empty", ""), ("Lots", LOTS), ("Old <lots>".replace(['<', '>'], "").as_str(), wrong)]);
    let uploaded = sale.operator.upload(&sale.path("/lots/import"), "house.xlsx", &book).await;
    let check = uploaded.is(303).location.clone().unwrap();
    let page = sale.operator.get(&check).await;
    page.is(200).shows("house.xlsx").shows("<option value=\"1\" selected>Lots</option>").shows("Import 2 lots");
    page.shows("<td data-of=\"Row\" class=\"number\">4</td>").shows("<td data-of=\"Row\" class=\"number\">6</td>");
    // The other sheet has an error, in the row that it has in the spreadsheet.
    let other = sale.operator.get(&format!("{check}?sheet=2")).await;
    let other = other.is(303).location.clone().unwrap();
    let page = sale.operator.get(&other).await;
    page.shows("<td data-of=\"Row\" class=\"number\">7</td>").shows("cheap").hides("Import 1 lot");
    sale.operator.get(&format!("{check}?sheet=7")).await.is(400).shows("no such sheet");

    let mapping =
        [("mapped", "yes"), ("c0", "lot_number"), ("c1", "title"), ("c2", "low_estimate"), ("c3", "description")];
    sale.operator.submit(&check, &mapping).await.shows("The catalogue was imported.");
    let items = sale.fixture.platform.items(&staff(), sale.auction, Page { after: None, limit: 9 }).await.unwrap();
    let lots: Vec<_> = items
        .iter()
        .map(|item| (item.lot_number.as_str(), item.title.as_str(), item.low_estimate, item.description.as_str()))
        .collect();
    assert_eq!(
        lots,
        [("0012", "Jug, \"silver\"", Some(125_050), "By a hand\nunknown"), ("13", "Clock", Some(4_000), "2026-11-21")]
    );
}

#[tokio::test]
async fn a_spreadsheet_that_unpacks_to_too_much_or_has_a_wrong_formula_is_refused() {
    let mut sale = Sale::new(AuctionStatus::Draft, &[]).await;
    let path = sale.path("/lots/import");
    // 200 MB of blanks in 200 kB.
    let bomb = packed(vec![("xl/workbook.xml".to_owned(), " ".repeat(200 << 20))]);
    assert!(bomb.len() < 1 << 20);
    sale.operator.upload(&path, "bomb.xlsx", &bomb).await.is(422).shows("unpacks to more than 192 MiB");
    // The same, in an archive that says it is small: the size stands in the list of parts at its end.
    let mut lying = bomb.clone();
    let size = u32::try_from(200_u64 << 20).unwrap().to_le_bytes();
    let places: Vec<usize> = (0..lying.len() - 4).filter(|at| lying[*at..at + 4] == size).collect();
    assert!(!places.is_empty());
    for at in places {
        lying[at..at + 4].copy_from_slice(&100_u32.to_le_bytes());
    }
    sale.operator.upload(&path, "lying.xlsx", &lying).await.is(422);
    let claiming = "<sst uniqueCount=\"10000000000000\"><si><t>Lot</t></si></sst>";
    let repeated = format!("<sst><si><t>{}</t></si></sst>", "x".repeat(30_000));
    let row = format!("<row r=\"1\">{}</row>", "<c t=\"s\"><v>0</v></c>".repeat(400));
    let claiming = workbook_with(claiming, &[("Lots", LOTS)]);
    sale.operator.upload(&path, "claiming.xlsx", &claiming).await.is(422).shows("the text of a cell is missing");
    let repeated = workbook_with(&repeated, &[("Lots", &row)]);
    sale.operator.upload(&path, "repeated.xlsx", &repeated).await.is(422).shows("more than 1 MiB of text in row 1");
    let far = workbook(&[("Lots", "<row r=\"1\"><c r=\"A1\"><v>1</v></c><c r=\"XFD1\"><v>1</v></c></row>")]);
    sale.operator.upload(&path, "far.xlsx", &far).await.is(422).shows("cell XFD1: a catalogue has at most 500 columns");
    let wrong = workbook(&[("Lots", "<row r=\"1\"><c r=\"B1\" t=\"e\"><v>#N/A</v></c></row>")]);
    sale.operator.upload(&path, "wrong.xlsx", &wrong).await.is(422).shows("cell B1: its formula has the result #N/A");
    let empty = workbook(&[("Lots", "")]);
    sale.operator.upload(&path, "empty.xlsx", &empty).await.is(422).shows("no visible sheet with a row");
}

#[tokio::test]
async fn an_upload_is_in_the_store_until_it_is_removed() {
    let mut sale = Sale::new(AuctionStatus::Draft, &[]).await;
    let uploaded = sale.operator.upload(&sale.path("/lots/import"), "house.csv", CATALOGUE).await;
    let check = uploaded.is(303).location.clone().unwrap();
    let id = check.rsplit('/').next().unwrap().parse().unwrap();
    // Nothing of it is in the memory of the node that received it.
    let stored = sale.fixture.store.upload(id).await.unwrap().unwrap();
    assert_eq!(
        (stored.is_complete, stored.bytes, stored.file_name.as_str()),
        (true, CATALOGUE.len() as u64, "house.csv")
    );
    sale.operator.get(&check).await.is(200).shows("Import 2 lots");
    sale.fixture.store.remove_upload(id).await.unwrap();
    sale.operator.get(&check).await.is(410).shows("kept for half an hour");
}

/// Cells that are not plainly one number in pounds.
const WRONG: &str = "Cat. No.,Lead,Body,Low Est\n1,Clock,Brass,£1.2k\n2,Jug,,12 or 15\n3,Pot,,1e3\n4,Fork,,50p\n5,Spoon,,POA 2016\n\
    6,Tray,,€50\n7,Cup,,$75\n8,Box,,£25.00\n";

#[tokio::test]
async fn a_cell_that_is_not_one_number_is_refused_and_mended_without_another_upload() {
    let mut sale = Sale::new(AuctionStatus::Draft, &[]).await;
    let uploaded = sale.operator.upload(&sale.path("/lots/import"), "house.csv", WRONG.as_bytes()).await;
    let check = uploaded.is(303).location.clone().unwrap();
    let page = sale.operator.get(&check).await;
    page.is(200)
        .shows("<dt>Errors</dt><dd><a href=\"#errors\">7</a></dd>")
        .shows("“12 or 15” is not one amount. Write one number in GBP");
    page.shows("“€50” is in another currency than the sale.").hides("Import 8 lots");
    page.shows("name=\"cell-2-3\" aria-label=\"Low Est, line 2\" value=\"£1.2k\"");
    // The value that was read stands beside the text of its cell.
    page.shows("value=\"£25.00\" autocomplete=\"off\"><b>£25.00</b>");
    let columns = [("c0", "lot_number"), ("c1", "title"), ("c2", "description"), ("c3", "low_estimate")];
    let mends = [
        ("cell-2-3", "1200"),
        ("cell-3-3", "12"),
        ("cell-4-3", "1,000"),
        ("cell-5-3", "0.50"),
        ("cell-6-3", ""),
        ("cell-7-3", "50"),
    ];
    let mut fields: Vec<_> = [("mapped", "yes"), ("action", "check")].into_iter().chain(columns).chain(mends).collect();
    let page = sale.operator.post(&check, &fields).await;
    page.shows("<dt>Errors</dt><dd><a href=\"#errors\">1</a></dd>")
        .shows("Mended cells")
        .shows("£1.2k")
        .shows("<b>£1,200.00</b>")
        .shows("line 8");
    fields.push(("cell-8-3", "75.00"));
    let page = sale.operator.post(&check, &fields).await;
    let checked = page.shows("Import 8 lots").between("name=\"checked\" value=\"", "\"");
    // A cell that was changed after the check is checked, not imported.
    fields.retain(|(name, _)| !["action", "cell-8-3"].contains(name));
    let mut later = fields.clone();
    later.extend([("cell-8-3", "76"), ("checked", checked.as_str()), ("action", "import")]);
    let page = sale.operator.post(&check, &later).await;
    let checked = page.shows("after the last check").shows("£76.00").between("name=\"checked\" value=\"", "\"");
    // A browser sends each field of the page.
    later.retain(|(name, _)| !["checked"].contains(name));
    later.extend([("cell-9-3", "£25.00"), ("checked", checked.as_str())]);
    sale.operator.submit(&check, &later).await.shows("The catalogue was imported.");
    let items = sale.fixture.platform.items(&staff(), sale.auction, Page { after: None, limit: 9 }).await.unwrap();
    let low: Vec<_> = items.iter().map(|item| item.low_estimate).collect();
    let wanted = [Some(120_000), Some(1_200), Some(100_000), Some(50), None, Some(5_000), Some(7_600), Some(2_500)];
    assert_eq!((low, items[0].description.as_str()), (wanted.to_vec(), "Brass"));
}

#[tokio::test]
async fn the_page_reads_an_export_as_it_is_written_and_refuses_one_in_another_currency() {
    let mut sale = Sale::new(AuctionStatus::Draft, &[]).await;
    let export = "lot_number,title,currency,low_estimate,opening_bid\r\n1,A chair,GBP,1200.00,10.5\r\n";
    let uploaded = sale.operator.upload(&sale.path("/lots/import"), "catalogue.csv", export.as_bytes()).await;
    let check = uploaded.is(303).location.clone().unwrap();
    sale.operator.get(&check).await.is(200).shows("Import 1 lot").shows("<b>£1,200.00</b>").shows("<b>£10.50</b>");
    let other = export.replace("GBP", "CHF").replace("1200.00", "1,200");
    let uploaded = sale.operator.upload(&sale.path("/lots/import"), "catalogue.csv", other.as_bytes()).await;
    let check = uploaded.is(303).location.clone().unwrap();
    let page = sale.operator.get(&check).await;
    page.is(200).shows("Line 2 of the file is in CHF, and the auction in GBP").hides("Import 1 lot");
    // An amount with two readings waits for the decimal mark.
    let german = "Los,Titel,Schätzpreis von\n1,Uhr,1.200\n";
    let uploaded = sale.operator.upload(&sale.path("/lots/import"), "haus.csv", german.as_bytes()).await;
    let check = uploaded.is(303).location.clone().unwrap();
    sale.operator.get(&check).await.shows("can be read in two ways").shows("Or choose the decimal mark of the file.");
    let fields = "mapped=yes&c0=lot_number&c1=title&c2=low_estimate&decimalMark=comma";
    sale.operator.get(&format!("{check}?{fields}")).await.shows("Import 1 lot").shows("<b>£1,200.00</b>");
}

#[tokio::test]
async fn a_mended_cell_keeps_its_reading_while_another_cell_of_its_row_is_faulty() {
    let mut sale = Sale::new(AuctionStatus::Draft, &[]).await;
    let file = "Lot,Title,Low Est,High Est\n1,Clock,abc,POA\n";
    let uploaded = sale.operator.upload(&sale.path("/lots/import"), "house.csv", file.as_bytes()).await;
    let check = uploaded.is(303).location.clone().unwrap();
    let columns = [("c0", "lot_number"), ("c1", "title"), ("c2", "low_estimate"), ("c3", "high_estimate")];
    let mends = [("cell-2-1", "Mantel clock"), ("cell-2-2", "12"), ("cell-2-3", "POA")];
    let fields: Vec<_> = [("mapped", "yes"), ("action", "check")].into_iter().chain(columns).chain(mends).collect();
    let page = sale.operator.post(&check, &fields).await;
    page.shows("<dt>Errors</dt><dd><a href=\"#errors\">1</a></dd>").shows("<b>£12.00</b>").shows("<b>Mantel clock</b>");
}

#[tokio::test]
async fn an_amount_that_the_chosen_decimal_mark_makes_small_is_remarked() {
    let mut sale = Sale::new(AuctionStatus::Draft, &[]).await;
    let file = "Lot;Title;Low Est;High Est;Opening Bid\n1;Clock;1.500;2.000,00;1,200\n2;Jug;12,50;20;10\n";
    let uploaded = sale.operator.upload(&sale.path("/lots/import"), "haus.csv", file.as_bytes()).await;
    let check = uploaded.is(303).location.clone().unwrap();
    let columns = "c0=lot_number&c1=title&c2=low_estimate&c3=high_estimate&c4=opening_bid";
    let page = sale.operator.get(&format!("{check}?mapped=yes&{columns}&decimalMark=comma")).await;
    page.is(200)
        .shows("Amounts to look at")
        .shows("<td data-of=\"With a point\" class=\"free\">£1,200.00</td>")
        .shows("Import 2 lots");
    assert_eq!(page.text.matches("data-of=\"With a point\"").count(), 1);
    let page = sale.operator.get(&format!("{check}?mapped=yes&{columns}&decimalMark=comma&cell-2-4=1200")).await;
    page.hides("Amounts to look at").shows("<b>£1,200.00</b>");
}
