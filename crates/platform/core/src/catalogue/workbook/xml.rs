//! A part of a workbook as XML, read within limits: bytes that the archive unpacks, bytes of one tag or text, depth.
//!
//! Names are compared without their namespace prefix, which programs choose differently. Entities are the five of XML and
//! character references; a part that declares others is refused where it uses them.

use std::io::{self, BufReader, Read};

use quick_xml::Reader;
use quick_xml::escape::resolve_xml_entity;
use quick_xml::events::{BytesStart, Event};

use super::text::LimitedText;
use super::{archive, damaged};

/// Bytes of one tag, or of one text between two tags.
const EVENT_BYTES_MAX: usize = 256 << 10;
/// Elements within each other.
const DEPTH_MAX: usize = 64;

/// A reader of the elements of a part.
pub(super) struct XmlPart<'a> {
    reader: Reader<BufReader<LimitedRead<'a>>>,
    buffer: Vec<u8>,
    depth: usize,
}

/// What comes next.
pub(super) enum Next<'a> {
    /// The beginning of an element, which is open until its end.
    Start(BytesStart<'a>),
    /// The end of the innermost open element, with the number of those that are still open.
    End(usize),
    /// A text or something else.
    Other(Event<'a>),
}

struct LimitedRead<'a> {
    source: Box<dyn Read + 'a>,
    /// Bytes that all parts together may still unpack to.
    left_bytes: &'a mut u64,
    /// Bytes that may be read before the end of the tag or text.
    event_left_bytes: usize,
    exceeded: Option<Exceeded>,
}

#[derive(Debug, Clone, Copy)]
enum Exceeded {
    Unpacked,
    Event,
}

impl Read for LimitedRead<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let exceeded = if *self.left_bytes == 0 {
            Exceeded::Unpacked
        } else if self.event_left_bytes == 0 {
            Exceeded::Event
        } else {
            let left = usize::try_from(*self.left_bytes).unwrap_or(usize::MAX).min(self.event_left_bytes);
            let length = buffer.len().min(left);
            let read = self.source.read(buffer.get_mut(..length).unwrap_or_default())?;
            *self.left_bytes -= read as u64;
            self.event_left_bytes -= read;
            return Ok(read);
        };
        self.exceeded = Some(exceeded);
        Err(io::Error::from(io::ErrorKind::FileTooLarge))
    }
}

impl<'a> XmlPart<'a> {
    pub(super) fn new(source: Box<dyn Read + 'a>, left_bytes: &'a mut u64) -> Self {
        let source = LimitedRead { source, left_bytes, event_left_bytes: EVENT_BYTES_MAX, exceeded: None };
        let mut reader = Reader::from_reader(BufReader::new(source));
        let config = reader.config_mut();
        config.check_end_names = false;
        config.expand_empty_elements = true;
        Self { reader, buffer: Vec::new(), depth: 0 }
    }

    /// Elements that are open.
    pub(super) fn depth(&self) -> usize {
        self.depth
    }

    /// The next beginning, end or text. The end of the part is an error: all that is read stands in an element.
    pub(super) fn next(&mut self) -> Result<Next<'_>, String> {
        self.buffer.clear();
        self.reader.get_mut().get_mut().event_left_bytes = EVENT_BYTES_MAX;
        let event = match self.reader.read_event_into(&mut self.buffer) {
            Ok(event) => event,
            Err(error) => {
                return Err(match self.reader.get_ref().get_ref().exceeded {
                    Some(Exceeded::Unpacked) => archive::too_large(),
                    Some(Exceeded::Event) => {
                        damaged(format!("a tag or a text in it has more than {} KiB", EVENT_BYTES_MAX >> 10))
                    }
                    None => damaged(error),
                });
            }
        };
        match event {
            Event::Start(_) if self.depth == DEPTH_MAX => {
                Err(damaged(format!("more than {DEPTH_MAX} elements stand within each other")))
            }
            Event::Start(start) => {
                self.depth += 1;
                Ok(Next::Start(start))
            }
            Event::End(_) => {
                self.depth = self.depth.saturating_sub(1);
                Ok(Next::End(self.depth))
            }
            Event::Eof => Err(damaged("a part of it ends too early")),
            other => Ok(Next::Other(other)),
        }
    }

    /// Reads to the end of the element that was open at this depth.
    pub(super) fn skip_from(&mut self, depth: usize) -> Result<(), String> {
        while self.depth >= depth {
            self.next()?;
        }
        Ok(())
    }

    /// Reads to the end of the innermost open element, and adds its own texts.
    pub(super) fn text(&mut self, text: &mut LimitedText) -> Result<(), String> {
        let depth = self.depth;
        while self.depth >= depth {
            let is_own = self.depth == depth;
            match self.next()? {
                Next::Other(Event::Text(part)) if is_own => text.push_str(&part.xml10_content())?,
                Next::Other(Event::CData(part)) if is_own => text.push_str(&part.xml10_content())?,
                Next::Other(Event::GeneralRef(entity)) if is_own => match resolve_xml_entity(&entity) {
                    Some(resolved) => text.push_str(resolved)?,
                    None => {
                        let resolved = entity.resolve_char_ref().map_err(damaged)?;
                        let resolved = resolved.ok_or_else(|| damaged("a text of it has an unknown entity"))?;
                        text.push_str(resolved.encode_utf8(&mut [0; 4]))?;
                    }
                },
                _ => {}
            }
        }
        Ok(())
    }
}

/// The name of an element without its prefix.
pub(super) fn is_named(start: &BytesStart<'_>, name: &str) -> bool {
    start.local_name().as_ref() == name
}

/// The value of an attribute, whatever its prefix; the first of that name.
pub(super) fn attribute(start: &BytesStart<'_>, name: &str) -> Result<Option<String>, String> {
    for attribute in start.attributes().with_checks(false) {
        let attribute = attribute.map_err(damaged)?;
        if attribute.key.local_name().as_ref() == name {
            let value = attribute.normalized_value(quick_xml::XmlVersion::Implicit1_0).map_err(damaged)?;
            return Ok(Some(value.into_owned()));
        }
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_parts_unpack_to_a_limit_together() {
        let xml = "<a><b>text</b></a>";
        let mut left = xml.len() as u64 + 10;
        let mut part = XmlPart::new(Box::new(xml.as_bytes()), &mut left);
        part.next().unwrap();
        part.skip_from(1).unwrap();
        drop(part);
        assert_eq!(left, 10);
        let mut part = XmlPart::new(Box::new(xml.as_bytes()), &mut left);
        part.next().unwrap();
        assert!(part.skip_from(1).unwrap_err().contains("unpacks to more than 192 MiB"));
    }
}
