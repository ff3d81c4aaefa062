//! Words of the document: shapes that fields and parameters have in common. They are read as plain text and checked by the
//! `provider` crate, which says more of what is wrong than a failed parse could.

#![expect(dead_code, reason = "they stand for what they describe and are never made")]

use utoipa::ToSchema;

/// Name of an event type.
#[derive(ToSchema)]
#[schema(min_length = 1, max_length = 256, pattern = "^[a-zA-Z0-9._-]+$", example = "ITEM_STATUS_CHANGE")]
pub(crate) struct Name(String);

/// A channel, or a tag.
#[derive(ToSchema)]
#[schema(min_length = 1, max_length = 128, pattern = "^[a-zA-Z0-9._-]+$", example = "lots")]
pub(crate) struct Channel(String);

/// A session, in a customer's own words.
#[derive(ToSchema)]
#[schema(min_length = 1, max_length = 64, pattern = "^[a-zA-Z0-9@_-]+$")]
pub(crate) struct Session(String);

/// Direction of a list.
#[derive(ToSchema)]
#[schema(as = Ordering, rename_all = "lowercase")]
pub(crate) enum ListOrder {
    Ascending,
    Descending,
}
