//! A drawing as pixels, in programs built for it.
//!
//! Drawn by `resvg`, in Rust, behind the feature `png`: a browser would be the larger thing to ask
//! for, and who embeds the engine builds neither. Letters come from the fonts of the system, since
//! a font of our own would weigh more than all drawings ever made with it.

use crate::fail::{Failure, Outcome};

/// Pixels for each unit of a drawing: sharp on dense screens, and a few hundred kB at most.
#[cfg(feature = "png")]
const DENSITY: f32 = 2.0;

/// Largest picture either way, in pixels: a record with thousands of workloads still has an end.
#[cfg(feature = "png")]
const SIDE_MAX: f32 = 16_384.0;

/// Families that suit the drawings, the most likely first. Any other will do if none is there.
#[cfg(feature = "png")]
const FAMILIES: [&str; 7] = [
    "DejaVu Sans",
    "Noto Sans",
    "Liberation Sans",
    "Segoe UI",
    "Helvetica",
    "Arial",
    "Ubuntu",
];

/// Fails with advice unless this program can make pixels: before anything is measured or drawn.
pub fn check() -> Outcome {
    match cfg!(feature = "png") {
        true => Ok(()),
        false => Err(Failure::usage(
            "this program was built without PNG; build it with `--features png`, or ask for SVG \
             with --chart",
        )),
    }
}

/// The PNG of a drawing.
///
/// Errors: `Usage` in programs built without it; `Failed` if the system has no font, or the
/// drawing is none.
#[cfg(not(feature = "png"))]
pub fn pixels(_svg: &str) -> Outcome<Vec<u8>> {
    check().map(|()| Vec::new())
}

/// The PNG of a drawing.
///
/// Errors: `Usage` in programs built without it; `Failed` if the system has no font, or the
/// drawing is none.
#[cfg(feature = "png")]
pub fn pixels(svg: &str) -> Outcome<Vec<u8>> {
    use resvg::tiny_skia::{Pixmap, Transform};
    use resvg::usvg::{Options, Tree, fontdb};

    let mut options = Options::default();
    let fonts = options.fontdb_mut();
    fonts.load_system_fonts();
    let family = family(fonts).ok_or_else(|| {
        Failure::failed(
            "found no font to write with; install one (apt-get install fonts-dejavu-core), or ask \
             for SVG with --chart, whose reader brings the font",
        )
    })?;
    fonts.set_sans_serif_family(family.clone());
    options.font_family = family;
    let told = |what: &dyn std::fmt::Display| Failure::failed(format!("cannot draw: {what}"));
    let tree = Tree::from_str(svg, &options).map_err(|error| told(&error))?;
    let size = tree.size();
    let longest = size.width().max(size.height());
    let density = DENSITY.min(SIDE_MAX / longest);
    let size = size.to_int_size().scale_by(density);
    let pixmap = size.and_then(|size| Pixmap::new(size.width(), size.height()));
    let mut pixmap = pixmap.ok_or_else(|| told(&"the picture has no size"))?;
    let larger = Transform::from_scale(density, density);
    resvg::render(&tree, larger, &mut pixmap.as_mut());
    return pixmap.encode_png().map_err(|error| told(&error));

    /// The first family of the list that is there, else any.
    fn family(fonts: &fontdb::Database) -> Option<String> {
        let has = |name: &&&str| {
            let faces = fonts.faces().flat_map(|face| &face.families);
            faces.into_iter().any(|(family, _)| family == **name)
        };
        let listed = FAMILIES.iter().find(has).map(|name| (*name).to_owned());
        let any = || Some(fonts.faces().next()?.families.first()?.0.clone());
        listed.or_else(any)
    }
}

#[cfg(test)]
mod tests;
