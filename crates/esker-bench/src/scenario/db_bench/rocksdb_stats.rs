//! An engine's counters in the lines of RocksDB's statistics, which scripts read.

use std::time::Duration;

use crate::target::counters::{Counters, LevelShape};

const GIB: f64 = (1_u64 << 30) as f64;
const MIB: f64 = (1_u64 << 20) as f64;

/// The text of `rocksdb.stats`: since opening, which was `uptime` ago, and since the last time it
/// was asked for, `interval` ago with the counters `before`. What is not known of one level stands
/// as 0.
pub fn stats(now: &Counters, before: &Counters, uptime: Duration, interval: Duration) -> String {
    let mut text = String::from("\n** Compaction Stats [default] **\n");
    text += "Level    Files   Size     Score Read(GB)  Rn(GB) Rnp1(GB) Write(GB) WPreComp(GB) \
             Wnew(GB) Moved(GB) W-Amp Rd(MB/s) Wr(MB/s) Comp(sec) CompMergeCPU(sec) Comp(cnt) \
             Avg(sec) KeyIn KeyDrop Rblob(GB) Wblob(GB)\n";
    let rule = text.lines().last().map_or(0, str::len);
    text.extend(std::iter::repeat_n('-', rule));
    text.push('\n');
    for level in &now.levels {
        row(
            &mut text,
            &format!("L{}", level.depth),
            level,
            &Work::default(),
        );
    }
    let mut sum = LevelShape::default();
    for level in &now.levels {
        sum.file_count += level.file_count;
        sum.size_bytes += level.size_bytes;
    }
    let all = Work::between(&Counters::default(), now);
    let recent = Work::between(before, now);
    row(&mut text, " Sum", &sum, &all);
    row(&mut text, " Int", &LevelShape::default(), &recent);
    text += "\nBlob file count: 0, total size: 0.0 GB, garbage size: 0.0 GB, space amp: 0.0\n\n";
    let (up, since) = (uptime.as_secs_f64(), interval.as_secs_f64());
    text += &format!("Uptime(secs): {up:.1} total, {since:.1} interval\n");
    text += &format!(
        "Flush(GB): cumulative {:.3}, interval {:.3}\n",
        all.flushed / GIB,
        recent.flushed / GIB
    );
    text += "AddFile(GB): cumulative 0.000, interval 0.000\n";
    for (word, work, seconds) in [("Cumulative", &all, up), ("Interval", &recent, since)] {
        let per = seconds.max(1e-9);
        text += &format!(
            "{word} compaction: {:.2} GB write, {:.2} MB/s write, {:.2} GB read, {:.2} MB/s read, \
             {:.1} seconds\n",
            work.written() / GIB,
            work.written() / MIB / per,
            work.read / GIB,
            work.read / MIB / per,
            work.seconds
        );
    }
    let stalled = now.stall_count.unwrap_or(0);
    text += &format!("Write Stall (count): total-delays: {stalled}, total-stops: 0\n");
    text += "\n** DB Stats **\n";
    text += &format!("Uptime(secs): {up:.1} total, {since:.1} interval\n");
    for (word, work, seconds) in [("Cumulative", &all, up), ("Interval", &recent, since)] {
        writes(&mut text, word, work, seconds.max(1e-9));
    }
    text
}

fn writes(text: &mut String, word: &str, work: &Work, seconds: f64) {
    let groups = work.groups.max(1.0);
    *text += &format!(
        "{word} writes: {} writes, {} keys, {} commit groups, {:.1} writes per commit group, \
         ingest: {:.2} GB, {:.2} MB/s\n",
        short(work.batches),
        short(work.entries),
        short(work.groups),
        work.batches / groups,
        work.user / GIB,
        work.user / MIB / seconds
    );
    *text += &format!(
        "{word} WAL: {} writes, {} syncs, {:.2} writes per sync, written: {:.2} GB, {:.2} MB/s\n",
        short(work.batches),
        work.syncs,
        work.batches / work.syncs.max(1.0),
        work.wal / GIB,
        work.wal / MIB / seconds
    );
    let (hours, rest) = ((work.stall / 3600.0).floor(), work.stall % 3600.0);
    *text += &format!(
        "{word} stall: {hours:02}:{:02}:{:06.3} H:M:S, {:.1} percent\n",
        (rest / 60.0).floor(),
        rest % 60.0,
        work.stall * 100.0 / seconds
    );
}

/// What a store did, as far as it tells.
#[derive(Clone, Copy, Default)]
struct Work {
    batches: f64,
    entries: f64,
    groups: f64,
    user: f64,
    wal: f64,
    syncs: f64,
    flushed: f64,
    compacted: f64,
    read: f64,
    seconds: f64,
    compactions: f64,
    dropped: f64,
    stall: f64,
}

impl Work {
    fn between(before: &Counters, now: &Counters) -> Work {
        let own = |name: &str| {
            let name = format!("esker_{name}_total");
            now.own(&name) as f64 - before.own(&name) as f64
        };
        let moved = |of: fn(&Counters) -> f64| of(now) - of(before);
        Work {
            batches: own("write_batches"),
            entries: own("write_entries"),
            groups: own("write_groups"),
            user: moved(|it| it.user_bytes.unwrap_or(0) as f64),
            wal: own("wal_bytes"),
            syncs: own("wal_syncs"),
            flushed: own("flush_bytes"),
            compacted: own("compaction_written_bytes"),
            read: own("compaction_read_bytes"),
            seconds: (own("compaction_seconds") + own("flush_seconds")) / 1e9,
            compactions: own("compactions") + own("flushes"),
            dropped: own("compaction_dropped_entries"),
            stall: moved(|it| it.stall.unwrap_or_default().as_secs_f64()),
        }
    }

    /// RocksDB counts flushes among compactions.
    fn written(&self) -> f64 {
        self.flushed + self.compacted
    }
}

fn row(text: &mut String, name: &str, level: &LevelShape, work: &Work) {
    let seconds = work.seconds.max(1e-9);
    let amplification = work.written() / work.flushed.max(1.0);
    let amplification = if work.flushed > 0.0 {
        amplification
    } else {
        0.0
    };
    *text += &format!(
        "{name:>4} {:6}/{:<3} {:>10} {:5.1} {:8.1} {:7.1} {:8.1} {:9.1} {:9.1} {:8.1} {:9.1} \
         {:5.1} {:8.1} {:8.1} {:9.2} {:17.2} {:9} {:8.3} {:>7} {:>6} {:9.1} {:9.1}\n",
        level.file_count,
        0,
        size(level.size_bytes),
        level.score,
        work.read / GIB,
        0.0,
        0.0,
        work.written() / GIB,
        0.0,
        0.0,
        0.0,
        amplification,
        work.read / MIB / seconds,
        work.written() / MIB / seconds,
        work.seconds,
        0.0,
        work.compactions,
        work.seconds / work.compactions.max(1.0),
        0,
        short(work.dropped),
        0.0,
        0.0
    );
}

fn size(bytes: u64) -> String {
    let bytes = bytes as f64;
    match bytes {
        bytes if bytes >= GIB => format!("{:.2} GB", bytes / GIB),
        bytes if bytes >= MIB => format!("{:.2} MB", bytes / MIB),
        bytes => format!("{:.2} KB", bytes / 1024.0),
    }
}

fn short(count: f64) -> String {
    match count {
        count if count >= 1e10 => format!("{:.0}G", count / 1e9),
        count if count >= 1e7 => format!("{:.0}M", count / 1e6),
        count if count >= 1e4 => format!("{:.0}K", count / 1e3),
        count => format!("{count:.0}"),
    }
}

/// RocksDB's tickers that the engine has too, and its own name for each.
const TICKERS: [(&str, &str); 11] = [
    ("rocksdb.block.cache.miss", "esker_block_cache_misses_total"),
    ("rocksdb.block.cache.hit", "esker_block_cache_hits_total"),
    ("rocksdb.number.keys.read", "esker_gets_total"),
    ("rocksdb.number.keys.written", "esker_write_entries_total"),
    ("rocksdb.bytes.written", "esker_write_bytes_total"),
    ("rocksdb.number.db.seek", "esker_seeks_total"),
    ("rocksdb.number.db.next", "esker_steps_total"),
    ("rocksdb.wal.bytes", "esker_wal_bytes_total"),
    ("rocksdb.flush.write.bytes", "esker_flush_bytes_total"),
    (
        "rocksdb.compact.read.bytes",
        "esker_compaction_read_bytes_total",
    ),
    (
        "rocksdb.compact.write.bytes",
        "esker_compaction_written_bytes_total",
    ),
];

/// What `--statistics` prints at the end: tickers by RocksDB's names where the engine counts the
/// same thing, then everything it counts by its own.
pub fn statistics(counters: &Counters) -> String {
    let mut text = String::from("STATISTICS:\n");
    for (name, own) in TICKERS {
        text += &format!("{name} COUNT : {}\n", counters.own(own));
    }
    let stall = counters.stall.unwrap_or_default().as_micros();
    text += &format!("rocksdb.stall.micros COUNT : {stall}\n");
    for (name, value) in &counters.own {
        text += &format!("{name} COUNT : {value}\n");
    }
    text
}
