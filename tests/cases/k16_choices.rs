//! Empty, null and missing choices.
