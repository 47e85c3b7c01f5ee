//! Tests of `config`.

use super::*;

fn fields() -> Fields {
    Fields {
        disk_path: Some("store/disk_file".into()),
        image_path: Some("store/IMAGE_file".into()),
        horizon_bytes: 100 << 20,
        buffer_bytes: 700 << 20,
        ..Fields::default()
    }
}

fn refused(change: impl FnOnce(&mut Fields)) -> String {
    let mut fields = fields();
    change(&mut fields);
    Config::check(fields).unwrap_err().to_string()
}

#[test]
fn what_the_original_refuses_is_refused() {
    // A buffer of 50 MiB or less, a horizon that is not below it, and what cannot be a path.
    assert!(refused(|it| it.buffer_bytes = BUFFER_BYTES_MIN).contains("buffer_size"));
    assert!(refused(|it| it.buffer_bytes = -1).contains("buffer_size"));
    assert!(refused(|it| it.horizon_bytes = it.buffer_bytes).contains("buffer_horizon_size"));
    assert!(refused(|it| it.init_type = 2).contains("init_type"));
    assert!(refused(|it| it.init_type = -1).contains("init_type"));
    assert!(refused(|it| it.disk_path = None).contains("disk_file_path is NULL"));
    assert!(refused(|it| it.image_path = Some("".into())).contains("IMAGE_file_path is empty"));
}

#[test]
fn what_the_original_takes_is_taken() {
    // One byte above 50 MiB; a horizon one below; a horizon of ten bytes, of none, and less.
    for (horizon, buffer) in [
        (BUFFER_BYTES_MIN, BUFFER_BYTES_MIN + 1),
        (10, 100 << 20),
        (0, i32::MAX),
        (-5, i32::MAX),
    ] {
        let config = Config::check(Fields {
            horizon_bytes: horizon,
            buffer_bytes: buffer,
            ..fields()
        });
        let config = config.unwrap();
        assert_eq!(config.start, Start::Create);
        assert_eq!(config.key_count_max, None);
        // The engine knows every setting, and takes each value.
        let builder = config
            .settings()
            .into_iter()
            .try_fold(esker::Db::builder("db"), |builder, (name, text)| {
                builder.set(name, &text)
            });
        assert!(builder.is_ok(), "{builder:?}");
    }
}

#[test]
fn the_directory_lies_beside_the_disk_file() {
    // Whatever the name ends with, `.d` comes behind it.
    let config = Config::check(Fields {
        disk_path: Some("there/disk.file".into()),
        is_strict: true,
        ..fields()
    });
    let config = config.unwrap();
    assert_eq!(config.dir(), PathBuf::from("there/disk.file.d"));
    assert_eq!(config.key_count_max, Some(KEY_COUNT_MAX));
}
