//! What is left of a damaged sorted file, of either kind.

use std::sync::Arc;

use crate::base::types::comparator::Comparator;
use crate::base::types::error::{Error, ErrorKind, Result};
use crate::base::types::key;
use crate::base::types::range_delete::RangeDelete;
use crate::env::fs::ReadFile;
use crate::store::names::FileName;
use crate::store::sst::adoption::{FileBinding, Renumbering};
use crate::store::sst::any_footer::AnyFooter;
use crate::store::sst::block::fetch::{BlockCache, BlockSource};
use crate::store::sst::block::stray::block_before;
use crate::store::sst::block_based;
use crate::store::sst::format::{BlockHandle, FOOTER_BYTES};
use crate::store::sst::opening::{RawFooter, check_readable, read_part};
use crate::store::sst::props::Props;
use crate::store::sst::range_deletes;
use crate::store::sst::saving::{LostPart, Saving, Take, only_damage};
use crate::store::sst::searchable;

/// A damaged sorted file, of which some is whole.
pub struct SstRemains {
    source: BlockSource,
    comparator: Comparator,
    /// Neither read nor made again where it is missing: the file is taken for one of blocks.
    footer: Option<AnyFooter>,
    props: Option<Props>,
    range_deletes: Vec<RangeDelete>,
    /// Why the range deletes are lost, if they are.
    lost_range_deletes: Option<Error>,
    renumbering: Option<Renumbering>,
}

impl SstRemains {
    /// Looks at the end of a file whose keys are in `order`.
    ///
    /// Errors: `Invalid` when it was written in another order; `NotBuilt` when it is compressed in
    /// a way that this build does not have; whatever is no damage.
    pub fn read(
        file: Arc<dyn ReadFile>,
        binding: FileBinding,
        comparator: Comparator,
        cache: Arc<BlockCache>,
    ) -> Result<SstRemains> {
        let footer = read_footer(&*file, binding)?;
        let source = BlockSource::new(file, binding, cache);
        let mut remains = SstRemains {
            source,
            comparator,
            footer,
            props: None,
            range_deletes: Vec::new(),
            lost_range_deletes: None,
            renumbering: binding.renumbering,
        };
        remains.read_description()?;
        if let Some(renumbering) = binding.renumbering {
            let stored = std::mem::take(&mut remains.range_deletes).into_iter();
            let shown = stored.map(|stored| renumbering.shown_range_delete(&stored));
            remains.range_deletes = shown.collect();
        }
        if let Some(props) = &remains.props {
            check_readable(props, &remains.comparator)
                .map_err(|error| error.in_file(FileName::Sst(binding.number)))?;
        }
        Ok(remains)
    }

    /// What the file says about itself, if that is whole.
    pub fn props(&self) -> Option<&Props> {
        self.props.as_ref()
    }

    /// Its range deletes, as far as they are whole.
    pub fn range_deletes(&self) -> &[RangeDelete] {
        &self.range_deletes
    }

    /// Why range deletes are lost, if they are: what they hid is there again then.
    pub fn lost_range_deletes(&self) -> Option<&Error> {
        self.lost_range_deletes.as_ref()
    }

    /// Hands every entry that is whole to `take`, in order, and gives what is lost between them.
    ///
    /// Errors: those of `take`, and whatever is no damage.
    pub fn save(&self, take: &mut Take<'_>) -> Result<Vec<LostPart>> {
        let Some(renumbering) = self.renumbering else {
            return self.save_stored(take);
        };
        let mut shown = Vec::new();
        self.save_stored(&mut |stored, value| {
            let (user_key, trailer) = key::split(stored);
            shown.clear();
            shown.extend_from_slice(user_key);
            let trailer = renumbering.shown_trailer(trailer.raw());
            shown.extend_from_slice(&trailer.to_le_bytes());
            take(&shown, value)
        })
    }

    fn save_stored(&self, take: &mut Take<'_>) -> Result<Vec<LostPart>> {
        let mut saving = Saving::new(self.comparator.clone(), take);
        match &self.footer {
            None => block_based::salvage::salvage(&self.source, None, &mut saving)?,
            Some(AnyFooter::BlockBased(footer)) => {
                block_based::salvage::salvage(&self.source, Some(footer), &mut saving)?;
            }
            Some(AnyFooter::Searchable(footer)) => {
                searchable::salvage::salvage(&self.source, footer, &mut saving)?;
            }
        }
        Ok(saving.finish())
    }

    // Properties and range deletes; where the footer is lost, that too, from what lies before it.
    fn read_description(&mut self) -> Result<()> {
        let source = &self.source;
        if let Some(footer) = self.footer {
            self.props = only_damage(read_part(source, footer.props(), Props::decode))?.ok();
            return self.read_range_deletes(footer.range_deletes());
        }
        // Until something says otherwise.
        let error = Error::corruption("nothing says whether the file deletes ranges");
        self.lost_range_deletes = Some(error);
        let Some(end) = source.size_bytes().checked_sub(FOOTER_BYTES as u64) else {
            return Ok(());
        };
        let read = |plain: Vec<u8>| Props::decode(&plain).ok();
        let Some((props, handle)) = block_before(source, 0, end, read)? else {
            return Ok(());
        };
        let described = (handle, &props);
        self.footer = match searchable::salvage::rebuilt_footer(source, described)? {
            Some(footer) => Some(AnyFooter::Searchable(footer)),
            None => {
                block_based::salvage::rebuilt_footer(source, described)?.map(AnyFooter::BlockBased)
            }
        };
        self.props = Some(props);
        let range_deletes = self.footer.and_then(|footer| footer.range_deletes());
        self.read_range_deletes(range_deletes)
    }

    fn read_range_deletes(&mut self, handle: Option<BlockHandle>) -> Result<()> {
        self.lost_range_deletes = None;
        let wanted = self
            .props
            .as_ref()
            .map_or(0, |props| props.range_delete_count);
        let Some(handle) = handle else {
            if wanted > 0 {
                let error = Error::corruption("nothing leads to the range deletes any more");
                self.lost_range_deletes = Some(error);
            }
            return Ok(());
        };
        let comparator = &self.comparator;
        let read = read_part(&self.source, handle, |plain| {
            range_deletes::decode(comparator, plain)
        });
        match only_damage(read)? {
            Ok(list) => self.range_deletes = list,
            Err(error) => self.lost_range_deletes = Some(error),
        }
        Ok(())
    }
}

// A file of a format that this program does not know is told so by whoever opened it first.
fn read_footer(file: &dyn ReadFile, binding: FileBinding) -> Result<Option<AnyFooter>> {
    let Ok(raw) = only_damage(RawFooter::read(file, binding))? else {
        return Ok(None);
    };
    match AnyFooter::decode(&raw) {
        Err(error) if error.kind() == ErrorKind::Unsupported => Ok(None),
        read => Ok(only_damage(read)?.ok()),
    }
}

#[cfg(test)]
mod tests;
