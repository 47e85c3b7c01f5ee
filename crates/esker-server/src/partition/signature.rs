//! Who answers: what every answer of a data server says of itself.

use esker_rpc::message::data::KeyAnswer;

/// A partition, and the server that has it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Signature {
    /// Number of the table.
    pub app_id: i32,
    /// Number of the partition in it.
    pub partition_index: i32,
    /// Address of the server, for people.
    pub server: String,
}

impl Signature {
    /// The same answer, saying that it comes from here; a write's decree is the index of its entry.
    pub fn sign(&self, mut answer: KeyAnswer, index: u64) -> KeyAnswer {
        macro_rules! sign {
            ($answer:ident) => {{
                $answer.app_id = self.app_id;
                $answer.partition_index = self.partition_index;
                $answer.server.clone_from(&self.server);
            }};
        }
        macro_rules! sign_write {
            ($answer:ident) => {{
                sign!($answer);
                $answer.decree = i64::try_from(index).unwrap_or(i64::MAX);
            }};
        }
        match &mut answer {
            KeyAnswer::Get(it) => sign!(it),
            KeyAnswer::Ttl(it) => sign!(it),
            KeyAnswer::MultiGet(it) => sign!(it),
            KeyAnswer::BatchGet(it) => sign!(it),
            KeyAnswer::SortkeyCount(it) => sign!(it),
            KeyAnswer::GetScanner(it) => sign!(it),
            KeyAnswer::Scan(it) => sign!(it),
            KeyAnswer::ClearScanner(_) => {}
            KeyAnswer::Put(it) => sign_write!(it),
            KeyAnswer::Remove(it) => sign_write!(it),
            KeyAnswer::MultiPut(it) => sign_write!(it),
            KeyAnswer::MultiRemove(it) => sign_write!(it),
            KeyAnswer::Incr(it) => sign_write!(it),
            KeyAnswer::CheckAndSet(it) => sign_write!(it),
            KeyAnswer::CheckAndMutate(it) => sign_write!(it),
        }
        answer
    }
}
