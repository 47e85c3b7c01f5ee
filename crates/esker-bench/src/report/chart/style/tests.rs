//! Every colour has a name, and every name a colour, in light and in dark.

use super::*;

#[test]
fn files_spell_out_every_colour() {
    // A name that is missing from one list would leave a shape black.
    let text = of_file();
    assert!(!text.contains("var("), "{text}");
    assert_eq!(text.matches('{').count(), text.matches('}').count());
    let names = |colours: &str| -> Vec<String> {
        let pairs = colours.split(';').map(|pair| pair.split(':'));
        pairs
            .map(|mut pair| pair.next().unwrap().to_owned())
            .collect()
    };
    assert_eq!(names(LIGHT), names(DARK));
}
