//! One broken rule: where it is, which rule, and what to do.

use std::fmt;

/// One broken rule, printed as `path:line: rule: what to do`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Finding {
    /// Path from the root of the workspace, with forward slashes.
    pub path: String,
    /// Line in that file, counted from 1.
    pub line: usize,
    /// Short name of the rule.
    pub rule: &'static str,
    /// What is wrong and what to do, in one sentence.
    pub advice: String,
}

impl Finding {
    /// A finding at `line` (counted from 1) of `path`.
    pub fn new(path: &str, line: usize, rule: &'static str, advice: impl Into<String>) -> Self {
        assert!(line > 0, "lines are counted from 1");
        Self {
            path: path.to_owned(),
            line,
            rule,
            advice: advice.into(),
        }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{}:{}: {}: {}",
            self.path, self.line, self.rule, self.advice
        )
    }
}
