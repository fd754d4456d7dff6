//! Text held back because of tools.
