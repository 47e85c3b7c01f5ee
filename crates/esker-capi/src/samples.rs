//! The numbers on a page of metrics, line by line.

/// One number.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sample<'a> {
    /// What it is.
    pub name: &'a str,
    /// Of what, as the page has it; nothing where it is of the whole database.
    pub labels: &'a str,
    /// How many.
    pub number: f64,
}

/// The number of a line, as `name{labels} number`; a comment has none.
pub fn sample(line: &str) -> Option<Sample<'_>> {
    let (what, number) = line.rsplit_once(' ')?;
    let (name, labels) = what.split_once('{').unwrap_or((what, "}"));
    let labels = labels.strip_suffix('}')?;
    let number = number.parse().ok().filter(|_| !line.starts_with('#'))?;
    Some(Sample {
        name,
        labels,
        number,
    })
}

#[cfg(test)]
mod tests;
