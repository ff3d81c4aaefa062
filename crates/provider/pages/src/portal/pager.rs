//! The pager of a list that a use case returned.

use kit_design::pager::{PagePosition, Pager};
use provider_core::ListPage;

/// Links to the pages beside `page`, which was read with the iterator `requested`.
pub(crate) fn pager<T>(page: &ListPage<T>, requested: Option<&str>) -> Pager {
    Pager::new(PagePosition {
        requested,
        next: page.iterator.as_deref(),
        previous: page.prev_iterator.as_deref(),
        is_last: page.done,
    })
}
