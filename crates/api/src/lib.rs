//! The platform's JSON API and its OpenAPI document.
