//! How much of a scenario is run.

use crate::fail::{Failure, Outcome};

/// How much of a scenario is run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Size {
    /// Three minutes at most on two processors.
    Small,
    /// About ten times that much work.
    Medium,
    /// What the document did.
    Full,
}

impl Size {
    /// All of them, smallest first.
    pub const ALL: [Size; 3] = [Size::Small, Size::Medium, Size::Full];

    /// As the command line spells it.
    pub fn name(self) -> &'static str {
        match self {
            Size::Small => "small",
            Size::Medium => "medium",
            Size::Full => "full",
        }
    }

    /// The size of that name.
    ///
    /// Errors: `Usage`, with the names there are.
    pub fn of(name: &str) -> Outcome<Size> {
        let found = Size::ALL.into_iter().find(|size| size.name() == name);
        found.ok_or_else(|| Failure::usage("it is small, medium or full"))
    }

    /// What advice says of smaller sizes, where there are any.
    pub fn smaller(self) -> &'static str {
        match self {
            Size::Small => "",
            Size::Medium => ", or take --size=small",
            Size::Full => ", or take --size=medium",
        }
    }

    /// One of three values, by size.
    pub fn pick<T>(self, small: T, medium: T, full: T) -> T {
        match self {
            Size::Small => small,
            Size::Medium => medium,
            Size::Full => full,
        }
    }
}
