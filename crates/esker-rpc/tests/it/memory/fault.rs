//! What goes wrong at a data server when a test says so.

use std::time::Duration;

/// How a server treats requests.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Fault {
    /// As it should.
    #[default]
    None,
    /// It does what it is told and never answers.
    Silent,
    /// It answers so much later.
    Late(Duration),
    /// It answers what came together in the reverse order.
    Reversed,
    /// It answers with bytes that are no reply.
    Rubbish,
    /// It answers with a reply that announces two gigabytes.
    Huge,
    /// It does what it is told, writes half of the reply and closes the connection.
    CutsReplies,
    /// It closes the connection at each request, which it does not look at.
    Closes,
    /// It answers each request twice, and once under a number that nobody asked with.
    Repeats,
}
