//! The walk over a tree.
