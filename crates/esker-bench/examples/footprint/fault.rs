//! What may go wrong while footprints are measured.

/// What the engine, a file or a wrong argument has to say when it fails.
pub type Fault = Box<dyn std::error::Error>;
