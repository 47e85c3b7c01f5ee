//! Finds the paths a file names, with `use` groups spread out.

use crate::tidy::lexer::{is_word, words};

/// One path as named in code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Named {
    /// Byte offset of its last part, where a reader looks for it.
    pub offset: usize,
    /// Its parts, the root first; a glob ends in `*`, a group's `self` adds nothing.
    pub parts: Vec<String>,
}

/// Every path in masked `code` that starts with the word `root`, groups spread out.
pub fn named(code: &str, root: &str) -> Vec<Named> {
    let mut found = Vec::new();
    for start in words(code, root) {
        let before = code[..start].trim_end();
        let is_tail = before.ends_with("::") || before.ends_with('.');
        let is_visibility = before.ends_with("(in");
        let after = start + root.len();
        if is_tail || is_visibility || !code[after..].trim_start().starts_with("::") {
            continue;
        }
        let mut reader = Reader {
            code,
            at: after,
            found: &mut found,
        };
        reader.tail(vec![root.to_owned()], start);
    }
    found
}

struct Reader<'a> {
    code: &'a str,
    at: usize,
    found: &'a mut Vec<Named>,
}

impl Reader<'_> {
    /// Reads what follows a part: `::` and more, or the end of the path.
    fn tail(&mut self, parts: Vec<String>, offset: usize) {
        let mark = self.at;
        if self.eat("::") && self.part(&parts) {
            return;
        }
        self.at = mark;
        self.found.push(Named { offset, parts });
    }

    /// Reads one part after `::` or inside a group; false if there is none.
    fn part(&mut self, prefix: &[String]) -> bool {
        self.skip_space();
        let offset = self.at;
        if self.eat("{") {
            self.group(prefix);
            return true;
        }
        let word = if self.eat("*") {
            "*".to_owned()
        } else {
            self.word()
        };
        if word.is_empty() {
            return false;
        }
        let mut parts = prefix.to_vec();
        if word != "self" {
            parts.push(word);
        }
        self.tail(parts, offset);
        true
    }

    /// Reads the members of a group up to its closing brace.
    fn group(&mut self, prefix: &[String]) {
        loop {
            self.skip_space();
            if self.at >= self.code.len() || self.eat("}") {
                return;
            }
            // Commas, `as name` and anything unexpected are stepped over.
            if self.eat("as ") {
                self.skip_space();
                self.word();
            } else if !self.part(prefix) {
                self.at += 1;
            }
        }
    }

    fn skip_space(&mut self) {
        let rest = &self.code[self.at..];
        self.at += rest.len() - rest.trim_start().len();
    }

    fn eat(&mut self, token: &str) -> bool {
        self.skip_space();
        let found = self.code[self.at..].starts_with(token);
        if found {
            self.at += token.len();
        }
        found
    }

    fn word(&mut self) -> String {
        let rest = &self.code.as_bytes()[self.at..];
        let length = rest.iter().take_while(|&&byte| is_word(byte)).count();
        let word = self.code[self.at..self.at + length].to_owned();
        self.at += length;
        word
    }
}

#[cfg(test)]
mod tests;
