//! Scripts of compaction: a keyspace is filled and flushed, `pick` tells and takes a step.

use std::collections::HashSet;
use std::fmt::Write;
use std::sync::Arc;

use esker::internals::base::hooks::event_reasons::CompactionKind;
use esker::internals::base::options::keyspace::CompactionOptions;
use esker::internals::base::types::comparator::Comparator;
use esker::internals::base::types::kind::Kind;
use esker::internals::base::types::range::KeyRange;
use esker::internals::flow::compact::job::{JobContext, Part, edit_of, run_part};
use esker::internals::flow::compact::leveled::CompactionPicker;
use esker::internals::flow::compact::plan::Plan;

use crate::scripts::text::{moment, number};
use crate::scripts::tree::{KEYSPACE, Tree};
use crate::scripts::{Stage, run_scripts};

#[test]
fn compactions_tell_their_story() {
    // Every script in tests/scripts/compact*.txt.
    run_scripts("compact", CompactStage::new);
}

struct CompactStage {
    tree: Tree,
    options: CompactionOptions,
}

impl CompactStage {
    fn new() -> CompactStage {
        let options = CompactionOptions {
            l0_trigger: 2,
            base_level_bytes: 8_000,
            level_growth: 4,
            ..CompactionOptions::default()
        };
        CompactStage {
            tree: Tree::new(None),
            options,
        }
    }

    /// Picks, tells, runs and shows what is there then; says whether there was anything.
    fn step(&mut self, range: Option<&KeyRange>, out: &mut String) -> bool {
        let tree = &mut self.tree;
        let view = tree.current.view();
        let picker = CompactionPicker {
            keyspace: KEYSPACE,
            levels: &view.parts().levels,
            comparator: &Comparator::Bytewise,
            options: &self.options,
            busy: &HashSet::new(),
            claims: &[],
            snapshots: tree.snapshots.clone(),
            oldest_snapshot: tree.snapshots.first().copied().unwrap_or(tree.seqno),
            now_unix_s: tree.settings.env.clock.unix_seconds(),
            is_searchable_wanted: false,
            file_size_bytes: 32 << 20,
            is_joining_useful: true,
            is_retaining: false,
        };
        let plan = match range {
            None => picker.pick(),
            Some(range) => picker.pick_range(range),
        };
        let Some(plan) = plan else {
            writeln!(out, "nothing to do").unwrap();
            return false;
        };
        tell(&plan, out);
        let context = JobContext {
            window_bytes: 64 << 10,
            settings: tree.settings.clone(),
            merge: None,
            retaining: None,
            now_unix_ms: tree.settings.env.clock.unix_millis(),
            snapshots: tree.snapshots.clone(),
            view,
            obsolete: Vec::new(),
            may_go_on: Arc::new(|| Ok(())),
        };
        let results = match plan.kind {
            CompactionKind::Merge => vec![run_part(&plan, &Part::default(), &context).unwrap()],
            _ => Vec::new(),
        };
        tree.install(edit_of(&plan, results), 0);
        tree.show(out);
        true
    }
}

impl Stage for CompactStage {
    fn run(&mut self, words: &[&str], out: &mut String) -> Result<(), String> {
        // A value of 100 bytes: about 17 entries fill a file.
        let value = [b'v'; 100];
        let tree = &mut self.tree;
        match words {
            ["put", keys @ ..] => keys
                .iter()
                .for_each(|key| tree.write(Kind::Put, key, &value)),
            ["delete", keys @ ..] => keys
                .iter()
                .for_each(|key| tree.write(Kind::Delete, key, b"")),
            ["expire", at, keys @ ..] => {
                let end = moment(at)?;
                let raw = end.join(&value);
                keys.iter()
                    .for_each(|key| tree.write(end.put_kind(), key, &raw));
            }
            ["delete_range", start, end] => {
                tree.write(Kind::RangeDelete, start, end.as_bytes());
            }
            ["fill", prefix, from, to] => {
                for key in number::<u32>(from)?..number(to)? {
                    tree.write(Kind::Put, &format!("{prefix}{key:03}"), &value);
                }
            }
            ["clear", prefix, from, to] => {
                for key in number::<u32>(from)?..number(to)? {
                    tree.write(Kind::Delete, &format!("{prefix}{key:03}"), b"");
                }
            }
            ["flush"] => {
                tree.seal();
                tree.flush_sealed();
            }
            ["file_size", bytes] => tree.settings.sst.file_size_bytes = number(bytes)?,
            ["clock", at] => tree.set_clock(moment(at)?),
            ["snapshot"] => tree.snapshots.push(tree.seqno),
            ["release"] => tree.snapshots.clear(),
            ["levels"] => tree.show(out),
            ["pick"] => {
                self.step(None, out);
            }
            ["settle"] => while self.step(None, out) {},
            ["compact", start, end] => {
                self.step(Some(&KeyRange::new(start.as_bytes()..=end.as_bytes())), out);
            }
            _ => return Err("no such command".into()),
        }
        Ok(())
    }
}

fn tell(plan: &Plan, out: &mut String) {
    let inputs: Vec<String> = (plan.inputs.iter())
        .flat_map(|input| input.runs.iter().map(move |files| (input.level, files)))
        .map(|(level, files)| {
            let numbers: Vec<String> = files.iter().map(|file| file.number.0.to_string()).collect();
            format!("{level} {}", numbers.join(" "))
        })
        .collect();
    let (kind, reason) = (plan.kind, plan.reason);
    let (inputs, output) = (inputs.join(" + "), plan.output);
    writeln!(out, "{kind:?} {inputs} -> {output}, for {reason:?}").unwrap();
}
