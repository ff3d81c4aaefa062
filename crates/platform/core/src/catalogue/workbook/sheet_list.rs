//! The visible sheets of a workbook, and where their parts are.

use std::collections::HashMap;

use super::archive::Archive;
use super::xml::{Next, attribute, is_named};
use super::{PARTS_MAX, SHEETS_MAX, damaged};

/// Characters of a sheet's name that are shown. Spreadsheets allow 31.
const NAME_CHARS_MAX: usize = 100;

/// What a workbook lists.
pub(super) struct Contents {
    /// Its visible worksheets, in their order.
    pub(super) sheets: Vec<SheetEntry>,
    /// Days are counted from 1904 instead of 1900.
    pub(super) has_1904_dates: bool,
    /// Folder of its parts, such as `xl/`.
    pub(super) folder: String,
}

/// A visible sheet.
pub(super) struct SheetEntry {
    pub(super) name: String,
    pub(super) path: String,
}

/// A relationship to another part.
struct Relationship {
    /// The last part of its type, such as `worksheet`.
    kind: String,
    target: String,
}

pub(super) fn read(archive: &mut Archive) -> Result<Contents, String> {
    let package = relationships(archive, "_rels/.rels")?;
    let workbook = package.into_values().find(|link| link.kind == "officeDocument");
    let workbook = workbook.ok_or_else(|| damaged("it names no workbook"))?.target;
    let workbook = workbook.trim_start_matches('/');
    let (folder, name) = workbook.rsplit_once('/').map_or(("", workbook), |(folder, name)| (folder, name));
    let folder = if folder.is_empty() { String::new() } else { format!("{folder}/") };
    let links = relationships(archive, &format!("{folder}_rels/{name}.rels"))?;
    let mut part = archive.required_part(&format!("{folder}{name}"))?;
    let (mut sheets, mut has_1904_dates) = (Vec::new(), false);
    loop {
        match part.next()? {
            Next::Start(start) if is_named(&start, "sheet") => {
                let is_visible = attribute(&start, "state")?.is_none_or(|state| state == "visible");
                let link = attribute(&start, "id")?.and_then(|id| links.get(&id));
                let link = link.ok_or_else(|| damaged("the part of a sheet is missing"))?;
                if is_visible && link.kind == "worksheet" && sheets.len() < SHEETS_MAX {
                    let name = attribute(&start, "name")?.unwrap_or_default();
                    let path = match link.target.strip_prefix('/') {
                        Some(absolute) => absolute.to_owned(),
                        None => format!("{folder}{}", link.target),
                    };
                    sheets.push(SheetEntry { name: name.chars().take(NAME_CHARS_MAX).collect(), path });
                }
            }
            Next::Start(start) if is_named(&start, "workbookPr") => {
                // An extension has an element of the same name without this attribute.
                if let Some(value) = attribute(&start, "date1904")? {
                    has_1904_dates = value == "1" || value == "true";
                }
            }
            Next::End(0) => return Ok(Contents { sheets, has_1904_dates, folder }),
            _ => {}
        }
    }
}

/// The relationships of a part by their ids.
fn relationships(archive: &mut Archive, path: &str) -> Result<HashMap<String, Relationship>, String> {
    let mut part = archive.required_part(path)?;
    let mut links = HashMap::new();
    loop {
        match part.next()? {
            Next::Start(start) if is_named(&start, "Relationship") => {
                let kind = attribute(&start, "Type")?.unwrap_or_default();
                let kind = kind.rsplit('/').next().unwrap_or_default().to_owned();
                let target = attribute(&start, "Target")?.unwrap_or_default();
                links.insert(attribute(&start, "Id")?.unwrap_or_default(), Relationship { kind, target });
                if links.len() > PARTS_MAX {
                    return Err(damaged(format!("it names more than {PARTS_MAX} parts")));
                }
            }
            Next::End(0) => return Ok(links),
            _ => {}
        }
    }
}
