//! Which call of which library is which effect.
