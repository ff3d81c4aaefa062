//! A door for the fuzz targets (`fuzz/`) to what reads other servers' bytes. Not part of any build that ships.

use bytes::Bytes;
use http::{Method, Uri};

use crate::error::TransportError;
use crate::http1::{Answer, Inbox, Outgoing};
use crate::{Headers, Response};

/// What is made of an answer to `method` that comes in pieces of `piece` bytes before the connection ends: a response, or none when it
/// is not whole.
pub fn answer(
    method: &Method,
    bytes: &[u8],
    piece: usize,
    body_bytes_max: usize,
) -> Result<Option<Response>, TransportError> {
    let to = Uri::from_static("http://host/").into();
    let request = Outgoing::new(method, &to, &Headers::default(), Bytes::new())?;
    let (mut answer, mut inbox) = (Answer::new(&request, usize::MAX, body_bytes_max), Inbox::default());
    for piece in bytes.chunks(piece.max(1)) {
        inbox.with_room().extend_from_slice(piece);
        if let Some((response, _)) = answer.read(&mut inbox)? {
            return Ok(Some(response));
        }
    }
    Ok(answer.at_close())
}
