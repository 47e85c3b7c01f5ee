//! How much a meta server does by itself.

wire_enum! {
    /// How much the meta server does by itself.
    pub enum MetaLevel as "meta_function_level" {
        FL_STOPPED = 100,
        FL_BLIND = 200,
        FL_FREEZED = 300,
        FL_STEADY = 400,
        FL_LIVELY = 500,
        FL_INVALID = 10000,
    }
}
