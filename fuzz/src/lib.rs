//! What several fuzz targets share.

pub mod sorted_file;
