//! A door for the fuzz targets (`fuzz/`) to what reads other servers' bytes. Not part of any build that ships.

use bytes::Bytes;
use http::{Method, Uri};

use crate::error::TransportError;
use crate::http1::{EncodedRequest, ReadBuffer, ResponseReader};
use crate::{Headers, Response};

/// What is made of an answer to `method` that comes in pieces of `piece` bytes before the connection ends: a response, or none when it
/// is not whole.
pub fn parse_response(
    method: &Method,
    bytes: &[u8],
    piece: usize,
    body_bytes_max: usize,
) -> Result<Option<Response>, TransportError> {
    let to = Uri::from_static("http://host/").into();
    let request = EncodedRequest::new(method, &to, &Headers::default(), Bytes::new())?;
    let (mut answer, mut read_buffer) =
        (ResponseReader::new(&request, usize::MAX, body_bytes_max), ReadBuffer::default());
    for piece in bytes.chunks(piece.max(1)) {
        read_buffer.spare().extend_from_slice(piece);
        if let Some((response, _)) = answer.read(&mut read_buffer)? {
            return Ok(Some(response));
        }
    }
    Ok(answer.finish_at_close())
}
