//! The orders and operators of a program that brings its own.

use esker::{Builder, Comparator, MergeRule};

/// The comparators and merge operators, known by their names, of keyspaces that the tool is to
/// read. A database says the names; what they mean only its program knows.
#[derive(Clone, Debug, Default)]
pub struct Plugins {
    comparators: Vec<Comparator>,
    merge_operators: Vec<MergeRule>,
}

impl Plugins {
    /// With an order that keyspaces may name.
    pub fn comparator(mut self, comparator: Comparator) -> Plugins {
        self.comparators.push(comparator);
        self
    }

    /// With a merge operator that keyspaces may name.
    pub fn merge_operator(mut self, operator: MergeRule) -> Plugins {
        self.merge_operators.push(operator);
        self
    }

    /// The orders.
    pub(crate) fn comparators(&self) -> &[Comparator] {
        &self.comparators
    }

    /// Has a database that is to be opened know all of them.
    pub(crate) fn known_by(&self, builder: Builder) -> Builder {
        let comparators = self.comparators.iter().cloned();
        let builder = comparators.fold(builder, Builder::known_comparator);
        let operators = self.merge_operators.iter().cloned();
        operators.fold(builder, Builder::known_merge_operator)
    }
}
