//! Splits Rust source into code and comments, so that checks never mistake one for the other.
//!
//! The masked code has exactly as many bytes and lines as the source: each byte of a comment,
//! string or character literal is a space there, the quotes included. Offsets found in the masked
//! code therefore hold in the source too. What is understood: line and nested block comments,
//! strings with escapes, raw strings with any number of `#`, the prefixes `b`, `c`, `br`, `cr`,
//! character literals, lifetimes and raw identifiers. Not here: numbers, operators, macros; no
//! check needs them.

/// A comment of a source file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Comment {
    /// Line where it starts, counted from 1.
    pub line: usize,
    /// Everything after the opening `//`, `///`, `//!` or `/*`, on all its lines.
    pub text: String,
    /// True for `///`, `//!`, `/**` and `/*!`.
    pub is_doc: bool,
    /// True for `//` of any kind, false for `/* */`.
    pub is_line: bool,
}

/// What the lexer makes of a source file.
#[derive(Clone, Debug)]
pub struct Split {
    /// The source with comments and literals blanked; same length, same lines.
    pub code: String,
    /// Every comment, in order.
    pub comments: Vec<Comment>,
}

/// Splits `text` into code and comments.
pub fn split(text: &str) -> Split {
    let mut lexer = Lexer {
        bytes: text.as_bytes(),
        text,
        at: 0,
        code: Vec::new(),
        comments: Vec::new(),
    };
    while lexer.at < lexer.bytes.len() {
        lexer.step();
    }
    let code = String::from_utf8(lexer.code).expect("only whole tokens are blanked");
    assert_eq!(code.len(), text.len(), "the mask keeps every offset");
    Split {
        code,
        comments: lexer.comments,
    }
}

struct Lexer<'a> {
    bytes: &'a [u8],
    text: &'a str,
    at: usize,
    code: Vec<u8>,
    comments: Vec<Comment>,
}

impl Lexer<'_> {
    /// Consumes one token: a comment, a literal, a word, or one other byte.
    fn step(&mut self) {
        match self.bytes[self.at] {
            b'/' if self.peek(1) == Some(b'/') => self.line_comment(),
            b'/' if self.peek(1) == Some(b'*') => self.block_comment(),
            b'"' => self.blank_to(string_end(self.bytes, self.at)),
            b'\'' => self.quote(),
            byte if is_word(byte) => self.word(),
            _ => self.keep_to(self.at + 1),
        }
    }

    fn peek(&self, ahead: usize) -> Option<u8> {
        self.bytes.get(self.at + ahead).copied()
    }

    fn keep_to(&mut self, end: usize) {
        self.code.extend_from_slice(&self.bytes[self.at..end]);
        self.at = end;
    }

    fn blank_to(&mut self, end: usize) {
        let blank = |&byte: &u8| if byte == b'\n' { b'\n' } else { b' ' };
        self.code.extend(self.bytes[self.at..end].iter().map(blank));
        self.at = end;
    }

    fn line_comment(&mut self) {
        let rest = &self.text[self.at..];
        let end = self.at + rest.find('\n').unwrap_or(rest.len());
        let body = &self.text[self.at + 2..end];
        let is_doc = body.starts_with('!') || (body.starts_with('/') && !body.starts_with("//"));
        let text = if is_doc { &body[1..] } else { body };
        self.push_comment(text.to_owned(), is_doc, true);
        self.blank_to(end);
    }

    fn block_comment(&mut self) {
        let mut depth = 0_usize;
        let mut end = self.at;
        while end < self.bytes.len() {
            match &self.bytes[end..(end + 2).min(self.bytes.len())] {
                b"/*" => (depth, end) = (depth + 1, end + 2),
                b"*/" => (depth, end) = (depth - 1, end + 2),
                _ => end += 1,
            }
            if depth == 0 {
                break;
            }
        }
        let body = &self.text[self.at + 2..end];
        let is_doc = body.starts_with('!') || (body.starts_with('*') && body.len() > 3);
        self.push_comment(body.trim_end_matches("*/").to_owned(), is_doc, false);
        self.blank_to(end);
    }

    fn push_comment(&mut self, text: String, is_doc: bool, is_line: bool) {
        let line = line_of(self.text, self.at);
        self.comments.push(Comment {
            line,
            text,
            is_doc,
            is_line,
        });
    }

    /// A `'` opens a character literal or a lifetime.
    fn quote(&mut self) {
        let rest = &self.text[self.at + 1..];
        let mut chars = rest.chars();
        match (chars.next(), chars.next()) {
            // The byte after the backslash is part of the escape even if it is a quote.
            (Some('\\'), Some(escaped)) => {
                let after = 1 + escaped.len_utf8();
                let close = rest[after..]
                    .find('\'')
                    .map_or(rest.len(), |found| after + found + 1);
                self.blank_to(self.at + 1 + close);
            }
            (Some(inner), Some('\'')) => self.blank_to(self.at + 2 + inner.len_utf8()),
            _ => self.keep_to(self.at + 1),
        }
    }

    /// A word may be the prefix of a literal: `r#"…"#`, `br"…"`, `b'x'`.
    fn word(&mut self) {
        let length = self.bytes[self.at..]
            .iter()
            .take_while(|&&byte| is_word(byte))
            .count();
        let end = self.at + length;
        match &self.text[self.at..end] {
            "r" | "br" | "cr" => match raw_string_end(self.text, end) {
                Some(close) => self.blank_to(close),
                None => self.keep_to(end),
            },
            _ => self.keep_to(end),
        }
    }
}

/// Offset just after the string whose opening quote is at `open`.
fn string_end(bytes: &[u8], open: usize) -> usize {
    let mut at = open + 1;
    while at < bytes.len() {
        match bytes[at] {
            b'\\' => at += 2,
            b'"' => return at + 1,
            _ => at += 1,
        }
    }
    bytes.len()
}

/// Offset just after the raw string whose hashes or quote start at `at`; none if it is no string.
fn raw_string_end(text: &str, at: usize) -> Option<usize> {
    let rest = &text[at..];
    let hashes = rest.bytes().take_while(|&byte| byte == b'#').count();
    let body = rest[hashes..].strip_prefix('"')?;
    let close = format!("\"{}", "#".repeat(hashes));
    let length = body
        .find(&close)
        .map_or(body.len(), |found| found + close.len());
    Some(at + hashes + 1 + length)
}

/// True for bytes of identifiers, keywords and numbers; non-ASCII letters count as words.
pub fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80
}

/// Line of the byte at `offset`, counted from 1.
pub fn line_of(text: &str, offset: usize) -> usize {
    1 + text.as_bytes()[..offset]
        .iter()
        .filter(|&&byte| byte == b'\n')
        .count()
}

/// Offsets where `word` stands in `code` as a whole word.
pub fn words<'a>(code: &'a str, word: &'a str) -> impl Iterator<Item = usize> + 'a {
    let bytes = code.as_bytes();
    code.match_indices(word)
        .map(|(at, _)| at)
        .filter(move |&at| {
            let before = at.checked_sub(1).map(|index| bytes[index]);
            let after = bytes.get(at + word.len()).copied();
            !before.is_some_and(is_word) && !after.is_some_and(is_word)
        })
}

/// Offset of the bracket that closes the one at `open`; the end of `code` if none does.
pub fn closing(code: &str, open: usize) -> usize {
    let mut depth = 0_usize;
    for (index, byte) in code.bytes().enumerate().skip(open) {
        match byte {
            b'{' | b'(' | b'[' => depth += 1,
            b'}' | b')' | b']' => depth = depth.saturating_sub(1),
            _ => continue,
        }
        if depth == 0 {
            return index;
        }
    }
    code.len()
}

#[cfg(test)]
mod tests;
