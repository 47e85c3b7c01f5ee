//! What callbacks of C have with them: a state, and the function that ends it.

use std::ffi::c_void;

/// `esker_destroy` of `esker/c.h`.
pub type Destroy = Option<unsafe extern "C" fn(state: *mut c_void)>;

/// What C gives its callbacks for itself; ended when nothing calls them any more.
pub struct State {
    place: *mut c_void,
    destroy: Destroy,
}

// SAFETY: only the callbacks look behind it, and the header asks for such as any thread may call,
// several at a time.
unsafe impl Send for State {}
// SAFETY: as above.
unsafe impl Sync for State {}

impl State {
    /// That of the caller.
    pub fn new(place: *mut c_void, destroy: Destroy) -> State {
        State { place, destroy }
    }

    /// What the callbacks get.
    pub fn place(&self) -> *mut c_void {
        self.place
    }
}

impl Drop for State {
    fn drop(&mut self) {
        if let Some(destroy) = self.destroy {
            // SAFETY: the caller's function for its own state, called once.
            unsafe { destroy(self.place) };
        }
    }
}
