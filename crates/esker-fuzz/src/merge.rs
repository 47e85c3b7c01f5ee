//! Any bytes as base and operands of each built-in merge operator, grouped in every way.
//!
//! The first byte chooses the operator; the rest is cut at each byte 0xff into the base and the
//! operands.

use esker::internals::base::hooks::merge_builtin::{BUILTIN_NAMES, builtin};

/// Operands taken from one input: enough for every way to group them that differs.
const OPERANDS_MAX: usize = 6;

/// Runs the target on one input.
pub fn run(input: &[u8]) {
    let Some((&choice, rest)) = input.split_first() else {
        return;
    };
    let name = BUILTIN_NAMES[usize::from(choice) % BUILTIN_NAMES.len()];
    let rule = builtin(name).expect("it is built in").0;
    let mut parts = rest.split(|byte| *byte == 0xff);
    let first = parts.next().unwrap_or_default();
    let operands: Vec<&[u8]> = parts.take(OPERANDS_MAX).collect();
    if operands.is_empty() {
        return;
    }
    for base in [None, Some(first)] {
        let whole = rule.fold(b"key", base, &operands);
        // One by one.
        let mut value = base.map(<[u8]>::to_vec);
        for operand in &operands {
            let folded = rule.fold(b"key", value.as_deref(), &[operand]);
            value = Some(folded.expect("built-in operators take anything"));
        }
        assert_eq!(whole.as_deref().ok(), value.as_deref());
        // Operands that become one, pair by pair, from either side.
        for place in 1..operands.len() {
            let (older, newer) = (operands[place - 1], operands[place]);
            let Some(both) = rule.combine(b"key", older, newer) else {
                continue;
            };
            let mut fewer = operands.clone();
            fewer.splice(place - 1..=place, [&both[..]]);
            assert_eq!(rule.fold(b"key", base, &fewer), whole);
        }
    }
}
