//! The bytes of a file in the simulated world: read, written anew, and damaged.

use std::path::Path;

use esker::internals::env::fs::Fs;

/// The whole file.
pub fn read(fs: &dyn Fs, path: &Path) -> Vec<u8> {
    let file = fs.open_read(path).unwrap();
    let mut bytes = vec![0; usize::try_from(file.size_bytes()).unwrap()];
    file.read_at(0, &mut bytes).unwrap();
    bytes
}

/// Makes the file of these bytes, and syncs it.
pub fn write(fs: &dyn Fs, path: &Path, bytes: &[u8]) {
    let mut file = fs.create(path).unwrap();
    file.append(bytes).unwrap();
    file.sync().unwrap();
}

/// Changes one bit of the byte at `offset`.
pub fn flip(fs: &dyn Fs, path: &Path, offset: u64) {
    let mut bytes = read(fs, path);
    bytes[usize::try_from(offset).unwrap()] ^= 0x10;
    write(fs, path, &bytes);
}
