//! Clients that go away.
