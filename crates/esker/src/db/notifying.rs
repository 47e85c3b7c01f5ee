//! Calls a user back once what was committed is on the medium.

use std::sync::Arc;

use crate::base::types::error::Result;
use crate::base::types::user_code;
use crate::db::core::Core;
use crate::db::durable_calls::DurableCall;
use crate::env::pool::Priority;

/// Has `call` called once all that the log has now is durable, soon and elsewhere.
///
/// Errors: `Closed`, `Faulted`, `Invalid` where nothing is written; then it is not called.
pub fn when_durable(core: &Arc<Core>, call: DurableCall) -> Result<()> {
    user_code::refuse()?;
    core.gate.check_upkeep()?;
    if core.durable_calls.add(call)? {
        book(core);
    }
    Ok(())
}

fn book(core: &Arc<Core>) {
    let own = Arc::clone(core);
    let job = move || {
        if own.durable_calls.run(|| sync(&own)) {
            book(&own);
        }
    };
    let pool = &core.env.pool;
    pool.spawn(Priority::Events, "esker-durable", Box::new(job));
}

/// For closing: returns when all that wait were called.
pub fn end(core: &Core) {
    core.durable_calls.end(&*core.env.pool, || sync(core));
}

// What a write left that failed nobody knows, so it is not called durable.
fn sync(core: &Core) -> Result<()> {
    core.gate.check_fault()?;
    core.committer.sync_log()?;
    core.gate.check_fault()
}
