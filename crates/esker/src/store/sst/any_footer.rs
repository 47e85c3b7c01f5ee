//! The footer of either kind of sorted file.

use crate::base::types::error::Result;
use crate::store::sst::format::{BlockHandle, Footer};
use crate::store::sst::opening::RawFooter;
use crate::store::sst::searchable;

/// A footer whose checksum was right.
#[derive(Clone, Copy, Debug)]
pub enum AnyFooter {
    /// Of a file made of blocks.
    BlockBased(Footer),
    /// Of a file that is searched while it is compressed.
    Searchable(searchable::format::Footer),
}

impl AnyFooter {
    /// Has a footer checked as one of the kind that its version says.
    ///
    /// Errors: `Unsupported` for a newer format, else `Corruption`, with file and offset.
    pub fn decode(raw: &RawFooter) -> Result<AnyFooter> {
        match raw.is_searchable() {
            true => raw
                .decode(searchable::format::Footer::decode)
                .map(AnyFooter::Searchable),
            false => raw.decode(Footer::decode).map(AnyFooter::BlockBased),
        }
    }

    /// Where the properties lie.
    pub fn props(&self) -> BlockHandle {
        match self {
            AnyFooter::BlockBased(footer) => footer.props,
            AnyFooter::Searchable(footer) => footer.props,
        }
    }

    /// Where the range deletes lie, if there are any.
    pub fn range_deletes(&self) -> Option<BlockHandle> {
        match self {
            AnyFooter::BlockBased(footer) => footer.range_deletes,
            AnyFooter::Searchable(footer) => footer.range_deletes,
        }
    }
}
