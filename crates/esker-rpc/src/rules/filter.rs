//! Which keys a filter lets through.

use memchr::memmem;

use crate::message::data::FilterType;

/// A kind of filter and its pattern.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Filter<'a> {
    kind: FilterType,
    pattern: &'a [u8],
}

impl<'a> Filter<'a> {
    /// That filter; `None` if there is no such kind.
    pub fn new(kind: FilterType, pattern: &'a [u8]) -> Option<Filter<'a>> {
        kind.name().map(|_| Filter { kind, pattern })
    }

    /// True if it lets `bytes` through. An empty pattern lets everything through.
    pub fn matches(&self, bytes: &[u8]) -> bool {
        match self.kind {
            FilterType::FT_MATCH_ANYWHERE => contains(bytes, self.pattern),
            FilterType::FT_MATCH_PREFIX => bytes.starts_with(self.pattern),
            FilterType::FT_MATCH_POSTFIX => bytes.ends_with(self.pattern),
            _ => true,
        }
    }

    /// What everything that it lets through begins with.
    pub fn prefix(&self) -> &'a [u8] {
        match self.kind {
            FilterType::FT_MATCH_PREFIX => self.pattern,
            _ => &[],
        }
    }
}

/// True if `part` stands somewhere in `bytes`, found in time linear in both: a stranger chooses
/// them, and every replica looks.
pub fn contains(bytes: &[u8], part: &[u8]) -> bool {
    memmem::find(bytes, part).is_some()
}

#[cfg(test)]
mod tests;
