//! Pixels where they were built in, advice where not.

use super::*;

/// A drawing with a shape and a word.
const SVG: &str = "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"60\" height=\"20\">\
                   <rect width=\"30\" height=\"20\" fill=\"#0f6fae\"/>\
                   <text x=\"32\" y=\"14\" font-family=\"sans-serif\">word</text></svg>";

#[cfg(not(feature = "png"))]
#[test]
fn without_the_feature_there_is_advice() {
    // The user learns how to get it, and what works as it is.
    let failure = pixels(SVG).unwrap_err();
    assert_eq!(failure.exit_code(), 2);
    assert!(failure.message.contains("--features png") && failure.message.contains("--chart"));
}

#[cfg(feature = "png")]
#[test]
fn pixels_show_shapes_and_letters() {
    // Twice as many pixels as units, the left half blue, some ink in the right half. A machine
    // without any font is told so instead.
    let png = match pixels(SVG) {
        Ok(png) => png,
        Err(failure) => {
            assert!(failure.message.contains("fonts-dejavu-core"), "{failure}");
            return;
        }
    };
    let pixmap = resvg::tiny_skia::Pixmap::decode_png(&png).unwrap();
    assert_eq!((pixmap.width(), pixmap.height()), (120, 40));
    let blue = pixmap.pixel(20, 20).unwrap();
    assert_eq!((blue.red(), blue.green(), blue.blue()), (0x0f, 0x6f, 0xae));
    let right = (0..40).flat_map(|y| (64..120).map(move |x| (x, y)));
    let inked = right.filter(|(x, y)| pixmap.pixel(*x, *y).unwrap().alpha() > 128);
    assert!(inked.count() > 20);
    assert!(pixels("no drawing").is_err());
}
