//! Samples in the text format of Prometheus, and texts of JSON.

/// A page of samples: each family with its head once, before its samples.
#[derive(Debug, Default)]
pub(crate) struct MetricsText(String);

impl MetricsText {
    /// Begins a family: a counter or a gauge.
    pub(crate) fn family(&mut self, name: &str, kind: &str, help: &str) {
        self.0
            .push_str(&format!("# HELP {name} {help}\n# TYPE {name} {kind}\n"));
    }

    /// A sample of it.
    pub(crate) fn sample(&mut self, name: &str, labels: &[(&str, &str)], value: u64) {
        self.0.push_str(name);
        for (number, (label, text)) in labels.iter().enumerate() {
            self.0.push(if number == 0 { '{' } else { ',' });
            self.0.push_str(label);
            self.0.push_str("=\"");
            for letter in text.chars() {
                match letter {
                    '\\' => self.0.push_str("\\\\"),
                    '"' => self.0.push_str("\\\""),
                    '\n' => self.0.push_str("\\n"),
                    letter => self.0.push(letter),
                }
            }
            self.0.push('"');
        }
        let close = if labels.is_empty() { "" } else { "}" };
        self.0.push_str(&format!("{close} {value}\n"));
    }

    /// The page.
    pub(crate) fn finish(self) -> String {
        self.0
    }
}

/// A text as JSON has it, with its quotes.
pub(crate) fn json_text(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for letter in text.chars() {
        match letter {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            letter if letter < ' ' => out.push_str(&format!("\\u{:04x}", u32::from(letter))),
            letter => out.push(letter),
        }
    }
    out.push('"');
    out
}

/// A text, or null.
pub(crate) fn json_maybe(text: Option<&str>) -> String {
    text.map_or_else(|| "null".to_owned(), json_text)
}

/// What is inside the brackets of a list, of `bytes_max` bytes and one object more; and how many
/// objects are left out.
pub(crate) fn json_list(
    objects: impl ExactSizeIterator<Item = String>,
    bytes_max: usize,
) -> (String, usize) {
    let mut list = String::new();
    let all = objects.len();
    for (count, object) in objects.enumerate() {
        if list.len() >= bytes_max {
            return (list, all - count);
        }
        if count > 0 {
            list.push(',');
        }
        list.push_str(&object);
    }
    (list, 0)
}

#[cfg(test)]
mod tests;
