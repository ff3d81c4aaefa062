//! The stories are in `tests/story`: the whole system as real processes, on real stores, over real HTTP.
