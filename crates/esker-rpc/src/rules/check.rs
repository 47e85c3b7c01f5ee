//! The eighteen checks of a value before a write.

use std::cmp::Ordering;

use crate::message::data::CasCheckType;
use crate::rules::counter;
use crate::rules::filter::contains;

/// What came of a check.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The write is done.
    Passed,
    /// It is not: status 13.
    Failed,
    /// It makes no sense: status 4.
    Invalid,
}

/// Checks `value`, which is `None` if absent or expired, against `operand`.
pub fn check(kind: CasCheckType, value: Option<&[u8]>, operand: &[u8]) -> Verdict {
    use CasCheckType as Is;
    let passed = |passes: bool| match passes {
        true => Verdict::Passed,
        false => Verdict::Failed,
    };
    match kind {
        Is::CT_NO_CHECK => return Verdict::Passed,
        Is::CT_VALUE_NOT_EXIST => return passed(value.is_none()),
        Is::CT_VALUE_NOT_EXIST_OR_EMPTY => return passed(value.is_none_or(<[u8]>::is_empty)),
        _ if kind.name().is_none() => return Verdict::Invalid,
        _ => {}
    }
    let Some(value) = value else {
        return Verdict::Failed;
    };
    let order = match kind {
        Is::CT_VALUE_EXIST => return Verdict::Passed,
        Is::CT_VALUE_NOT_EMPTY => return passed(!value.is_empty()),
        Is::CT_VALUE_MATCH_ANYWHERE => return passed(contains(value, operand)),
        Is::CT_VALUE_MATCH_PREFIX => return passed(value.starts_with(operand)),
        Is::CT_VALUE_MATCH_POSTFIX => return passed(value.ends_with(operand)),
        Is::CT_VALUE_BYTES_LESS
        | Is::CT_VALUE_BYTES_LESS_OR_EQUAL
        | Is::CT_VALUE_BYTES_EQUAL
        | Is::CT_VALUE_BYTES_GREATER_OR_EQUAL
        | Is::CT_VALUE_BYTES_GREATER => value.cmp(operand),
        _ => match (counter::parse(value), counter::parse(operand)) {
            (Some(value), Some(operand)) => value.cmp(&operand),
            _ => return Verdict::Invalid,
        },
    };
    passed(match kind {
        Is::CT_VALUE_BYTES_LESS | Is::CT_VALUE_INT_LESS => order == Ordering::Less,
        Is::CT_VALUE_BYTES_LESS_OR_EQUAL | Is::CT_VALUE_INT_LESS_OR_EQUAL => {
            order != Ordering::Greater
        }
        Is::CT_VALUE_BYTES_EQUAL | Is::CT_VALUE_INT_EQUAL => order == Ordering::Equal,
        Is::CT_VALUE_BYTES_GREATER_OR_EQUAL | Is::CT_VALUE_INT_GREATER_OR_EQUAL => {
            order != Ordering::Less
        }
        _ => order == Ordering::Greater,
    })
}

#[cfg(test)]
mod tests;
