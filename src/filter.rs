//! Allow comments and configuration: which findings are shown.
