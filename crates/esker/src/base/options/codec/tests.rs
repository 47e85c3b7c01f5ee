//! Tests of `codec`.

use super::*;

const SIZE: Shape = Shape::Whole {
    unit: Unit::Bytes,
    min: 512,
    max: 16 << 20,
    zero: None,
};
const RATE: Shape = Shape::Whole {
    unit: Unit::BytesPerSecond,
    min: 1024,
    max: 1 << 40,
    zero: Some("none"),
};
const COUNT: Shape = Shape::Whole {
    unit: Unit::Count,
    min: -7,
    max: 22,
    zero: Some("auto"),
};

fn refused(shape: Shape, text: &str) -> String {
    let error = shape.parse("x.y", "ABC", text).unwrap_err();
    assert_eq!(error.kind(), crate::base::types::error::ErrorKind::Invalid);
    error.message().into()
}

#[test]
fn a_refusal_says_what_was_given_what_is_allowed_and_an_example() {
    // One line must be enough to mend the setting.
    assert_eq!(
        refused(SIZE, "banana"),
        "`x.y` cannot be `banana`: give a size from 512B to 16MiB, as in `ABC`"
    );
    assert_eq!(
        refused(RATE, "5"),
        "`x.y` cannot be `5`: give a rate from 1KiB/s to 1TiB/s, or `none`, as in `ABC`"
    );
    assert_eq!(
        refused(COUNT, "1.5"),
        "`x.y` cannot be `1.5`: give a whole number from -7 to 22, or `auto`, as in `ABC`"
    );
    assert_eq!(
        refused(Shape::Flag, "maybe"),
        "`x.y` cannot be `maybe`: give `true` or `false`, as in `ABC`"
    );
    assert_eq!(
        refused(Shape::Choice(&["a", "b"]), "c"),
        "`x.y` cannot be `c`: give one of `a`, `b`, as in `ABC`"
    );
    assert_eq!(
        refused(
            Shape::Decimal {
                min: 0.0,
                max: 32.0
            },
            "nan"
        ),
        "`x.y` cannot be `nan`: give a number from 0 to 32, as in `ABC`"
    );
    assert!(refused(Shape::Operator, "sortlist").contains("`uint64add`, `uint64max`"));
}

#[test]
fn every_shape_reads_back_what_it_shows() {
    // Text that the engine prints can be given back to it.
    for (shape, text, shown) in [
        (SIZE, "4096", "4KiB"),
        (SIZE, "1000", "1000B"),
        (RATE, "20mb/s", "20MiB/s"),
        (RATE, "20MiB", "20MiB/s"),
        (RATE, "0", "none"),
        (RATE, "NONE", "none"),
        (COUNT, "-3", "-3"),
        (COUNT, "auto", "auto"),
        (Shape::Flag, "On", "true"),
        (Shape::Flag, "0", "false"),
        (Shape::Choice(&["none", "lz4"]), "LZ4", "lz4"),
        (
            Shape::Decimal {
                min: 0.0,
                max: 32.0,
            },
            "9.5",
            "9.5",
        ),
        (Shape::Operator, "append:;", "append:;"),
        (Shape::Operator, "none", "none"),
    ] {
        let value = shape.parse("x", "y", text).unwrap();
        assert_eq!(shape.show(&value), shown);
        assert_eq!(shape.parse("x", "y", shown).unwrap(), value);
    }
}

#[test]
fn a_value_of_another_type_is_not_allowed() {
    // The type belongs to the shape as much as the range does.
    assert!(!SIZE.allows(&Value::Flag(true)));
    assert!(!Shape::Flag.allows(&Value::Whole(1)));
    assert!(!SIZE.allows(&Value::Whole(0)));
    assert!(RATE.allows(&Value::Whole(0)));
}
