//! Why attempts failed, as a part of a page: the classes of causes with their counts. Each leads to the messages that failed
//! for it.

use askama::Template;
use askama::filters::HtmlSafe;
use jiff::Timestamp;
use jiff::tz::TimeZone;
use provider_core::FailedWith;
use provider_core::model::cause::CauseClass;
use provider_core::model::counts::{CountSpan, DeliveryCounts};

use crate::messages::Place;
use crate::portal::labels::number;

/// The classes of causes with failed attempts, the most frequent first.
#[derive(Template)]
#[template(path = "endpoints/failures.html")]
pub(crate) struct FailureClasses {
    rows: Vec<FailureClass>,
    /// Such as "24 hours".
    range: &'static str,
}

impl HtmlSafe for FailureClasses {}

struct FailureClass {
    words: &'static str,
    attempts: String,
    /// Address of the messages that failed for it.
    messages: String,
}

impl FailureClasses {
    /// The failures in the counts of this span; none without any. The filter names the application or the endpoint that is
    /// counted, as the list of messages names it.
    pub(crate) fn new(
        place: &Place<'_>,
        counts: &DeliveryCounts,
        span: CountSpan,
        filter: &[(&str, &str)],
    ) -> Option<Self> {
        let mut classes: Vec<_> = CauseClass::ALL.into_iter().map(|class| (counts.failures_of(class), class)).collect();
        classes.retain(|(attempts, _)| *attempts > 0);
        classes.sort_by_key(|(attempts, _)| std::cmp::Reverse(*attempts));
        let from = span.hours(place.now).start.start();
        let row = |(attempts, class): (u64, CauseClass)| FailureClass {
            words: class.words(),
            attempts: number(attempts),
            messages: format!("{}/messages?{}", place.base, query(filter, class, from)),
        };
        let rows: Vec<FailureClass> = classes.into_iter().map(row).collect();
        let range = if span == CountSpan::WEEK { "7 days" } else { "24 hours" };
        (!rows.is_empty()).then_some(Self { rows, range })
    }
}

fn query(filter: &[(&str, &str)], class: CauseClass, from: Timestamp) -> String {
    let from = from.to_zoned(TimeZone::UTC).strftime("%Y-%m-%dT%H:%M").to_string();
    form_urlencoded::Serializer::new(String::new())
        .extend_pairs(filter)
        .append_pair("cause", FailedWith::class_name(class))
        .append_pair("from", &from)
        .finish()
}
