//! One renderer a format.
