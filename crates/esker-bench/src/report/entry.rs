//! `esker bench report`: records in, pages, charts and comparisons out.

use std::path::Path;

use crate::console::Console;
use crate::fail::{Failure, Outcome};
use crate::report::chart::main_chart::{self, Panel};
use crate::report::chart::style;
use crate::report::comparison::Pair;
use crate::report::page::report;
use crate::report::record::Record;
use crate::report::request::{Request, help};
use crate::report::study::contrast::contrast;
use crate::report::study::workloads::Study;
use crate::report::{date, file, history, json};

/// Carries out the words behind `esker bench report`.
pub fn run(words: &[String], console: &mut Console<'_>) -> Outcome {
    let Some(request) = Request::parse(words)? else {
        return Ok(console.out.write_all(help().as_bytes())?);
    };
    if request.is_history() {
        return draw_newest(&request, console);
    }
    let read = |path: &Path| read_only(path, &request.only);
    let first = read(request.first())?;
    let second = request.second().map(read).transpose()?;
    for path in request.outputs() {
        file::check_writable(path)?;
    }
    match second {
        Some(second) => compare(&request, &first, &second, console),
        None => show(&request, &first, console),
    }
}

/// The record in `path` with the workloads of these names; with all if there are no names.
fn read_only(path: &Path, names: &[String]) -> Outcome<Record> {
    let mut record = json::read(path)?;
    let there = record.measurements.iter().map(|one| &*one.name);
    check_names(path, names, there.collect())?;
    let is_wanted = |name: &String| names.is_empty() || names.contains(name);
    record.measurements.retain(|one| is_wanted(&one.name));
    record.verdicts.retain(|one| is_wanted(&one.line));
    Ok(record)
}

/// Fails for a name that is not among those of the workloads in `path`.
fn check_names(path: &Path, names: &[String], mut there: Vec<&str>) -> Outcome {
    let Some(name) = names.iter().find(|name| !there.contains(&name.as_str())) else {
        return Ok(());
    };
    there.sort_unstable();
    there.dedup();
    Err(Failure::usage(format!(
        "there is no workload `{name}` in {}; there is {}",
        path.display(),
        there.join(", ")
    )))
}

/// Draws the newest run of a history.
fn draw_newest(request: &Request, console: &mut Console<'_>) -> Outcome {
    let path = request.first();
    let Some(mut run) = history::read(path)?.pop() else {
        let told = format!("{} holds no run; keep one first", path.display());
        return Err(Failure::usage(told));
    };
    let there = run.ratios.iter().map(|(name, _)| name.as_str());
    check_names(path, &request.only, there.collect())?;
    run.ratios
        .retain(|(name, _)| request.only.is_empty() || request.only.contains(name));
    let foot = [
        "times as fast, the median over the rounds of one run".to_owned(),
        format!("{}; commit {}", date::utc(run.started_unix_s), run.commit),
    ];
    let panel = main_chart::newest(&run);
    file::check_writable(request.svg.as_deref().unwrap_or(path))?;
    let heading = panel.title.clone();
    chart(request, &[panel], &heading, &foot)?;
    told(request, console)
}

/// Writes the page of `record` to `path`, for other commands that have one.
pub fn write_page(path: &Path, record: &Record) -> Outcome {
    file::write(path, report::write(record).as_bytes())
}

fn show(request: &Request, record: &Record, console: &mut Console<'_>) -> Outcome {
    if let Some(path) = &request.html {
        write_page(path, record)?;
    }
    let study = Study::of(record);
    let panels = main_chart::panels(&study);
    let heading = report::title(&study);
    chart(request, &panels, &heading, &foot(&study))?;
    told(request, console)
}

fn compare(
    request: &Request,
    before: &Record,
    after: &Record,
    console: &mut Console<'_>,
) -> Outcome {
    let name = |path: Option<&Path>| path.map_or(String::new(), |path| path.display().to_string());
    let (before_name, after_name) = (name(Some(request.first())), name(request.second()));
    let pair = Pair {
        before: (&before_name, before),
        after: (&after_name, after),
        contrast: &contrast(&Study::of(before), &Study::of(after)),
    };
    let text = match request.is_json {
        true => format!("{:#}\n", pair.json()),
        false => pair.text(),
    };
    Ok(console.out.write_all(text.as_bytes())?)
}

/// The chart in the file that is asked for.
fn chart(request: &Request, panels: &[Panel], heading: &str, foot: &[String]) -> Outcome {
    let Some(path) = &request.svg else {
        return Ok(());
    };
    if panels.is_empty() {
        return Err(Failure::usage(format!(
            "{} holds nothing to draw; run a benchmark that measures something",
            request.first().display()
        )));
    }
    let svg = main_chart::in_file(panels, &style::of_file(), heading, foot);
    file::write(path, svg.as_bytes())
}

/// What stands below the chart of a run: so that it still says what it is when it is alone.
fn foot(study: &Study<'_>) -> Vec<String> {
    let record = study.record;
    let mut foot = vec![report::summary(study)];
    let facts = [
        date::utc(record.started_unix_s),
        match record.commit.as_str() {
            "" => String::new(),
            commit => format!("commit {commit}"),
        },
        match record.is_optimised {
            true => String::new(),
            false => "BUILT WITHOUT OPTIMISATION".into(),
        },
    ];
    let facts: Vec<String> = facts.into_iter().filter(|it| !it.is_empty()).collect();
    if !facts.is_empty() {
        foot.push(facts.join(", "));
    }
    foot
}

/// The paths of what was written, one a line.
fn told(request: &Request, console: &mut Console<'_>) -> Outcome {
    for path in request.outputs() {
        writeln!(console.out, "{}", path.display())?;
    }
    Ok(())
}
