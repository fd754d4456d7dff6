//! End markers: none, two, unterminated.
