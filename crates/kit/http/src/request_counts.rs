//! Requests counted by operation and by the class of their answer. A request costs a look-up of its path, which allocates
//! nothing, and an atomic addition.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};

use http::{Method, StatusCode};

/// Classes that every operation shows, counted or not.
const ALWAYS: [usize; 3] = [2, 4, 5];
/// Name of what is no operation: unknown addresses, documentation, preflights of browsers.
const OTHER: &str = "other";

/// The counts of a surface.
pub struct RequestCounts {
    /// By path: the operations of its methods.
    paths: matchit::Router<Vec<(Method, usize)>>,
    operations: Vec<Operation>,
    other: Operation,
}

#[derive(Debug, Default)]
struct Operation {
    name: String,
    /// By hundreds of the status code.
    classes: [AtomicU64; 6],
}

/// Which operation a request is for; of the [`Requests`] that said so.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct CountedOperation(Option<usize>);

impl RequestCounts {
    /// Counts for these operations: method, path as the router has it, name. One whose path can't be told from another's is
    /// counted with what is no operation.
    pub fn new(operations: impl IntoIterator<Item = (Method, String, String)>) -> Self {
        let (mut by_path, mut counted) = (BTreeMap::<String, Vec<(Method, usize)>>::new(), Vec::new());
        for (method, path, name) in operations {
            by_path.entry(path).or_default().push((method, counted.len()));
            counted.push(Operation { name, ..Operation::default() });
        }
        let mut paths = matchit::Router::new();
        for (path, methods) in by_path {
            if let Err(error) = paths.insert(path, methods) {
                tracing::warn!(%error, "requests of an operation are not counted by themselves");
            }
        }
        Self { paths, operations: counted, other: Operation { name: OTHER.to_owned(), ..Operation::default() } }
    }

    /// What a request is for. HEAD counts as the GET that answers it.
    pub(crate) fn operation(&self, method: &Method, path: &str) -> CountedOperation {
        let method = if method == Method::HEAD { &Method::GET } else { method };
        let methods = self.paths.at(path).ok().map(|found| found.value);
        CountedOperation(
            methods.and_then(|methods| methods.iter().find(|(known, _)| known == method)).map(|(_, index)| *index),
        )
    }

    pub(crate) fn count(&self, asked: CountedOperation, status: StatusCode) {
        let operation = asked.0.and_then(|index| self.operations.get(index)).unwrap_or(&self.other);
        if let Some(class) = operation.classes.get(usize::from(status.as_u16() / 100)) {
            class.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// How many answers each operation has had: its name, hundreds of the status code, and their number. The usual classes
    /// are there from the beginning, so that a rate sees the first answer.
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
