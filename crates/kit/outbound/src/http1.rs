//! HTTP/1.1 as its client speaks it (RFC 9112): how a request is written, and how an answer is read.
//!
//! Nothing here does I/O: bytes go in and come out, and who owns the connection moves them ([`crate::connection`]). So a request is
//! one piece of memory and an answer is read in the task that waits for it, without another one in between.

mod answer;
mod body;
mod head;
mod inbox;
mod request;

pub(crate) use answer::Answer;
pub(crate) use inbox::Inbox;
pub(crate) use request::Outgoing;

use self::body::{Body, Progress};
use self::head::Head;

use crate::error::TransportError;

const NOT_HTTP: TransportError = TransportError::Invalid("the response is not valid HTTP");
