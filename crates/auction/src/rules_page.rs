//! The page
