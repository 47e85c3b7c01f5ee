//! What counts as a yes.

use super::*;

#[test]
fn only_a_yes_is_a_yes() {
    // Silence, the end of the input and any other word leave the table where it is.
    for answer in ["y\n", "Y\n", "yes\n", "  yes  \n"] {
        assert!(
            is_agreed("drop it", &mut answer.as_bytes()).unwrap(),
            "{answer:?}"
        );
    }
    for answer in ["", "\n", "n\n", "no\n", "yess\n", "yes, but\n"] {
        assert!(
            !is_agreed("drop it", &mut answer.as_bytes()).unwrap(),
            "{answer:?}"
        );
    }
}
