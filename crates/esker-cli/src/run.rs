//! From the words of the command line to the command, and from its outcome to an exit code.

use std::ffi::OsString;
use std::io::Write;
use std::process::ExitCode;

use clap::{CommandFactory, Parser};

use crate::cli::{Cli, Command};
use crate::commands::{
    batch, bench, care, checkpoint, dump, file_sets, inspect, keyspaces, load, look, prepared,
    read, repair, settings, setup, write,
};
use crate::demo;
use crate::fail::{Code, Failure, Outcome};
use crate::plugins::Plugins;
use crate::remote::{balance, kv, node, table};
use crate::serving::{cluster, serve};

/// Runs the command that this process was started with.
pub fn run() -> ExitCode {
    run_with(Plugins::default())
}

/// As [`run`], for keyspaces whose orders and operators the program brings.
pub fn run_with(plugins: Plugins) -> ExitCode {
    match carry_out_words(plugins, std::env::args_os()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => failure.report(),
    }
}

fn carry_out_words(plugins: Plugins, words: impl IntoIterator<Item = OsString>) -> Outcome {
    match Cli::try_parse_from(words) {
        Ok(mut cli) => {
            cli.shared.plugins = plugins;
            carry_out(&cli)
        }
        Err(told) => show(&told),
    }
}

/// Prints what the parser has to say: help on standard output, or what is wrong with the words.
fn show(told: &clap::Error) -> Outcome {
    let printed = told.print().and_then(|()| std::io::stdout().flush());
    match told.use_stderr() {
        // Where nobody listens, the exit code says it.
        true => Err(Failure::Silent(Code::Usage)),
        false => Ok(printed?),
    }
}

fn carry_out(cli: &Cli) -> Outcome {
    let shared = &cli.shared;
    match &cli.command {
        Command::Get(args) => read::get(shared, args),
        Command::Put(args) => write::put(shared, args),
        Command::Merge(args) => write::merge(shared, args),
        Command::Batch(args) => batch::batch(shared, args),
        Command::Expiry(args) => read::expiry(shared, args),
        Command::Keyspaces(args) => keyspaces::keyspaces(shared, args),
        Command::Prepared(args) => prepared::prepared(shared, args),
        Command::Delete(args) => write::delete(shared, args),
        Command::Scan(args) => read::scan(shared, args),
        Command::Count(args) => read::count(shared, args),
        Command::Load(args) => load::load(shared, args),
        Command::Dump(args) => dump::dump(shared, args),
        Command::Stats(args) => look::stats(shared, args),
        Command::Levels(args) => look::levels(shared, args),
        Command::Compact(args) => care::compact(shared, args),
        Command::Checkpoint(args) => checkpoint::checkpoint(shared, args),
        Command::Export(args) => file_sets::export(shared, args),
        Command::Ingest(args) => file_sets::ingest(shared, args),
        Command::Verify(_) => care::verify(shared),
        Command::Repair(args) => repair::repair(shared, args),
        Command::Inspect(args) => inspect::inspect(shared, args),
        Command::Settings(args) => settings::settings(shared, args),
        Command::Kv(args) => kv::kv(shared, args),
        Command::Table(args) => table::table(shared, args),
        Command::Node(args) => node::node(shared, args),
        Command::Balance(args) => balance::balance(shared, args),
        Command::Serve(args) => serve::serve(shared, args),
        Command::Cluster(args) => cluster::cluster(shared, args),
        Command::Bench(args) => bench::bench(args),
        Command::Demo(args) => demo::demo(shared, args),
        Command::Completions(args) => setup::completions(args, &mut Cli::command()),
        Command::Man(args) => setup::man(args, Cli::command()),
        Command::DemoWriter(args) => demo::demo_writer(shared, args),
    }
}

#[cfg(test)]
mod tests;
