//! The delivery provider's JSON API, which official clients work against.
