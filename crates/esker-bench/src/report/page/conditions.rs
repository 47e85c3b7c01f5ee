//! The section of conditions: command, commit, machine, workloads, and settings as given.

use crate::quantity;
use crate::report::chart::paint::escape;
use crate::report::page::markup::{Cell, Table, folded, quiet, terms};
use crate::report::page::shell::Section;
use crate::report::record::Record;
use crate::report::study::workloads::Study;
use crate::target::settings::Matched;

/// The section.
pub fn section(study: &Study<'_>) -> Section {
    let mut body = facts(study.record);
    body += &settings(study);
    body += &folded("What each workload was", &workloads(study).html());
    Section::new("How it was measured", body)
}

/// Build, machine and command.
fn facts(record: &Record) -> String {
    let machine = &record.machine;
    let memory = match machine.memory_bytes {
        0 => String::new(),
        bytes => quantity::bytes(bytes as f64),
    };
    let build = match record.is_optimised {
        true => record.commit.clone(),
        false => format!("{}, built without optimisation", record.commit),
    };
    let mut text = terms(&[
        ("processors", machine.processors()),
        ("their cache", machine.cpu_cache.clone()),
        ("memory", memory),
        ("disk", machine.disk.clone()),
        ("kernel", machine.kernel.clone()),
        ("host", machine.host.clone()),
        ("commit", build),
    ]);
    if let Some(first) = record.command.first() {
        // The tool's name may end with the word that the command begins with.
        let tool = record.tool.strip_suffix(first).unwrap_or(&record.tool);
        let words = format!("{} {}", tool.trim(), record.command.join(" "));
        text += &format!("<pre>{}</pre>\n", escape(words.trim()));
    }
    text
}

/// What every engine was told and what it made of that.
fn settings(study: &Study<'_>) -> String {
    let mut text = String::new();
    for (place, seat) in study.seats.iter().enumerate() {
        let mut cells = study.workloads.iter().filter_map(|it| it.cell(place));
        let all = cells.find_map(|cell| {
            let settings = &cell.rounds.first()?.settings;
            (!settings.is_empty()).then_some(settings)
        });
        if let Some(all) = all {
            let title = format!("What {} made of the settings", seat.full());
            text += &folded(&title, &table(all).html());
        }
    }
    text
}

fn table(all: &[Matched]) -> Table {
    let mut table = Table::of_words(["setting", "asked", "given", "note"]);
    for one in all {
        table.row([
            Cell::from(one.wish.replace('_', " ")),
            one.wished.as_str().into(),
            match one.has_effect() {
                true => one.given.as_str().into(),
                false => quiet("nothing like it"),
            },
            quiet(one.note.clone()),
        ]);
    }
    table
}

fn workloads(study: &Study<'_>) -> Table {
    let mut table = Table::of_words(["workload", "threads", "operations", "loop", "described as"]);
    for workload in &study.workloads {
        let Some(one) = workload.first() else {
            continue;
        };
        let fields = one.workload.iter();
        let fields: Vec<String> = fields
            .map(|(name, text)| format!("{} {text}", name.replace('_', " ")))
            .collect();
        let mut described = fields.join(", ");
        if one.is_verified {
            described += "; every value read was checked";
        }
        if !one.message.is_empty() {
            described += &format!("; {}", one.message);
        }
        table.row([
            workload.label.clone(),
            one.threads.to_string(),
            quantity::exact(one.ops),
            match one.target_rate {
                Some(rate) => format!("open, {}/s", quantity::count(rate)),
                None => "closed".into(),
            },
            described,
        ]);
    }
    table
}
