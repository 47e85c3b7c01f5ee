//! Where a cursor over what a reader sees stands.

/// Where the cursor stands, and where the entry's bytes are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CursorState {
    /// On nothing.
    #[default]
    Nowhere,
    /// On the inner cursor's entry, whose value begins at that offset. `is_newest` says that the
    /// entry before it is known to be of another key.
    Here {
        /// Where the value begins.
        value_start: usize,
        /// Whether no newer entry of the key can come.
        is_newest: bool,
    },
    /// On the inner cursor's entry, whose value is separated: where, is in `value`.
    Separated,
    /// On `key` and `value`; the inner cursor is on an older entry of the key, on a later key
    /// or nowhere.
    BeforeInner,
    /// On `key` and `value`; the inner cursor is on the last entry before all of the key's, or
    /// nowhere when there is none.
    AfterInner,
}

impl CursorState {
    /// [`CursorState::Here`].
    #[inline]
    pub fn here(value_start: usize, is_newest: bool) -> CursorState {
        CursorState::Here {
            value_start,
            is_newest,
        }
    }
}
