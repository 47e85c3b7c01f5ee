//! The crate as its owner sees it: shards on simulated disks and networks.

mod sim;
mod seeds;
mod storms;
mod planted;
mod rig;
mod checking;
mod traps;
mod leases;
mod alone;
mod going_alone;
mod holding;
mod established;
mod images;
mod scale;
