//! Asking before something is destroyed.

use std::io::{BufRead, IsTerminal, Write as _};

use crate::fail::{Failure, Outcome};

/// Asks the question at the terminal, unless the flag `--yes` has answered it. Where nobody is at a
/// terminal the flag is needed; a no ends the command with `undone`.
pub fn agree(question: &str, is_insisted: bool, undone: &str) -> Outcome {
    if is_insisted {
        return Ok(());
    }
    let stdin = std::io::stdin();
    if !stdin.is_terminal() || !std::io::stderr().is_terminal() {
        return Err(Failure::usage(format!("{question}? --yes says so")));
    }
    let agreed = is_agreed(question, &mut stdin.lock());
    match agreed.map_err(|error| Failure::system("cannot ask", &error))? {
        true => Ok(()),
        false => Err(Failure::failed(undone)),
    }
}

/// Asks at the terminal; anything but a yes is a no.
fn is_agreed(question: &str, answers: &mut impl BufRead) -> std::io::Result<bool> {
    write!(std::io::stderr(), "{question}? [y/N] ")?;
    let mut answer = String::new();
    answers.read_line(&mut answer)?;
    Ok(matches!(answer.trim(), "y" | "Y" | "yes"))
}

#[cfg(test)]
mod tests;
