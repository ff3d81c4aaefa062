//! Types of the OpenAPI document that fields and parameters share. The handlers read them as plain text;
//! `provider-core` validates them and returns more precise errors than a failed parse could.

#![expect(dead_code, reason = "the types only describe schemas")]

use utoipa::ToSchema;

/// Name of an event type.
#[derive(ToSchema)]
#[schema(min_length = 1, max_length = 256, pattern = "^[a-zA-Z0-9._-]+$", example = "ITEM_STATUS_CHANGE")]
pub(crate) struct Name(String);

/// A channel or a tag.
#[derive(ToSchema)]
#[schema(min_length = 1, max_length = 128, pattern = "^[a-zA-Z0-9._-]+$", example = "lots")]
pub(crate) struct Channel(String);

/// Name of a session, chosen by the caller.
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
