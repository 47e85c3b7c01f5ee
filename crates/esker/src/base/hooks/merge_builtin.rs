//! The merge operators that come with the engine, by name.

use std::sync::Arc;

use crate::base::hooks::merge::{MergeOperator, MergeRule};

/// Names of the built-in operators, as settings and manifests spell them.
///
/// `append` may be followed by `:` and a delimiter, as in `append:,`; alone it means `append:,`.
pub const BUILTIN_NAMES: [&str; 6] = [
    "uint64add",
    "uint64max",
    "uint64min",
    "append",
    "bytesxor",
    "put",
];

/// The built-in operator of that name, if there is one.
pub fn builtin(name: &str) -> Option<MergeRule> {
    Some(match name {
        "uint64add" => uint64_add(),
        "uint64max" => uint64_max(),
        "uint64min" => uint64_min(),
        "bytesxor" => bytes_xor(),
        "put" => put(),
        "append" => append(","),
        _ => append(name.strip_prefix("append:")?),
    })
}

/// Adds: values and operands are 8 bytes, little-endian; what has another size counts as 0, and
/// the sum wraps, as with RocksDB. The counter at the price of a put.
pub fn uint64_add() -> MergeRule {
    MergeRule(Arc::new(Uint64 {
        name: "uint64add",
        apply: u64::wrapping_add,
    }))
}

/// Keeps the largest, of numbers as [`uint64_add`] has them.
pub fn uint64_max() -> MergeRule {
    MergeRule(Arc::new(Uint64 {
        name: "uint64max",
        apply: u64::max,
    }))
}

/// Keeps the smallest, of numbers as [`uint64_add`] has them; a key without a value has none.
pub fn uint64_min() -> MergeRule {
    MergeRule(Arc::new(Uint64Min))
}

/// Appends operands to the value, with `delimiter` between them.
pub fn append(delimiter: &str) -> MergeRule {
    MergeRule(Arc::new(Append::new(delimiter)))
}

/// The bytes of value and operands, combined by exclusive or; the longer one's rest stays.
pub fn bytes_xor() -> MergeRule {
    MergeRule(Arc::new(BytesXor))
}

/// The newest operand, as if it had been put.
pub fn put() -> MergeRule {
    MergeRule(Arc::new(PutLast))
}

/// Eight bytes, little-endian; anything of another size counts as 0, as RocksDB does.
fn number(bytes: &[u8]) -> u64 {
    bytes.try_into().map(u64::from_le_bytes).unwrap_or(0)
}

/// `uint64add` and `uint64max`: 0 is the neutral element of both, so a missing base is 0.
struct Uint64 {
    name: &'static str,
    apply: fn(u64, u64) -> u64,
}

impl MergeOperator for Uint64 {
    fn name(&self) -> &str {
        self.name
    }

    fn fold(&self, _: &[u8], base: Option<&[u8]>, operands: &[&[u8]]) -> Result<Vec<u8>, String> {
        let base = base.map_or(0, number);
        let folded = operands
            .iter()
            .map(|operand| number(operand))
            .fold(base, self.apply);
        Ok(folded.to_le_bytes().to_vec())
    }

    fn combine(&self, _: &[u8], older: &[u8], newer: &[u8]) -> Option<Vec<u8>> {
        Some(
            (self.apply)(number(older), number(newer))
                .to_le_bytes()
                .to_vec(),
        )
    }
}

/// `uint64min`: 0 is not neutral here, so a missing base leaves the operands alone.
struct Uint64Min;

impl MergeOperator for Uint64Min {
    fn name(&self) -> &str {
        "uint64min"
    }

    fn fold(&self, _: &[u8], base: Option<&[u8]>, operands: &[&[u8]]) -> Result<Vec<u8>, String> {
        let numbers = base.into_iter().chain(operands.iter().copied()).map(number);
        Ok(numbers.min().unwrap_or(0).to_le_bytes().to_vec())
    }

    fn combine(&self, _: &[u8], older: &[u8], newer: &[u8]) -> Option<Vec<u8>> {
        Some(number(older).min(number(newer)).to_le_bytes().to_vec())
    }
}

/// `append`: base and operands one after another with a delimiter between them.
struct Append {
    name: String,
    delimiter: Vec<u8>,
}

impl Append {
    fn new(delimiter: &str) -> Append {
        let name = if delimiter == "," {
            "append".into()
        } else {
            format!("append:{delimiter}")
        };
        Append {
            name,
            delimiter: delimiter.as_bytes().to_vec(),
        }
    }
}

impl MergeOperator for Append {
    fn name(&self) -> &str {
        &self.name
    }

    fn fold(&self, _: &[u8], base: Option<&[u8]>, operands: &[&[u8]]) -> Result<Vec<u8>, String> {
        let parts: Vec<&[u8]> = base.into_iter().chain(operands.iter().copied()).collect();
        Ok(parts.join(&self.delimiter[..]))
    }

    fn combine(&self, _: &[u8], older: &[u8], newer: &[u8]) -> Option<Vec<u8>> {
        Some([older, newer].join(&self.delimiter[..]))
    }
}

/// `bytesxor`: byte by byte; the shorter side counts as zeros behind its end.
struct BytesXor;

fn xor_into(target: &mut Vec<u8>, source: &[u8]) {
    if target.len() < source.len() {
        target.resize(source.len(), 0);
    }
    for (byte, other) in target.iter_mut().zip(source) {
        *byte ^= other;
    }
}

impl MergeOperator for BytesXor {
    fn name(&self) -> &str {
        "bytesxor"
    }

    fn fold(&self, _: &[u8], base: Option<&[u8]>, operands: &[&[u8]]) -> Result<Vec<u8>, String> {
        let mut folded = base.unwrap_or_default().to_vec();
        for operand in operands {
            xor_into(&mut folded, operand);
        }
        Ok(folded)
    }

    fn combine(&self, _: &[u8], older: &[u8], newer: &[u8]) -> Option<Vec<u8>> {
        let mut combined = older.to_vec();
        xor_into(&mut combined, newer);
        Some(combined)
    }
}

/// `put`: the newest operand is the value.
struct PutLast;

impl MergeOperator for PutLast {
    fn name(&self) -> &str {
        "put"
    }

    fn fold(&self, _: &[u8], base: Option<&[u8]>, operands: &[&[u8]]) -> Result<Vec<u8>, String> {
        Ok(operands
            .last()
            .copied()
            .or(base)
            .unwrap_or_default()
            .to_vec())
    }

    fn combine(&self, _: &[u8], _older: &[u8], newer: &[u8]) -> Option<Vec<u8>> {
        Some(newer.to_vec())
    }
}

#[cfg(test)]
mod tests;
