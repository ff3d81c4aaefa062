//! Counts requests by operation and status class. A request costs a path look-up without allocation and an atomic
//! addition.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};

use http::{Method, StatusCode};

/// Status classes that are shown even with a count of zero.
const ALWAYS: [usize; 3] = [2, 4, 5];
/// Name for requests to no operation: unknown paths, documentation, preflight requests.
const OTHER: &str = "other";

/// The counts of a surface.
pub struct RequestCounts {
    /// The operations of each path, by method.
    paths: matchit::Router<Vec<(Method, usize)>>,
    operations: Vec<Operation>,
    other: Operation,
}

#[derive(Debug, Default)]
struct Operation {
    name: String,
    /// Counts by the first digit of the status code.
    classes: [AtomicU64; 6],
}

/// The operation of a request, in the [`RequestCounts`] that returned it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct CountedOperation(Option<usize>);

impl RequestCounts {
    /// Counts these operations: method, path in the syntax of the router, name. An operation whose path conflicts with
    /// another one counts as `other`.
    pub fn new(operations: impl IntoIterator<Item = (Method, String, String)>) -> Self {
        let (mut by_path, mut counted) = (BTreeMap::<String, Vec<(Method, usize)>>::new(), Vec::new());
        for (method, path, name) in operations {
            by_path.entry(path).or_default().push((method, counted.len()));
            counted.push(Operation { name, ..Operation::default() });
        }
        let mut paths = matchit::Router::new();
        for (path, methods) in by_path {
            if let Err(error) = paths.insert(path, methods) {
                tracing::warn!(%error, "the path of an operation conflicts with another; its requests count as \
                `other`");
            }
        }
        Self { paths, operations: counted, other: Operation { name: OTHER.to_owned(), ..Operation::default() } }
    }

    /// The operation of a request. HEAD counts as GET.
    pub(crate) fn operation(&self, method: &Method, path: &str) -> CountedOperation {
        let method = if method == Method::HEAD { &Method::GET } else { method };
        let methods = self.paths.at(path).ok().map(|found| found.value);
        CountedOperation(
            methods.and_then(|methods| methods.iter().find(|(known, _)| known == method)).map(|(_, index)| *index),
        )
    }

    pub(crate) fn count(&self, operation: CountedOperation, status: StatusCode) {
        let operation = operation.0.and_then(|index| self.operations.get(index)).unwrap_or(&self.other);
        if let Some(class) = operation.classes.get(usize::from(status.as_u16() / 100)) {
            class.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// The counts: name of the operation, first digit of the status code, number of responses. The usual classes are
    /// present from the start, so that a rate includes the first response.
    pub fn counts(&self) -> impl Iterator<Item = (&str, usize, u64)> {
        let counts = |operation: &'_ Operation| operation.classes.each_ref().map(|count| count.load(Ordering::Relaxed));
        self.operations.iter().chain([&self.other]).flat_map(move |operation| {
            let counts = counts(operation).into_iter().enumerate();
            let shown = counts.filter(|(class, count)| *count > 0 || ALWAYS.contains(class));
            shown.map(|(class, count)| (operation.name.as_str(), class, count))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn requests() -> RequestCounts {
        let operations = [
            ("GET", "/lots", "lots.list"),
            ("POST", "/lots", "lots.create"),
            ("GET", "/lots/{lot}", "lots.get"),
            ("PUT", "/lots/{lot}", "lots.put"),
            ("GET", "/lots/open", "lots.open"),
            ("GET", "/lots/{lot}/bids", "bids.list"),
        ];
        RequestCounts::new(
            operations.map(|(method, path, name)| (method.parse().unwrap(), path.to_owned(), name.to_owned())),
        )
    }

    #[test]
    fn a_request_is_counted_for_its_operation_and_class() {
        let requests = requests();
        for (method, path, status) in [
            ("GET", "/lots", 200),
            ("HEAD", "/lots", 200),
            ("POST", "/lots", 201),
            ("POST", "/lots", 422),
            ("GET", "/lots/7", 404),
            ("PUT", "/lots/7", 200),
            ("GET", "/lots/open", 200),
            ("GET", "/lots/7/bids", 503),
            ("DELETE", "/lots/7", 405),
            ("GET", "/nowhere", 404),
            ("GET", "/lots/7/bids", 302),
        ] {
            let asked = requests.operation(&method.parse().unwrap(), path);
            requests.count(asked, StatusCode::from_u16(status).unwrap());
        }
        let counts: Vec<_> = requests.counts().collect();
        for expected in [
            ("lots.list", 2, 2),
            ("lots.create", 2, 1),
            ("lots.create", 4, 1),
            ("lots.get", 4, 1),
            ("lots.get", 5, 0),
            ("lots.put", 2, 1),
            ("lots.open", 2, 1),
            ("bids.list", 5, 1),
            ("bids.list", 3, 1),
            ("other", 4, 2),
        ] {
            assert!(counts.contains(&expected), "no {expected:?} in {counts:?}");
        }
        assert!(!counts.iter().any(|(operation, class, _)| (*operation, *class) == ("lots.list", 3)), "{counts:?}");
    }
}
