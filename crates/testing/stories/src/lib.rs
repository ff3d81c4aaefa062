//! Integration tests of the whole system. The tests are in `tests/story`.
