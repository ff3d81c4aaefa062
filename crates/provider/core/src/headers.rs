//! Headers that an endpoint adds to each delivery: which are allowed, and how they are sealed at rest.

pub mod custom_headers;
pub(crate) mod sealing;
