//! A batch for engines whose one write transaction is begun only when the batch is complete.

use esker_bench::fail::{Failure, Outcome};
use esker_bench::target::store::{Batch, WriteHow};

/// A key and its value; `None` is a delete.
pub type HeldWrite = (Vec<u8>, Option<Vec<u8>>);

/// Writes held until the commit, which hands all of them to `write`.
pub struct HeldBatch<W> {
    engine: &'static str,
    writes: Vec<HeldWrite>,
    write: W,
}

impl<W: Fn(&[HeldWrite], WriteHow) -> Outcome> HeldBatch<W> {
    /// An empty batch of the engine of that name.
    pub fn new(engine: &'static str, write: W) -> HeldBatch<W> {
        HeldBatch {
            engine,
            writes: Vec::new(),
            write,
        }
    }
}

impl<W: Fn(&[HeldWrite], WriteHow) -> Outcome> Batch for HeldBatch<W> {
    fn put(&mut self, key: &[u8], value: &[u8]) -> Outcome {
        self.writes.push((key.to_vec(), Some(value.to_vec())));
        Ok(())
    }

    fn delete(&mut self, key: &[u8]) -> Outcome {
        self.writes.push((key.to_vec(), None));
        Ok(())
    }

    fn merge(&mut self, _key: &[u8], _operand: &[u8]) -> Outcome {
        let engine = self.engine;
        Err(Failure::unsupported(format!(
            "{engine} has no merge operators"
        )))
    }

    fn commit(&mut self, how: WriteHow) -> Outcome {
        let writes = std::mem::take(&mut self.writes);
        (self.write)(&writes, how)
    }
}
