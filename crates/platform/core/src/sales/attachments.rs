//! Checks of the images, documents and videos of auctions and items.

use contract::models::UrlAttachmentApiModel;

use crate::customers::auctioneer_input::{ATTACHMENTS_MAX, LABEL_CHARS_MAX};
use crate::error::Problem;
use crate::steps::input::check_text;

/// The problems of a list of attachments; `at` is its JSON pointer.
pub(crate) fn problems(at: &str, attachments: &[UrlAttachmentApiModel]) -> Vec<Problem> {
    if attachments.len() > ATTACHMENTS_MAX {
        let message = format!("has {} attachments: at most {ATTACHMENTS_MAX} are possible", attachments.len());
        return vec![Problem::new(at, message)];
    }
    let label = |(index, attachment): (usize, &UrlAttachmentApiModel)| {
        let message = check_text(attachment.label.as_deref()?, LABEL_CHARS_MAX).err()?;
        Some(Problem::new(format!("{at}/{index}/label"), message))
    };
    attachments.iter().enumerate().filter_map(label).collect()
}
