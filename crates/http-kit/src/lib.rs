//! Shared by every HTTP surface: problem details, request ids, JSON input, pages, preconditions, serving.
