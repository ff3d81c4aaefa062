//! Access for the fuzz targets (`fuzz/`) to the response parser. Released builds do not contain it.

use bytes::Bytes;
use http::{Method, Uri};

use crate::error::TransportError;
use crate::http1::{EncodedRequest, ReadBuffer, ResponseReader};
use crate::{Headers, Response};

/// Parses the response to a request with `method` that arrives in chunks of `chunk_bytes` before the connection ends.
/// None when the response is incomplete.
pub fn parse_response(
    method: &Method,
    bytes: &[u8],
    chunk_bytes: usize,
    body_bytes_max: usize,
) -> Result<Option<Response>, TransportError> {
    let to = Uri::from_static("http://host/").into();
    let request = EncodedRequest::new(method, &to, &Headers::default(), Bytes::new())?;
    let (mut reader, mut read_buffer) =
        (ResponseReader::new(&request, usize::MAX, body_bytes_max), ReadBuffer::default());
    for chunk in bytes.chunks(chunk_bytes.max(1)) {
        read_buffer.spare().extend_from_slice(chunk);
        if let Some((response, _)) = reader.read(&mut read_buffer)? {
            return Ok(Some(response));
        }
    }
    Ok(reader.finish_at_close())
}
