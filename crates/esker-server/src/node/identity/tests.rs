//! A directory has one owner, and each life of it a number of its own, whatever call fails.

use std::sync::Arc;

use esker::internals::env::sim::fault::FaultFs;
use esker::internals::env::sim::fault_plan::{Calls, Fault, Plan};
use esker::internals::env::sim::{CrashMode, SimWorld};

use super::*;

const DIR: &str = "/node";

fn dir() -> &'static Path {
    Path::new(DIR)
}

fn begin(env: &Env, instance: u64) -> Result<Identity> {
    let next = next_life(env, dir(), instance)?;
    begin_life(env, dir(), next)?;
    Ok(next)
}

#[test]
fn a_directory_has_one_owner_and_lives_that_are_counted() {
    let env = SimWorld::new(1).env();
    assert_eq!(read(&env, dir()).unwrap(), None);
    let error = next_life(&env, dir(), 0).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Invalid);
    create(&env, dir(), 77, NodeId(3)).unwrap();
    for life in 1..=20 {
        // A start that is refused leaves no trace.
        next_life(&env, dir(), 9999).unwrap();
        let identity = begin(&env, 100 + life).unwrap();
        assert_eq!((identity.node, identity.incarnation), (NodeId(3), life));
        let before = (100..100 + life).rev().take(LINEAGE);
        let before: Vec<u64> = before
            .map(|number| if number == 100 { 0 } else { number })
            .collect();
        assert_eq!(identity.before[..before.len()], before);
        assert!(
            identity.before[before.len()..]
                .iter()
                .all(|number| *number == 0)
        );
    }
    assert!(create(&env, dir(), 77, NodeId(4)).is_err());
    assert_eq!(read(&env, dir()).unwrap().unwrap().incarnation, 20);
}

#[test]
fn a_directory_whose_file_is_gone_is_nobodys_new_one() {
    let env = SimWorld::new(1).env();
    env.fs.create_dir_all(&dir().join("raft")).unwrap();
    let error = create(&env, dir(), 1, NodeId(1)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Corruption);
    // Nobody has a copy of the file alone, so another way is named as well.
    let told = error.to_string();
    assert!(told.contains("an empty one and --join of others"), "{told}");
}

#[test]
fn each_changed_bit_is_noticed() {
    let whole = encode(Identity {
        cluster: 5,
        node: NodeId(6),
        incarnation: 7,
        is_settled: true,
        instance: 8,
        before: std::array::from_fn(|at| at as u64),
    });
    for bit in 0..whole.len() * 8 {
        let mut bytes = whole.clone();
        bytes[bit / 8] ^= 1 << (bit % 8);
        assert!(decode(&bytes, dir()).is_err(), "bit {bit}");
    }
}

#[test]
fn a_file_of_the_first_version_is_read() {
    let mut bytes = MAGIC.to_vec();
    bytes.push(1);
    for word in [5u64, 6, 7] {
        bytes.extend_from_slice(&word.to_le_bytes());
    }
    bytes.push(1);
    let crc = crc32c(&bytes);
    bytes.extend_from_slice(&crc.to_le_bytes());
    let known = decode(&bytes, dir()).unwrap();
    assert_eq!(
        (known.cluster, known.node, known.incarnation),
        (5, NodeId(6), 7)
    );
    assert_eq!((known.instance, known.before), (0, [0; LINEAGE]));
}

#[test]
fn no_incarnation_is_used_twice_whatever_call_the_power_fails_at() {
    for skip in 0..12 {
        for mode in CrashMode::ALL {
            let world = SimWorld::new(skip);
            create(&world.env(), dir(), 9, NodeId(1)).unwrap();
            begin(&world.env(), 1).unwrap();
            let faulty = Arc::new(FaultFs::new(Arc::clone(&world.fs) as _, 1));
            faulty.set_plans(vec![Plan::once(Fault::PowerOff, Calls::Mutating, skip)]);
            let told = begin(&world.env_with(faulty), 2);
            let after = world.after_crash(mode, skip);
            let next = begin(&after.env(), 3).unwrap();
            if let Ok(told) = told {
                assert!(next.incarnation > told.incarnation, "{mode:?} {skip}");
            }
            assert!(next.incarnation >= 2);
        }
    }
}
