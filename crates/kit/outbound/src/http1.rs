//! HTTP/1.1 as its client speaks it (RFC 9112): how a request is written, and how an answer is read.
//!
//! Nothing here does I/O: bytes go in and come out, and who owns the connection moves them ([`crate::connection`]). So a request is
//! one piece of memory and an answer is read in the task that waits for it, without another one in between.

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

const NOT_HTTP: TransportError = TransportError::Invalid("the response is not valid HTTP");
