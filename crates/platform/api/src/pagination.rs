//! Pages of a list: the parameters `after` and `limit`, which every list query has.

use std::str::FromStr;

use uuid::Uuid;

use crate::errors::ApiError;

/// Entries of a page without a `limit`.
const LIMIT_DEFAULT: u32 = 50;
/// The largest `limit`.
const LIMIT_MAX: u32 = 250;

/// Defines the query of a list: the given fields, followed by `after` and `limit`, and a method `page` that reads those
/// two.
///
/// A macro, because serde can't combine `flatten` with `deny_unknown_fields` and numbers in a query string.
macro_rules! list_query {
    ($(#[$of_query:meta])* $name:ident { $($(#[$of_field:meta])* $field:ident: $kind:ty,)* }) => {
        $(#[$of_query])*
        #[derive(Debug, Default, serde::Deserialize, utoipa::IntoParams)]
        #[serde(rename_all = "camelCase", deny_unknown_fields)]
        #[into_params(parameter_in = Query)]
        pub(crate) struct $name {
            $($(#[$of_field])* pub(crate) $field: $kind,)*
            /// `next` of the previous page. Without it, the list begins at its first entry.
            after: Option<String>,
            /// Entries of the page, at most; 1 to 250, default 50.
            #[param(minimum = 1, maximum = 250)]
            limit: Option<u32>,
        }

        impl $name {
            /// The page that the caller requests; 400 `query_invalid` if `after` or `limit` can't be used.
            pub(crate) fn page<K: std::str::FromStr>(
                &self,
            ) -> Result<$crate::pagination::PageParams<K>, $crate::errors::ApiError> {
                $crate::pagination::page(self.after.as_deref(), self.limit)
            }
        }
    };
}
pub(crate) use list_query;

list_query! {
    /// The query of a list without filters.
    ListQuery {}
}

list_query! {
    /// The query of a list that can be limited to one customer.
    CustomerListQuery {
        /// UUID of a customer: only rows of this customer. An API key of one customer sees only that customer's rows.
        customer: Option<Uuid>,
    }
}

/// The page that a caller requests.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PageParams<K> {
    /// Key of the last entry of the previous page.
    pub(crate) after: Option<K>,
    /// Entries, at most.
    pub(crate) limit: usize,
}

impl<K: Copy> PageParams<K> {
    /// The page with one entry more, which shows whether another page follows.
    pub(crate) fn with_lookahead(&self) -> platform_core::port::Page<K> {
        platform_core::port::Page { after: self.after, limit: self.limit + 1 }
    }
}

/// Reads `after` and `limit`.
pub(crate) fn page<K: FromStr>(after: Option<&str>, limit: Option<u32>) -> Result<PageParams<K>, ApiError> {
    let after = match after {
        None => None,
        Some(text) => Some(kit_http::cursor::decode(text).and_then(|key| key.parse().ok()).ok_or_else(|| {
            ApiError::invalid_query("after", "is not a cursor; send `next` of the previous page, or leave it out")
        })?),
    };
    Ok(PageParams { after, limit: page_limit(limit)? })
}

/// Reads `limit`.
pub(crate) fn page_limit(limit: Option<u32>) -> Result<usize, ApiError> {
    let limit = limit.unwrap_or(LIMIT_DEFAULT);
    if (1..=LIMIT_MAX).contains(&limit) {
        return Ok(limit as usize);
    }
    Err(ApiError::invalid_query("limit", format!("is {limit}; send 1 to {LIMIT_MAX}")))
}
