//! Chains that are not watched, which give out no address.

use super::live_addresses::{NODES, addresses, pair, shop, watch, write};
use crate::file::old_files::column;
use crate::process::serve::{call, serve};
use serde_json::json;

#[test]
fn a_chain_that_is_not_watched_gives_out_no_address_of_its_pool() {
    let shop = shop();
    let (_server, url) = serve(&shop.file(), &NODES);
    let address = bs58::encode([7; 32]).into_string();
    write(
        &shop,
        &format!(
            "insert into pool_addresses (pool, address, state, imported_at) values ('solana', '{address}', 'free', 0)"
        ),
    );
    let free = "select state from pool_addresses";
    assert_eq!(addresses(&shop, &url, "ada"), []);
    assert_eq!(column(&shop.file(), free), ["free"]);
    watch(&shop, "solana");
    let given = [pair("solana", address)];
    assert_eq!(addresses(&shop, &url, "ada"), given);
    // It stays listed, and names no chain on which it is watched.
    let stopped = "update chain_cursors set stopped = 'reorganised' where chain = 'solana'";
    write(&shop, stopped);
    assert_eq!(addresses(&shop, &url, "ada"), given);
    let path = "/v1/customers/ada/addresses";
    let read = call(&url, &shop.live, "GET", path, json!({})).json();
    assert_eq!(read["addresses"][0]["chainIds"], json!([]));
    assert_eq!(read["addresses"][0]["assets"], json!([]));
    assert_eq!(addresses(&shop, &url, "bob"), []);
}
