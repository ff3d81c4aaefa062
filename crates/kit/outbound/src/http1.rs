//! HTTP/1.1 for a client (RFC 9112): encoding of requests and decoding of responses.
//!
//! Does no IO: [`crate::connection`] moves the bytes. The caller's task reads its own response, without a task for each
//! connection.

mod body;
mod head;
mod read_buffer;
mod request;
mod response;

pub(crate) use read_buffer::ReadBuffer;
pub(crate) use request::EncodedRequest;
pub(crate) use response::ResponseReader;

use self::body::{Body, Progress};
use self::head::ResponseHead;

use crate::error::TransportError;

const NOT_HTTP: TransportError = TransportError::InvalidResponse;
