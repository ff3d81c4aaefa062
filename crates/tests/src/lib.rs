//! One integration binary: the whole system on real stores, over real HTTP.
