//! Esker: an embedded, ordered key-value engine in the shape of a log-structured merge tree.
