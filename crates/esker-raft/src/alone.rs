//! How far a group is on its way to go on with one replica alone; `going_alone.rs` has the way.

/// How far a group is on its way to go on alone.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Forcing {
    #[default]
    No,
    /// The others are forgotten, and no entry says so.
    Forgotten,
    /// The entry is proposed.
    Proposed,
}
