//! The readable form of a lowered body: what `leaselint ir` prints and what lowering tests compare.
