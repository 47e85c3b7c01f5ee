//! One Rust file with what every check asks of it.

use crate::tidy::lexer::{self, Comment};

/// A Rust source file, lexed once.
#[derive(Clone, Debug)]
pub struct Source {
    /// Path from the root of the workspace, with forward slashes.
    pub path: String,
    /// The file as written.
    pub text: String,
    /// The same bytes with comments and literals blanked; offsets agree with `text`.
    pub code: String,
    /// Every comment, in order.
    pub comments: Vec<Comment>,
    /// True if the whole file is test code.
    pub is_test: bool,
    /// First and last byte of each item under `#[cfg(test)]`.
    test_spans: Vec<(usize, usize)>,
}

impl Source {
    /// Lexes `text`; whether it is test code is read from its path.
    pub fn new(path: &str, text: &str) -> Self {
        let split = lexer::split(text);
        Self {
            path: path.to_owned(),
            text: text.to_owned(),
            is_test: is_test_path(path),
            test_spans: test_spans(&split.code),
            code: split.code,
            comments: split.comments,
        }
    }

    /// Line of the byte at `offset`, counted from 1.
    pub fn line_of(&self, offset: usize) -> usize {
        lexer::line_of(&self.text, offset)
    }

    /// True if the byte at `offset` is test code, by its file or by `#[cfg(test)]`.
    pub fn is_test_at(&self, offset: usize) -> bool {
        self.is_test || self.is_behind_test(offset)
    }

    /// True if the byte at `offset` stands under `#[cfg(test)]`, whatever the file is.
    pub fn is_behind_test(&self, offset: usize) -> bool {
        let mut spans = self.test_spans.iter();
        spans.any(|span| span.0 <= offset && offset <= span.1)
    }

    /// The last part of the path.
    pub fn file_name(&self) -> &str {
        self.path
            .rsplit('/')
            .next()
            .expect("rsplit yields at least one part")
    }
}

/// Tests, benchmarks and fuzz targets may touch what product code may not.
fn is_test_path(path: &str) -> bool {
    path.split('/').any(|part| {
        matches!(
            part,
            "tests" | "tests.rs" | "benches" | "fuzz" | "esker-fuzz"
        )
    })
}

/// Spans from each `#[cfg(test)]` to the end of the item it stands on.
fn test_spans(code: &str) -> Vec<(usize, usize)> {
    let mut spans = Vec::new();
    for (start, _) in code.match_indices("#[cfg(") {
        let bracket = lexer::closing(code, start + 1);
        let condition = &code[start..bracket];
        let is_wider = condition.contains("not(") || condition.contains("any(");
        if lexer::words(condition, "test").next().is_none() || is_wider {
            continue;
        }
        spans.push((start, item_end(code, bracket + 1)));
    }
    spans
}

/// Last byte of the item that starts after `at`: its `;` or the end of its block.
pub fn item_end(code: &str, at: usize) -> usize {
    let mut index = at;
    while index < code.len() {
        match code.as_bytes()[index] {
            b';' => return index,
            b'{' => return lexer::closing(code, index),
            b'(' | b'[' => index = lexer::closing(code, index) + 1,
            _ => index += 1,
        }
    }
    code.len()
}

#[cfg(test)]
mod tests;
