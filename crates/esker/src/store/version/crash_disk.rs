//! A simulated directory that stops, fails and crashes where told, for the tests of this folder.

use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard};

use crate::env::fs::Fs;
use crate::env::random::Random;
use crate::env::sim::fault_plan::{Calls, Fault, Plan};
use crate::env::sim::{CrashMode, FaultFs, SimFs};

/// A simulated directory. A crash replaces it by what the crash leaves; files that were open
/// before stay with the disk of before, and fail.
#[derive(Debug)]
pub struct CrashDisk {
    world: Mutex<World>,
    seed: u64,
}

#[derive(Debug)]
struct World {
    sim: SimFs,
    faults: FaultFs,
}

impl World {
    fn over(sim: SimFs, seed: u64) -> World {
        let faults = FaultFs::over_sim(&sim, seed);
        World { sim, faults }
    }
}

impl CrashDisk {
    /// The directory. It is there, and empty.
    pub fn dir() -> &'static Path {
        Path::new("/db")
    }

    /// A disk; `seed` decides what a power cut takes.
    pub fn new(seed: u64) -> CrashDisk {
        let sim = SimFs::new(seed);
        sim.create_dir_all(CrashDisk::dir()).unwrap();
        CrashDisk {
            world: Mutex::new(World::over(sim, seed)),
            seed,
        }
    }

    /// As the engine holds it.
    pub fn fs(&self) -> Arc<dyn Fs> {
        Arc::new(self.world().faults.clone())
    }

    /// Steps since the last crash that changed something or synced.
    pub fn step_count(&self) -> u64 {
        self.world().faults.counts().mutating()
    }

    /// Stops everything during that step; what it was doing may be done, or half.
    pub fn stop_at(&self, step: u64) {
        self.fault_at(step, Fault::PowerOff);
    }

    /// Lets that one step fail.
    pub fn fault_at(&self, step: u64, fault: Fault) {
        let skip = step - self.step_count();
        let plan = Plan::once(fault, Calls::Mutating, skip);
        self.world().faults.set_plans(vec![plan]);
    }

    /// The process is gone; what it wrote is still in the page cache.
    pub fn kill(&self) {
        let mut world = self.world();
        *world = World::over(world.sim.kill(), self.seed);
    }

    /// The power is gone: of what was not synced, any part may be there.
    pub fn cut_power(&self) {
        let mut world = self.world();
        let pick = Random::new(self.seed).below(CrashMode::ALL.len() as u64);
        let mode = CrashMode::ALL[usize::try_from(pick).unwrap()];
        *world = World::over(world.sim.crash(mode, self.seed), self.seed);
    }

    /// What the file holds, if it is there.
    pub fn get(&self, name: &str) -> Option<Vec<u8>> {
        let file = self.fs().open_read(&CrashDisk::dir().join(name)).ok()?;
        let mut bytes = vec![0; usize::try_from(file.size_bytes()).unwrap()];
        file.read_at(0, &mut bytes).unwrap();
        Some(bytes)
    }

    /// Puts a file there, durably.
    pub fn put(&self, name: &str, bytes: &[u8]) {
        self.take(name);
        let fs = self.fs();
        let mut file = fs.create(&CrashDisk::dir().join(name)).unwrap();
        file.append(bytes).unwrap();
        file.sync().unwrap();
        fs.sync_dir(CrashDisk::dir()).unwrap();
    }

    /// Removes a file, durably, if it is there.
    pub fn take(&self, name: &str) {
        let fs = self.fs();
        let path = CrashDisk::dir().join(name);
        if fs.exists(&path).unwrap() {
            fs.remove_file(&path).unwrap();
        }
        fs.sync_dir(CrashDisk::dir()).unwrap();
    }

    fn world(&self) -> MutexGuard<'_, World> {
        self.world.lock().unwrap()
    }
}
