//! What a shell wants once: completions and manual pages.

use std::fs;
use std::path::PathBuf;

use clap::{Args, Command};
use clap_complete::Shell;
use clap_mangen::Man as Page;

use crate::fail::{Failure, Outcome};
use crate::out::Out;

/// Print completions for a shell
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  esker completions bash > ~/.local/share/bash-completion/completions/esker
  esker completions zsh > \"${fpath[1]}/_esker\"
  esker completions fish > ~/.config/fish/completions/esker.fish")]
pub struct Completions {
    /// The shell
    shell: Shell,
}

/// Prints the completions of the command line `cli`.
pub fn completions(args: &Completions, cli: &mut Command) -> Outcome {
    let mut text = Vec::new();
    clap_complete::generate(args.shell, cli, "esker", &mut text);
    let mut out = Out::lock();
    out.raw(&text)?;
    Ok(out.finish()?)
}

/// Print the manual page, or write one for each command
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  esker man | man -l -                     read it
  esker man --dir ~/.local/share/man/man1  esker.1, esker-get.1, esker-put.1, …")]
pub struct Man {
    /// Write a page for each command into this directory
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,
}

/// Prints or writes manual pages of the command line `cli`.
pub fn man(args: &Man, cli: Command) -> Outcome {
    let Some(dir) = &args.dir else {
        let mut text = Vec::new();
        Page::new(cli).render(&mut text)?;
        let mut out = Out::lock();
        out.raw(&text)?;
        return Ok(out.finish()?);
    };
    let written = fs::create_dir_all(dir).and_then(|()| clap_mangen::generate_to(cli, dir));
    written.map_err(|error| {
        Failure::system(format!("cannot write pages to {}", dir.display()), &error)
    })
}
