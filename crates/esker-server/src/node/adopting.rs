//! What the state machines do about images: make one, switch to one, drop what is not needed.

use esker::Result;
use esker_raft::Member;

use crate::node::applying::Applying;
use crate::node::ask::Ask;
use crate::node::images::missing;
use crate::node::keyspace_name::ReplicaKeyspace;

impl Applying {
    // A snapshot between two entries, so that its mark is known. Whether or not there is one,
    // consensus is told: it waits for that before it wants another.
    pub(crate) fn make_image(&mut self, member: Member, index: u64) {
        let found = self.machines.get(&member.group);
        let machine = found.filter(|machine| {
            machine.member == member && machine.replica.mark().raft.applied.index >= index
        });
        let made = machine.map(|machine| {
            let mark = machine.replica.mark();
            let rows = self.db.snapshot().of(machine.replica.keyspace());
            self.images.offer(member, rows, mark);
            mark.raft.applied.index
        });
        self.out.asks.push(Ask::ImageMade(member, made));
    }

    // The image becomes the state. It lies in files, and the log's new beginning, which is saved
    // behind this, makes the switch durable; a crash before that leaves the old state with its log.
    pub(crate) fn install(&mut self, member: Member, index: u64) -> Result<()> {
        let arrived = self.images.take_arrived(member, index);
        let arrived = arrived.ok_or_else(|| missing(member, index))?;
        let known = self.machines.get(&member.group);
        if known.is_none_or(|machine| machine.member != member) {
            // It was retired meanwhile, and takes no part any more.
            return Ok(());
        }
        assert!(
            known.is_none_or(|machine| machine.queue.is_empty()),
            "entries of before an image are applied before it"
        );
        self.open(arrived.keyspace, arrived.mark)
    }

    pub(crate) fn drop_replaced(&mut self, member: Member) -> Result<()> {
        let own = self.own_keyspace(member);
        for name in self.db.keyspaces() {
            let keyspace = ReplicaKeyspace::parse(&name).filter(|it| it.member == member);
            // A newer image may be on its way already.
            let is_older = |other: ReplicaKeyspace| own.is_some_and(|own| other.image < own.image);
            if keyspace.is_some_and(is_older) {
                self.db.drop_keyspace(&name)?;
            }
        }
        Ok(())
    }

    pub(crate) fn drop_image(&mut self, member: Member, index: u64) -> Result<()> {
        let image = ReplicaKeyspace {
            member,
            image: Some(index),
        };
        // What has arrived and is not needed is forgotten with its keyspace.
        drop(self.images.take_arrived(member, index));
        let is_own = self.own_keyspace(member) == Some(image);
        if !is_own && self.db.existing_keyspace(&image.name()).is_some() {
            self.db.drop_keyspace(&image.name())?;
        }
        Ok(())
    }

    fn own_keyspace(&self, member: Member) -> Option<ReplicaKeyspace> {
        let machine = self.machines.get(&member.group)?;
        let own = ReplicaKeyspace::parse(machine.replica.keyspace().name())?;
        (own.member == member).then_some(own)
    }
}
