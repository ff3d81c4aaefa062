//! Parses CSV (RFC 4180) as a stream, into fields with the physical line that each begins on.
//!
//! The parser reads a byte at a time from a buffered source and holds one record of bounded size. An unclosed quote
//! therefore costs no more memory than any other mistake, and is reported where it was opened.

use std::io::{BufRead, ErrorKind};

const QUOTE: u8 = b'"';

/// Bounds of one record.
#[derive(Debug, Clone, Copy)]
pub(super) struct RecordLimits {
    pub(super) field_bytes_max: usize,
    pub(super) record_bytes_max: usize,
    pub(super) fields_max: usize,
    pub(super) file_bytes_max: u64,
}

/// One field without its quotes.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Field {
    /// The physical line that it begins on, from 1.
    pub(crate) line: u64,
    pub(crate) bytes: Vec<u8>,
    /// It stands in quotes.
    pub(crate) is_quoted: bool,
    /// The mistake in its syntax, if there is one.
    pub(crate) fault: Option<FieldFault>,
}

/// A mistake in the syntax of a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FieldFault {
    /// `"abc"d`
    TextAfterQuote,
    /// The file ends within quotes.
    Unclosed,
    /// More bytes than a field may have; the rest was skipped.
    TooLong,
    /// The record has more bytes than it may have; the rest was skipped.
    RecordTooLong,
}

/// One record.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Record {
    /// The physical line that it begins on, from 1.
    pub(crate) line: u64,
    /// Its fields; at most `fields_max`.
    pub(crate) fields: Vec<Field>,
    /// The real number of its fields.
    pub(crate) field_count: usize,
}

/// Why nothing more can be read.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ReadError {
    #[error("the file is longer than {0} bytes")]
    FileTooLong(u64),
    #[error("the file can't be read: {0}")]
    Io(#[from] std::io::Error),
}

/// Reads records one by one.
pub(crate) struct Records<R> {
    source: R,
    limits: RecordLimits,
    /// The byte between fields.
    separator: u8,
    line: u64,
    read_bytes: u64,
    /// A byte that was read and belongs to what follows.
    pushed_back: Option<u8>,
}

impl<R: BufRead> Records<R> {
    pub(super) fn new(source: R, limits: RecordLimits) -> Self {
        Self { source, limits, separator: b',', line: 1, read_bytes: 0, pushed_back: None }
    }

    /// With another byte between fields: the comma, semicolon or tab that the first line has most often.
    pub(super) fn sniff_separator(mut self) -> Result<Self, ReadError> {
        let head = self.source.fill_buf()?;
        let mut is_quoted = false;
        let mut counts = [(b',', 0_usize), (b';', 0), (b'\t', 0)];
        for byte in head {
            match byte {
                &QUOTE => is_quoted = !is_quoted,
                b'\n' | b'\r' if !is_quoted => break,
                byte if !is_quoted => {
                    let counted = counts.iter_mut().filter(|(separator, _)| separator == byte);
                    counted.for_each(|(_, count)| *count += 1);
                }
                _ => {}
            }
        }
        // Among equal counts the comma, which comes first.
        let most = counts.iter().rev().max_by_key(|(_, count)| *count).map_or(b',', |(separator, _)| *separator);
        Ok(Self { separator: most, ..self })
    }

    /// The current physical line, from 1.
    pub(crate) fn line(&self) -> u64 {
        self.line
    }

    /// The next record that isn't an empty line; none at the end of the file.
    pub(crate) fn next(&mut self) -> Result<Option<Record>, ReadError> {
        loop {
            let mut record = Record { line: self.line, ..Record::default() };
            let mut record_bytes = 0;
            let more = loop {
                let mut field = Field { line: self.line, ..Field::default() };
                let end = self.field(&mut field, &mut record_bytes)?;
                record.field_count += 1;
                if record.fields.len() < self.limits.fields_max {
                    record.fields.push(field);
                }
                match end {
                    End::Field => {}
                    End::Record => break true,
                    End::File => break false,
                }
            };
            let empty = record_bytes == 0 && record.field_count == 1;
            match (empty, more) {
                (false, _) => return Ok(Some(record)),
                (true, true) => {}
                (true, false) => return Ok(None),
            }
        }
    }

    /// Reads up to the comma or line end after the field.
    fn field(&mut self, field: &mut Field, record_bytes: &mut usize) -> Result<End, ReadError> {
        let mut at = At::Start;
        loop {
            let Some(byte) = self.byte()? else {
                if at == At::Quoted {
                    field.fault = field.fault.or(Some(FieldFault::Unclosed));
                }
                return Ok(End::File);
            };
            if at != At::Quoted {
                match byte {
                    byte if byte == self.separator => {
                        *record_bytes += 1;
                        return Ok(End::Field);
                    }
                    b'\n' => {
                        self.line += 1;
                        return Ok(End::Record);
                    }
                    b'\r' => {
                        self.end_of_line_after_return()?;
                        return Ok(End::Record);
                    }
                    _ => {}
                }
            }
            *record_bytes += 1;
            at = match (at, byte) {
                (At::Start, QUOTE) => {
                    field.is_quoted = true;
                    At::Quoted
                }
                (At::Quoted, QUOTE) => At::QuoteInQuoted,
                (At::QuoteInQuoted, QUOTE) => {
                    self.keep(field, QUOTE, *record_bytes);
                    At::Quoted
                }
                (At::QuoteInQuoted, other) => {
                    field.fault = field.fault.or(Some(FieldFault::TextAfterQuote));
                    self.keep(field, other, *record_bytes);
                    At::Bare
                }
                (At::Quoted, other) => {
                    self.count_line_in_quotes(other)?;
                    self.keep(field, other, *record_bytes);
                    At::Quoted
                }
                (At::Start | At::Bare, other) => {
                    self.keep(field, other, *record_bytes);
                    At::Bare
                }
            };
        }
    }

    fn keep(&self, field: &mut Field, byte: u8, record_bytes: usize) {
        if field.bytes.len() >= self.limits.field_bytes_max {
            field.fault = field.fault.or(Some(FieldFault::TooLong));
        } else if record_bytes > self.limits.record_bytes_max {
            field.fault = field.fault.or(Some(FieldFault::RecordTooLong));
        } else {
            field.bytes.push(byte);
        }
    }

    fn count_line_in_quotes(&mut self, byte: u8) -> Result<(), ReadError> {
        match byte {
            b'\n' => self.line += 1,
            b'\r' if self.peek()? != Some(b'\n') => self.line += 1,
            _ => {}
        }
        Ok(())
    }

    fn end_of_line_after_return(&mut self) -> Result<(), ReadError> {
        if self.peek()? == Some(b'\n') {
            self.pushed_back = None;
        }
        self.line += 1;
        Ok(())
    }

    fn peek(&mut self) -> Result<Option<u8>, ReadError> {
        self.pushed_back = self.byte()?;
        Ok(self.pushed_back)
    }

    fn byte(&mut self) -> Result<Option<u8>, ReadError> {
        if let Some(byte) = self.pushed_back.take() {
            return Ok(Some(byte));
        }
        let byte = loop {
            match self.source.fill_buf() {
                Ok(buffer) => break buffer.first().copied(),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error.into()),
            }
        };
        if byte.is_some() {
            self.source.consume(1);
            self.read_bytes += 1;
            if self.read_bytes > self.limits.file_bytes_max {
                return Err(ReadError::FileTooLong(self.limits.file_bytes_max));
            }
        }
        Ok(byte)
    }
}

/// Position of the parser in a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum At {
    Start,
    Bare,
    Quoted,
    QuoteInQuoted,
}

/// What follows a field.
enum End {
    Field,
    Record,
    File,
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMITS: RecordLimits =
        RecordLimits { field_bytes_max: 20, record_bytes_max: 50, fields_max: 4, file_bytes_max: 10_000 };

    fn read(text: &str) -> Vec<Record> {
        let mut records = Records::new(text.as_bytes(), LIMITS);
        std::iter::from_fn(|| records.next().unwrap()).collect()
    }

    fn texts(text: &str) -> Vec<(u64, Vec<String>)> {
        let text_of = |field: Field| String::from_utf8(field.bytes).unwrap();
        read(text).into_iter().map(|record| (record.line, record.fields.into_iter().map(text_of).collect())).collect()
    }

    fn row(line: u64, fields: &[&str]) -> (u64, Vec<String>) {
        (line, fields.iter().map(ToString::to_string).collect())
    }

    #[test]
    fn records_are_parsed_with_every_line_ending() {
        for end in ["\n", "\r\n", "\r"] {
            let text = format!("a,b{end}{end}\"x,\"\"y\"\"\",{end}\"two{end}lines\",z{end},{end}last,one");
            assert_eq!(
                texts(&text),
                [
                    row(1, &["a", "b"]),
                    row(3, &["x,\"y\"", ""]),
                    row(4, &[&format!("two{end}lines"), "z"]),
                    row(6, &["", ""]),
                    row(7, &["last", "one"]),
                ],
                "{end:?}"
            );
        }
    }

    #[test]
    fn a_quote_in_an_unquoted_field_is_text_and_an_empty_quoted_field_is_a_record() {
        assert_eq!(texts("6\" rule,b\n\"\"\n"), [row(1, &["6\" rule", "b"]), row(2, &[""])]);
        assert_eq!(texts(""), []);
        assert_eq!(texts("\n\n"), []);
    }

    #[test]
    fn a_field_knows_its_own_line_and_fault() {
        let faults = |text| {
            let fields = read(text).into_iter().flat_map(|record| record.fields);
            fields.filter_map(|field| Some((field.line, field.fault?))).collect::<Vec<_>>()
        };
        assert_eq!(faults("a,\"b\nc\",\"d\"e\n"), [(2, FieldFault::TextAfterQuote)]);
        assert_eq!(faults("a\nb,\"c\nd\n"), [(2, FieldFault::Unclosed)]);
        assert_eq!(faults("123456789012345678901,b\n"), [(1, FieldFault::TooLong)]);
        assert_eq!(faults("12345678901234567890,12345678901234567890,1234567890\n"), [(1, FieldFault::RecordTooLong)]);
        assert_eq!(faults("a,b,c,d,e\n"), []);
        assert_eq!(read("a,b,c,d,e\n")[0].field_count, 5);
    }

    #[test]
    fn reading_stops_at_the_maximum_length_of_a_file() {
        let text = "a\n".repeat(5_001);
        let mut records = Records::new(text.as_bytes(), LIMITS);
        let failed = (0..10_000).find_map(|_| records.next().err());
        assert!(matches!(failed, Some(ReadError::FileTooLong(10_000))), "{failed:?}");
    }

    #[test]
    fn records_agree_with_the_csv_crate() {
        let samples = [
            "a,b\r\n\"c\",\"d\ne\"\r\n",
            "a,\"b \"\"quoted\"\" c\",\r\n,,\r\nlast,x,y",
            "one\n\n\ntwo,\"\"\n",
            "\"a\rb\",c\rd,e\r",
        ];
        for sample in samples {
            let mut oracle = csv::ReaderBuilder::new().has_headers(false).flexible(true).from_reader(sample.as_bytes());
            let expected: Vec<Vec<String>> =
                oracle.records().map(|record| record.unwrap().iter().map(str::to_owned).collect()).collect();
            let ours: Vec<Vec<String>> = texts(sample).into_iter().map(|(_, fields)| fields).collect();
            assert_eq!(ours, expected, "{sample:?}");
        }
    }
}
