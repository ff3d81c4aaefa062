//! Attacks on the whole system. The tests are in `tests/adversary`.
