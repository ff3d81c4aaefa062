//! The form of the page that checks a catalogue: the field of each column, the decimal mark, and the cells that are mended.

use std::collections::{BTreeMap, HashSet};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use kit_design::fields::FormFields;
use kit_design::form_field::{Choice, FormField};
use platform_core::amounts::DecimalMark;
use platform_core::catalogue::{CatalogueUpload, CellAt, CellValue, MendedCells, MergeReport, NewConsignors, ReadCell};

use uuid::Uuid;

use crate::sale::Sale;
use crate::sale::labels;
use platform_words::Currency;

/// Names of fields of cells begin with it.
const CELL: &str = "cell-";
/// The field that says what becomes of unknown consignors.
pub(super) const NEW_CONSIGNORS: &str = "newConsignors";
/// Unknown consignors that the page names.
const NAMED_MAX: usize = 10;

/// What a person chose and mended.
pub(super) struct Choices {
    /// The field of each column; empty for a column that is not imported.
    pub(super) fields: Vec<String>,
    /// `point`, `comma`, or empty.
    pub(super) decimal_mark: String,
    pub(super) mended: MendedCells,
    /// What becomes of consignors that the register does not have: `name`, `reference`, or empty for errors.
    pub(super) new_consignors: String,
    /// Text of each cell that the form has, by the name of its field.
    cells: BTreeMap<String, String>,
}

impl Choices {
    /// With these fields, and nothing else.
    pub(super) fn of_fields(fields: Vec<String>) -> Self {
        let (decimal_mark, new_consignors) = (String::new(), String::new());
        Self { fields, decimal_mark, mended: MendedCells::default(), new_consignors, cells: BTreeMap::new() }
    }

    /// What a form says about a file with this number of columns.
    pub(super) fn read(form: &FormFields, columns: usize) -> Self {
        let mut mended = MendedCells::default();
        let mut cells = BTreeMap::new();
        for (name, text) in form.starting_with(CELL) {
            let text = text.replace("\r\n", "\n").trim().to_owned();
            if let Some(at) = cell_at(name) {
                mended.insert(at, text.clone());
                cells.insert(name.to_owned(), text);
            }
        }
        let fields = (0..columns).map(|place| form.text(&format!("c{place}")).to_owned()).collect();
        let [decimal_mark, new_consignors] = ["decimalMark", NEW_CONSIGNORS].map(|name| form.text(name).to_owned());
        Self { fields, decimal_mark, mended, new_consignors, cells }
    }

    pub(super) fn mark(&self) -> Option<DecimalMark> {
        DecimalMark::parse(&self.decimal_mark)
    }

    pub(super) fn consignors(&self) -> NewConsignors {
        match self.new_consignors.as_str() {
            "name" => NewConsignors::ByName,
            "reference" => NewConsignors::ByReference,
            _ => NewConsignors::Refused,
        }
    }

    /// Identifies the choices, to recognise those that were checked.
    pub(super) fn digest(&self) -> String {
        let of_file = [self.decimal_mark.as_str(), &self.new_consignors];
        digest(&self.fields, of_file, self.cells.iter().map(|(name, text)| (name.as_str(), text.as_str())))
    }
}

fn digest<'a>(fields: &[String], of_file: [&str; 2], cells: impl Iterator<Item = (&'a str, &'a str)>) -> String {
    let mut hash = DefaultHasher::new();
    (fields, of_file).hash(&mut hash);
    cells.for_each(|cell| cell.hash(&mut hash));
    format!("{:016x}", hash.finish())
}

fn name_of(at: CellAt) -> String {
    format!("{}-{}", at.line, at.column)
}

fn cell_at(name: &str) -> Option<CellAt> {
    let (line, column) = name.split_once('-')?;
    Some(CellAt { line: line.parse().ok()?, column: column.parse().ok()? })
}

/// A field with the text of a cell.
pub(super) struct CellField {
    pub(super) name: String,
    pub(super) label: String,
    pub(super) text: String,
    /// The text has several lines, or is longer than a line.
    pub(super) is_long: bool,
}

/// A mistake, with a field for its cell if a person can mend it here.
pub(super) struct CellError {
    pub(super) line: u64,
    pub(super) column: String,
    pub(super) message: String,
    pub(super) field: Option<CellField>,
}

/// A cell that was mended.
pub(super) struct MendedRow {
    pub(super) line: u64,
    pub(super) column: String,
    pub(super) before: String,
    pub(super) value: String,
    /// None when the cell is among the errors, which have its field.
    pub(super) field: Option<CellField>,
}

/// An amount that is likelier with the other decimal mark.
pub(super) struct DoubtfulRow {
    pub(super) line: u64,
    pub(super) column: String,
    pub(super) text: String,
    pub(super) value: String,
    /// Its reading with the other mark.
    pub(super) other: String,
    /// None when the cell is among those above, which have its field.
    pub(super) field: Option<CellField>,
}

/// A cell of a row with its reading.
pub(super) struct ValueCell {
    pub(super) value: String,
    /// None when the cell is among those that were mended, which have its field.
    pub(super) field: Option<CellField>,
    pub(super) text: String,
}

/// Fields of cells as the page shows them, each once.
pub(super) struct CellFields<'a> {
    file: &'a CatalogueUpload,
    headers: &'a [String],
    money: &'a Currency,
    sale: &'a Sale,
    consignors: &'a BTreeMap<Uuid, String>,
    shown: HashSet<CellAt>,
    cells: BTreeMap<String, String>,
}

impl<'a> CellFields<'a> {
    pub(super) fn new(
        file: &'a CatalogueUpload,
        headers: &'a [String],
        sale: &'a Sale,
        consignors: &'a BTreeMap<Uuid, String>,
    ) -> Self {
        Self { file, headers, money: &sale.currency, sale, consignors, shown: HashSet::new(), cells: BTreeMap::new() }
    }

    /// The row of the spreadsheet for a line of the file; the line itself without a spreadsheet.
    pub(super) fn row_of(&self, line: u64) -> u64 {
        self.file.sheet.as_ref().map_or(line, |sheet| sheet.rows.row_of(line))
    }

    fn header(&self, column: usize) -> String {
        self.headers.get(column).cloned().unwrap_or_default()
    }

    fn field(&mut self, at: CellAt, text: &str) -> Option<CellField> {
        if !self.shown.insert(at) {
            return None;
        }
        let name = name_of(at);
        self.cells.insert(name.clone(), text.to_owned());
        let row_word = if self.file.sheet.is_some() { "row" } else { "line" };
        let label = format!("{}, {row_word} {}", self.header(at.column), self.row_of(at.line));
        let is_long = text.contains('\n') || text.chars().count() > 60;
        Some(CellField { name: format!("{CELL}{name}"), label, text: text.to_owned(), is_long })
    }

    pub(super) fn errors(&mut self, report: &MergeReport, listed_max: usize) -> Vec<CellError> {
        let mut errors = Vec::new();
        for error in report.errors.iter().take(listed_max) {
            let column = error.column.clone().unwrap_or_default();
            let cell = report.faulty_cells.iter().find(|cell| (cell.line, &cell.header) == (error.line, &column));
            let field = cell.and_then(|cell| self.field(cell.at, &cell.text));
            let message = kit_design::error_page::sentence(&error.message);
            errors.push(CellError { line: self.row_of(error.line), column, message, field });
        }
        errors
    }

    pub(super) fn mended(&mut self, report: &MergeReport) -> Vec<MendedRow> {
        let mut rows = Vec::new();
        for cell in &report.mended {
            let is_faulty = report.faulty_cells.iter().any(|faulty| faulty.at == cell.at);
            let value = match cell.value {
                Some(value) => self.words(value),
                None if is_faulty => String::new(),
                None if cell.text.is_empty() => "Empty: nothing is imported from it".to_owned(),
                None => cell.text.clone(),
            };
            let field = self.field(cell.at, &cell.text);
            let (line, column) = (self.row_of(cell.at.line), self.header(cell.at.column));
            rows.push(MendedRow { line, column, before: cell.before.clone(), value, field });
        }
        rows
    }

    pub(super) fn doubtful(&mut self, report: &MergeReport, listed_max: usize) -> Vec<DoubtfulRow> {
        let mut rows = Vec::new();
        for cell in report.doubtful.iter().take(listed_max) {
            let (line, column) = (self.row_of(cell.at.line), self.header(cell.at.column));
            let [value, other] = [cell.value, cell.other].map(|value| self.words(value));
            let field = self.field(cell.at, &cell.text);
            rows.push(DoubtfulRow { line, column, text: cell.text.clone(), value, other, field });
        }
        rows
    }

    /// The headers and cells of a row in these columns.
    pub(super) fn values(
        &mut self,
        line: u64,
        cells: &[ReadCell],
        columns: &[usize],
    ) -> Vec<(String, Option<ValueCell>)> {
        let mut values = Vec::new();
        for column in columns {
            let cell = cells.iter().find(|cell| cell.column == *column);
            let value = cell.map(|cell| {
                let field = self.field(CellAt { line, column: *column }, &cell.text);
                ValueCell { value: self.words(cell.value), field, text: cell.text.to_string() }
            });
            values.push((self.header(*column), value));
        }
        values
    }

    fn words(&self, value: CellValue) -> String {
        match value {
            CellValue::Amount(minor) => self.money.exact(minor),
            CellValue::Estimate(low, high) => format!("{} – {}", self.money.exact(low), self.money.exact(high)),
            CellValue::Time(at) => self.sale.zone.show(at),
            CellValue::Consignor(uuid) => self.consignors.get(&uuid).cloned().unwrap_or_default(),
        }
    }

    /// The digest of the form with these choices and the fields of cells that the page shows.
    pub(super) fn digest(&self, chosen: &Choices) -> String {
        let of_file = [chosen.decimal_mark.as_str(), &chosen.new_consignors];
        digest(&chosen.fields, of_file, self.cells.iter().map(|(name, text)| (name.as_str(), text.as_str())))
    }
}

/// The mark that was not chosen, in words.
pub(super) fn other_mark(mark: Option<DecimalMark>) -> &'static str {
    match mark.map(DecimalMark::other) {
        Some(DecimalMark::Comma) => "comma",
        _ => "point",
    }
}

/// What to do with consignors that the register does not have; none if it has all of them.
pub(super) fn new_consignors(report: &MergeReport, chosen: &str) -> Option<FormField> {
    let unknown = &report.unknown_consignors;
    if unknown.is_empty() {
        return None;
    }
    let named = unknown.iter().take(NAMED_MAX).map(|text| format!("“{text}”")).collect::<Vec<_>>().join(", ");
    let more = if unknown.len() > NAMED_MAX { " and others" } else { "" };
    let choices =
        [("", "Report each as an error"), ("name", "Add them by name"), ("reference", "Add them by reference")];
    let choices = choices.map(|(value, words)| Choice::of(value, words, chosen));
    let label =
        labels::count(unknown.len() as u64, "consignor is not in the register", "consignors are not in the register");
    Some(
        FormField::select(NEW_CONSIGNORS, label, choices.into())
            .hint(format!("{named}{more}. To add them to the register, choose what the file has of each.")),
    )
}

/// The decimal marks to choose from.
pub(super) fn marks(chosen: &str) -> Vec<Choice> {
    [("", "Not named"), ("point", "Point: 1,234.56"), ("comma", "Comma: 1.234,56")]
        .map(|(value, words)| Choice::of(value, words, chosen))
        .into()
}
