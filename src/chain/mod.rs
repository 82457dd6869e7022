//! What the world outside says: of money on chains, and of what coins cost.
//!
//! What does not live here: what that means for an invoice (`service`), and when to ask (`worker`). What always holds:
//! nothing here touches the file, and nothing that was answered is believed before it was checked.

pub mod rates;
