//! Servers are told alike: memory, durability, and nothing that another has not.

use super::*;

fn line(contender: Contender, durability: Durability) -> String {
    contender.options(64 << 20, durability).join("\n")
}

#[test]
fn each_engine_gets_the_same_memory_under_its_own_name() {
    let memory = [
        (Contender::Esker, "--esker-memory-limit=67108864"),
        (Contender::Innodb, "--innodb-buffer-pool-size=67108864"),
        (
            Contender::InnodbPacked,
            "--innodb-buffer-pool-size=67108864",
        ),
        (Contender::MyrocksLz4, "--rocksdb-block-cache-size=67108864"),
        (
            Contender::MyrocksZstd,
            "--rocksdb-block-cache-size=67108864",
        ),
    ];
    for (contender, option) in memory {
        let told = line(contender, Durability::Buffered);
        assert!(told.contains(option), "{told}");
        // No server has the memory twice.
        assert_eq!(told.matches("=67108864").count(), 1, "{told}");
    }
}

#[test]
fn each_engine_syncs_when_all_do() {
    let words = [
        ("--esker-durability=buffered", "--esker-durability=sync"),
        ("trx-commit=2", "trx-commit=1"),
    ];
    for contender in Contender::ALL {
        let (buffered, synced) = match contender {
            Contender::Esker => words[0],
            _ => words[1],
        };
        assert!(line(contender, Durability::Buffered).contains(buffered));
        let told = line(contender, Durability::Synced);
        assert!(
            told.contains(synced) && !told.contains("--log-bin"),
            "{told}"
        );
        let told = line(contender, Durability::SyncedWithBinlog);
        assert!(
            told.contains(synced) && told.contains("--sync-binlog=1"),
            "{told}"
        );
    }
}

#[test]
fn tables_and_directories_are_of_the_engine_that_is_loaded() {
    for contender in Contender::ALL {
        let is_plugin = contender.plugin().is_some();
        assert_eq!(contender.files().starts_with('#'), is_plugin);
        assert_eq!(contender.table_words().contains("InnoDB"), !is_plugin);
    }
    let zstd = line(Contender::MyrocksZstd, Durability::Buffered);
    assert!(zstd.contains("bottommost_compression=kZSTD;"), "{zstd}");
}

#[test]
fn each_engine_is_asked_for_work_of_its_own() {
    let words = [
        (Contender::Esker, "ESKER_PENDING_WORK"),
        (Contender::Innodb, "INNODB_BUFFER_POOL_PAGES_DIRTY"),
        (Contender::MyrocksLz4, "ROCKSDB_CFSTATS"),
    ];
    for (contender, word) in words {
        assert!(contender.pending().contains(word), "{contender:?}");
        // InnoDB alone keeps changed pages in memory until it is told otherwise.
        assert_eq!(
            contender.flushing().is_some(),
            contender == Contender::Innodb
        );
    }
}
