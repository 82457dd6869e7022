//! Answers that are not believed, and change nothing.
