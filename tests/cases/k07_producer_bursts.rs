//! Servers that release text in groups.
